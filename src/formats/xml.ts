/**
 * Escapes any text for an element or a double-quoted attribute of XML 1.0. Characters that XML forbids even as
 * references become U+FFFD. Tabs and line ends are written as references, because a parser would replace them by
 * spaces in attributes.
 */
const SPECIAL = /[&<>"'\t\r\n]/g;
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu;
const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "\t": "&#9;",
  "\r": "&#13;",
  "\n": "&#10;",
};

export const xmlText = (text: string): string =>
  xmlCharacters(text).replace(SPECIAL, (c) => REFERENCES[c] ?? "");

/** Replaces the characters that XML forbids: the text as a parser of the document returns it. */
export const xmlCharacters = (text: string): string => text.replace(FORBIDDEN, "\uFFFD");
