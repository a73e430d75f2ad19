/**
 * Aligned tables for people. What the network says is shown, never obeyed: control characters and marks that turn
 * text around are escaped, so nothing in a device's name can move the cursor or hide the rest of a line. Columns are
 * aligned by what a terminal shows, where some letters are two columns wide. Colour only where a person looks.
 */

export interface Column<Row> {
  readonly title: string;
  cell(row: Row): unknown;
  /** The colour of a cell, by its text. */
  readonly colours?: Readonly<Record<string, Colour>>;
}

export type Colour = "red" | "green" | "yellow" | "bold" | "dim";

const CODES: Readonly<Record<Colour, string>> = { red: "31", green: "32", yellow: "33", bold: "1", dim: "2" };
const GAP = "  ";
/** A device may call itself sixteen thousand letters; a table is for reading, and `-o json` has it all. */
const MAX_COLUMNS_A_CELL = 64;
/** Controls, line and paragraph separators, what has no width, and what changes the direction of the text. */
const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function painter(colour: boolean): (text: string, colour: Colour | undefined) => string {
  return (text, as) => (colour && as !== undefined ? `\u001b[${CODES[as]}m${text}\u001b[0m` : text);
}

/** Text that does nothing but appear. */
export function harmless(text: string): string {
  return text
    .toWellFormed()
    .replace(UNSAFE, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  colour: boolean,
): string {
  const paint = painter(colour);
  const cells = rows.map((row) => columns.map((column) => shownCell(column.cell(row))));
  const widths = columns.map((column, i) =>
    cells.reduce((most, line) => Math.max(most, Bun.stringWidth(line[i] ?? "")), column.title.length),
  );
  const padded = (text: string, i: number) => text + " ".repeat((widths[i] ?? 0) - Bun.stringWidth(text));
  const head = columns.map(({ title }, i) => paint(padded(title, i), "bold")).join(GAP);
  const body = cells.map((line) =>
    line.map((text, i) => paint(padded(text, i), columns[i]?.colours?.[text])).join(GAP),
  );
  return [head, ...body].map((line) => `${line.trimEnd()}\n`).join("");
}

/** Any value in one line, harmless and not too long. */
export const shownCell = (value: unknown): string => clipped(harmless(shown(value)));

function shown(value: unknown): string {
  if (value === undefined || value === null || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(shown).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function clipped(text: string): string {
  if (Bun.stringWidth(text) <= MAX_COLUMNS_A_CELL) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += Bun.stringWidth(segment);
    if (width >= MAX_COLUMNS_A_CELL) break;
    kept += segment;
  }
  return `${kept}…`;
}
