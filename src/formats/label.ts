/**
 * Text for pictures: one line, of a width that is known before anybody draws it, and with nothing in it that could
 * reorder or hide what stands next to it. Only pictures cut text; every other format carries all of it.
 */

/** Controls and lone surrogates cannot be drawn; marks and overrides of direction exist here only to deceive. */
const UNDRAWABLE = /\p{Cc}|\p{Cs}|[\u200b\u2028\u2029\ufeff\ufffe\uffff]/gu;
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const STACKED = /\p{Mn}|\p{Me}|\u200d|[\ufe00-\ufe0f]/u;
const STACKED_EMS = 0.2;
const LATIN_EMS = 0.86;
const OTHER_EMS = 1.25;

/** Of the widest common sans-serif, bold, in ems: in any other font a label is narrower than reckoned, not wider. */
const ASCII_EMS: readonly (readonly [characters: string, ems: number])[] = [
  ["ijl'I|!.,", 0.38],
  ['ftr ()[]{}:;/\\-J"`*^_', 0.5],
  ["csxzvykaeLTFE?", 0.68],
  ["bdghnopqu0123456789SPZYXKRAB$", 0.74],
  ["CDGHNOQUV#+<=>~&", 0.86],
  ["mwMW@%", 1.1],
];
const ASCII = new Map(
  ASCII_EMS.flatMap(([characters, ems]) => [...characters].map((c) => [c, ems] as const)),
);

function widthOf(character: string): number {
  const ascii = ASCII.get(character);
  if (ascii !== undefined) return ascii;
  // Marks stack without end on one letter; a small price each keeps their number bounded too.
  if (STACKED.test(character)) return STACKED_EMS;
  return (character.codePointAt(0) ?? 0) < 0x370 ? LATIN_EMS : OTHER_EMS;
}

export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** Cut to `ems`, with an ellipsis where something was cut. */
export function pictureLabel(text: string, ems: number): string {
  // No label is longer than a few hundred characters: look at no more of a long text than could be shown.
  const line = text
    .slice(0, Math.ceil(ems * 12))
    .replace(DIRECTIONS, "")
    .replace(/\s+/gu, " ")
    .replace(UNDRAWABLE, "\uFFFD")
    .trim();
  const whole = line.length < text.length && text.length > Math.ceil(ems * 12) ? `${line}…` : line;
  if (textWidth(whole) <= ems) return whole;
  let kept = "";
  let width = widthOf("…");
  for (const character of line) {
    width += widthOf(character);
    if (width > ems) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}
