/**
 * Faults in the options that an operator gave: the option and what it must be. For an unknown name the message suggests
 * the nearest known one, because most unknown options are misspelt.
 */
import { nearest } from "../lib/nearest.ts";
import type { SchemaFault } from "../lib/schema-faults.ts";

/** `path` starts at the entry of the source. It is empty when the value as a whole is not an object. */
export type OptionFault = SchemaFault;

/** `, did you mean X?` when a known name is near, otherwise the list of known names. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? ` (known: ${known.join(", ")})` : `, did you mean ${near}?`;
}
