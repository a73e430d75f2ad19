/**
 * What is wrong with the options a person gave, in words for that person: the field, and what it should have been.
 * A word nobody knows is answered with the nearest known one: most unknown options are slips of the finger.
 */
import type { TLocalizedValidationError } from "typebox/error";
import { nearest } from "../lib/nearest.ts";

export interface OptionFault {
  /** The option's name, or a path such as `listen.port`; empty when the whole is not even an object. */
  readonly field: string;
  readonly message: string;
}

/** `, did you mean X?` when there is such an X, otherwise all there is. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? ` (known: ${known.join(", ")})` : `, did you mean ${near}?`;
}

/** The first fault among the errors of a schema check; `known` are the names of the options there are. */
export function optionFault(errors: TLocalizedValidationError[], known: readonly string[]): OptionFault {
  const extra = errors.find((error) => error.keyword === "additionalProperties");
  if (extra?.keyword === "additionalProperties") {
    const name = String(extra.params.additionalProperties[0]);
    // Only the top level's names are known here; deeper down the name alone must do.
    const hint = extra.instancePath === "" ? suggestion(name, known) : "";
    return { field: dotted(`${extra.instancePath}/${name}`), message: `is not an option${hint}` };
  }
  // A union reports the failure of each of its branches first; its own comes last and says the least.
  const first = errors[0];
  if (!first) return { field: "", message: "is not valid" };
  if (first.keyword === "required") {
    return {
      field: dotted(`${first.instancePath}/${first.params.requiredProperties[0]}`),
      message: "is required",
    };
  }
  const allowed = first.keyword === "enum" ? ` (${first.params.allowedValues.join(", ")})` : "";
  return { field: dotted(first.instancePath), message: first.message + allowed };
}

const dotted = (pointer: string): string => pointer.slice(1).replaceAll("/", ".");
