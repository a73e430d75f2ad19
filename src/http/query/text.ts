/**
 * The query as it came: names and values. Most libraries write every comma as `%2C`, so both part values; a comma that
 * belongs to a value is written `\\,`. What cannot be decoded is refused, not guessed at.
 */
import { badParameter, Problem, quoted } from "../problem.ts";

export interface RawParameter {
  readonly name: string;
  /** The value's parts between commas. At least one. */
  readonly values: readonly string[];
  /** Decoded as a whole. */
  readonly value: string;
}

const MOST_PARAMETERS = 100;
const MOST_VALUES = 1000;

export function parseQueryText(text: string): RawParameter[] {
  if (text === "") return [];
  const parts = text.split("&").filter((part) => part !== "");
  if (parts.length > MOST_PARAMETERS) {
    throw new Problem(
      "bad-parameter",
      `There are ${parts.length} query parameters; at most ${MOST_PARAMETERS} may be given.`,
    );
  }
  return parts.map((part) => {
    const equals = part.indexOf("=");
    const name = decoded(equals < 0 ? part : part.slice(0, equals), part);
    const value = decoded(equals < 0 ? "" : part.slice(equals + 1), name);
    const values = value.split(/(?<!\\),/).map((one) => one.replaceAll("\\,", ","));
    if (values.length > MOST_VALUES) throw badParameter(name, `has more than ${MOST_VALUES} values.`);
    return { name, values, value };
  });
}

function decoded(text: string, name: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new Problem("bad-parameter", `The parameter ${quoted(name)} is not percent-encoded UTF-8.`);
  }
}
