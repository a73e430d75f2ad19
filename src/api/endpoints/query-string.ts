/**
 * Splits and percent-decodes the query string of a request target. What the parameters mean is decided in src/query.
 * Text that cannot be decoded is a problem: guessing could turn a filter into another one.
 */

import { quote } from "../../lib/error-text.ts";
import { createParameter, type QueryParameter } from "../../query/parameter.ts";
import { Problem } from "../response/problem.ts";
import { throwIfFault } from "../response/query-problem.ts";

const MAX_PARAMETERS = 100;

export function parseQueryString(text: string): QueryParameter[] {
  const parameters: QueryParameter[] = [];
  for (let start = 0; start < text.length; ) {
    const ampersand = text.indexOf("&", start);
    const end = ampersand < 0 ? text.length : ampersand;
    if (end > start) {
      if (parameters.length === MAX_PARAMETERS) throw tooManyParameters(text);
      parameters.push(parseParameter(text.slice(start, end)));
    }
    start = end + 1;
  }
  return parameters;
}

function tooManyParameters(text: string): Problem {
  const count = text.split("&").filter((part) => part !== "").length;
  return new Problem(
    "bad-parameter",
    `There are ${count} query parameters; at most ${MAX_PARAMETERS} may be given.`,
  );
}

function parseParameter(text: string): QueryParameter {
  const equals = text.indexOf("=");
  const name = decode(equals < 0 ? text : text.slice(0, equals), text);
  const value = equals < 0 ? "" : decode(text.slice(equals + 1), name);
  return throwIfFault(createParameter(name, value));
}

function decode(text: string, parameter: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new Problem("bad-parameter", `The parameter ${quote(parameter)} is not percent-encoded UTF-8.`);
  }
}
