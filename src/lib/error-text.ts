/** Parts of error messages that repeat input: the input itself, quoted, and the known name that is nearest to it. */
import { nearest } from "./nearest.ts";

const MAX_QUOTED_CHARS = 80;

/** Escapes and shortens untrusted text, so that a message stays short and on one line. */
export const quote = (text: string): string =>
  JSON.stringify(text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text);

/** `did you mean "x"? `, or nothing when no known name is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const name = nearest(word, known);
  return name === undefined ? "" : `did you mean ${quote(name)}? `;
}
