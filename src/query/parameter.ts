/**
 * One parameter of a query: a name and its decoded value. A comma separates several values; a comma inside a value is
 * written `\,`. A comma that came percent-encoded separates too, because most HTTP libraries encode every comma.
 */
import { badParameter, type QueryFault } from "./fault.ts";

export interface QueryParameter {
  readonly name: string;
  readonly value: string;
  /** The value split at its commas, without duplicates. There is at least one. */
  readonly values: readonly string[];
}

export const MAX_VALUES = 1000;

export const createParameter = (name: string, value: string): QueryParameter | QueryFault =>
  withValues(name, value, value.includes(",") ? splitAtCommas(value) : [value]);

/** Joins a parameter that is given twice into one with the values of both. */
export const joinParameters = (first: QueryParameter, second: QueryParameter): QueryParameter | QueryFault =>
  withValues(first.name, `${first.value},${second.value}`, [...first.values, ...second.values]);

function withValues(name: string, value: string, values: readonly string[]): QueryParameter | QueryFault {
  if (values.length > MAX_VALUES) return badParameter(name, `has more than ${MAX_VALUES} values.`);
  return { name, value, values: values.length === 1 ? values : [...new Set(values)] };
}

const splitAtCommas = (value: string): string[] =>
  value.split(/(?<!\\),/).map((part) => part.replaceAll("\\,", ","));
