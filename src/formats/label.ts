/**
 * Labels for drawings: one line of a known maximum width, without characters that could reorder or hide the text next
 * to it. Only drawings truncate text; every other format has the whole text.
 */

/** Control characters and lone surrogates cannot be drawn. */
const UNDRAWABLE = /\p{Cc}|\p{Cs}|[\u200b\u2028\u2029\ufeff\ufffe\uffff]/gu;
/** Direction marks and overrides could make a label show another text than it contains. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const COMBINING = /\p{Mn}|\p{Me}|\u200d|[\ufe00-\ufe0f]/u;
const COMBINING_EMS = 0.2;
const LATIN_EMS = 0.86;
const OTHER_EMS = 1.25;

/** Character widths of the widest common sans-serif font, in bold. In any other font a label is narrower. */
const ASCII_EMS: readonly (readonly [characters: string, ems: number])[] = [
  ["ijl'I|!.,", 0.38],
  ['ftr ()[]{}:;/\\-J"`*^_', 0.5],
  ["csxzvykaeLTFE?", 0.68],
  ["bdghnopqu0123456789SPZYXKRAB$", 0.74],
  ["CDGHNOQUV#+<=>~&", 0.86],
  ["mwMW@%", 1.1],
];
const ASCII_WIDTHS = new Map(
  ASCII_EMS.flatMap(([characters, ems]) => [...characters].map((c) => [c, ems] as const)),
);

function characterWidth(character: string): number {
  const ascii = ASCII_WIDTHS.get(character);
  if (ascii !== undefined) return ascii;
  // A letter can have any number of combining marks, so each has a small width that limits their number.
  if (COMBINING.test(character)) return COMBINING_EMS;
  return (character.codePointAt(0) ?? 0) < 0x370 ? LATIN_EMS : OTHER_EMS;
}

export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** The text on one line, truncated with an ellipsis to a width of `maxEms`. */
export function fitLabel(text: string, maxEms: number): string {
  // A long text is cut first, so that the cost does not depend on its length.
  const maxChars = Math.ceil(maxEms * 12);
  const line = text
    .slice(0, maxChars)
    .replace(DIRECTION_MARKS, "")
    .replace(/\s+/gu, " ")
    .replace(UNDRAWABLE, "\uFFFD")
    .trim();
  const label = line.length < text.length && text.length > maxChars ? `${line}…` : line;
  if (textWidth(label) <= maxEms) return label;
  let fitting = "";
  let width = characterWidth("…");
  for (const character of line) {
    width += characterWidth(character);
    if (width > maxEms) break;
    fitting += character;
  }
  return `${fitting.trimEnd()}…`;
}
