/**
 * Text for pictures: one line, of a width that is known before anybody draws it, and with nothing in it that could
 * reorder or hide what stands next to it. Only pictures cut text; every other format carries all of it.
 */

/** Controls and lone surrogates cannot be drawn; marks and overrides of direction exist here only to deceive. */
const UNDRAWABLE = /\p{Cc}|\p{Cs}|[\u200b\u2028\u2029\ufeff\ufffe\uffff]/gu;
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const NARROW = /[iljtfrI.,:;'|!()[\] -]/;
const WIDE = /[mwMW@%_A-Z0-9]/;
const ZERO = /\p{Mn}|\p{Me}|\u200d|[\ufe00-\ufe0f]/u;

/** About how wide a character is in a common sans-serif font, in ems, and rather too wide than too narrow. */
function widthOf(character: string): number {
  if (character.charCodeAt(0) < 0x7f) {
    if (NARROW.test(character)) return 0.36;
    return WIDE.test(character) ? (/[mwMW@%]/.test(character) ? 0.95 : 0.7) : 0.6;
  }
  // Marks stack without end on one letter; a small price each keeps their number bounded too.
  if (ZERO.test(character)) return 0.2;
  return (character.codePointAt(0) ?? 0) < 0x1100 ? 0.75 : 1.1;
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
