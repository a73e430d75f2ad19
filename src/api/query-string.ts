/**
 * The query as it came: names and values. Most libraries write every comma as `%2C`, so both part values; a comma that
 * belongs to a value is written `\\,`. What cannot be decoded is refused, not guessed at.
 */
import { badParameter, Problem, quoted } from "./problem.ts";

export interface RawParameter {
  readonly name: string;
  /** The value's parts between commas. At least one. */
  readonly values: readonly string[];
  /** Decoded as a whole. */
  readonly value: string;
}

const MAX_PARAMETERS = 100;
const MAX_VALUES = 1000;

export function parseQueryText(text: string): RawParameter[] {
  const parameters: RawParameter[] = [];
  for (let from = 0; from < text.length; ) {
    const and = text.indexOf("&", from);
    const end = and < 0 ? text.length : and;
    if (end > from) {
      if (parameters.length === MAX_PARAMETERS) throw tooMany(text);
      parameters.push(parameterOf(text.slice(from, end)));
    }
    from = end + 1;
  }
  return parameters;
}

function tooMany(text: string): Problem {
  const count = text.split("&").filter((part) => part !== "").length;
  return new Problem(
    "bad-parameter",
    `There are ${count} query parameters; at most ${MAX_PARAMETERS} may be given.`,
  );
}

function parameterOf(part: string): RawParameter {
  const equals = part.indexOf("=");
  const name = decoded(equals < 0 ? part : part.slice(0, equals), part);
  const value = equals < 0 ? "" : decoded(part.slice(equals + 1), name);
  const values = value.includes(",") ? partsOf(value) : [value];
  if (values.length > MAX_VALUES) throw badParameter(name, `has more than ${MAX_VALUES} values.`);
  return { name, values, value };
}

const partsOf = (value: string): string[] => value.split(/(?<!\\),/).map((one) => one.replaceAll("\\,", ","));

function decoded(text: string, name: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new Problem("bad-parameter", `The parameter ${quoted(name)} is not percent-encoded UTF-8.`);
  }
}
