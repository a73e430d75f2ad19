/**
 * Faults in the options that an operator gave: the field and what it must be. For an unknown name the message suggests
 * the nearest known one, because most unknown options are misspelt.
 */
import type { TLocalizedValidationError } from "typebox/error";
import { nearest } from "../lib/nearest.ts";

export interface OptionFault {
  /** The option's name, or a path such as `listen.port`. Empty when the value as a whole is not an object. */
  readonly field: string;
  readonly message: string;
}

/** `, did you mean X?` when a known name is near, otherwise the list of known names. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? ` (known: ${known.join(", ")})` : `, did you mean ${near}?`;
}

/** The first fault among the errors of a schema check. `known` are the names of the top-level options. */
export function optionFault(errors: TLocalizedValidationError[], known: readonly string[]): OptionFault {
  const extra = errors.find((error) => error.keyword === "additionalProperties");
  if (extra?.keyword === "additionalProperties") {
    const name = String(extra.params.additionalProperties[0]);
    // `known` has the names of the top level only, so there is no suggestion for a nested field.
    const hint = extra.instancePath === "" ? suggestion(name, known) : "";
    return { field: toDottedPath(`${extra.instancePath}/${name}`), message: `is not an option${hint}` };
  }
  // A union reports the errors of its branches first. Its own error comes last and is the least specific.
  const first = errors[0];
  if (!first) return { field: "", message: "is not valid" };
  if (first.keyword === "required") {
    return {
      field: toDottedPath(`${first.instancePath}/${first.params.requiredProperties[0]}`),
      message: "is required",
    };
  }
  const allowed = first.keyword === "enum" ? ` (${first.params.allowedValues.join(", ")})` : "";
  return { field: toDottedPath(first.instancePath), message: first.message + allowed };
}

const toDottedPath = (pointer: string): string => pointer.slice(1).replaceAll("/", ".");
