/**
 * Aligned tables for terminals. Values come from the network, so control characters and characters that change the
 * text direction are escaped: a device name cannot move the cursor or hide the rest of a line. Columns are aligned by
 * display width, since some characters are two columns wide.
 */

export interface Column<Row> {
  readonly title: string;
  cell(row: Row): unknown;
  /** The maximum width of a cell; default 64. A column of sentences needs more. */
  readonly maxWidth?: number;
  /** The styles of cells by their text. */
  readonly styles?: Readonly<Record<string, TextStyle>>;
}

export type TextStyle = "red" | "green" | "yellow" | "bold" | "dim";

const SGR_CODES: Readonly<Record<TextStyle, string>> = {
  red: "31",
  green: "32",
  yellow: "33",
  bold: "1",
  dim: "2",
};
const COLUMN_GAP = "  ";
/** A device name may have thousands of characters. `-o json` shows the whole value. */
const MAX_CELL_WIDTH = 64;
/** Control characters, line separators, zero-width characters, noncharacters, marks that change the text direction. */
const UNSAFE_CHARACTERS =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]/g;

/** Returns a function that adds escape sequences for a style; without `colour` it returns the text unchanged. */
export function createStyler(colour: boolean): (text: string, style: TextStyle | undefined) => string {
  return (text, style) =>
    colour && style !== undefined ? `\u001b[${SGR_CODES[style]}m${text}\u001b[0m` : text;
}

/** Replaces each unsafe character with its `\uXXXX` escape. */
export function escapeControlCharacters(text: string): string {
  return text
    .toWellFormed()
    .replace(UNSAFE_CHARACTERS, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A line of JSON. The escapes are valid JSON, so a program parses the same value. */
export const renderJson = (value: unknown): string => `${escapeControlCharacters(JSON.stringify(value))}\n`;

/** Escapes a text of several lines; line ends are kept. */
export const escapeLines = (text: string): string => text.split("\n").map(escapeControlCharacters).join("\n");

/** The control sequences that commands write: line ends, tabs, styles, and the redrawing of a prompt's line. */
const OWN_SEQUENCES = /\r?\n|\t|\r\u001b\[K|\u001b\[[\d;]*m/;

/**
 * Escapes unsafe characters in everything that is written to a terminal. Commands also escape texts from the network
 * themselves, because only they know where such a text ends. This filter covers the rest: bodies that the service rendered
 * (bytes, in which only line ends and tabs are allowed), and texts that a command failed to escape.
 */
export function createTerminalFilter(): (written: string | Uint8Array) => string {
  const decoder = new TextDecoder();
  // A carriage return at the end of a chunk is held back, because it may be the beginning of a line end.
  let held = "";
  return (written) => {
    if (typeof written === "string") return escapeOthers(written);
    const text = held + decoder.decode(written, { stream: true });
    held = text.endsWith("\r") ? "\r" : "";
    return escapeOthers(text.slice(0, text.length - held.length), /\r?\n|\t/);
  };
}

/** Escapes the text between the `allowed` sequences. */
function escapeOthers(text: string, allowed = OWN_SEQUENCES): string {
  // A split by a group returns the sequences at the odd positions.
  const parts = text.split(new RegExp(`(${allowed.source})`));
  return parts.map((part, i) => (i % 2 === 0 ? escapeControlCharacters(part) : part)).join("");
}

export interface TableOptions {
  readonly colour: boolean;
  /** Whether the first line has the titles of the columns. Default true. */
  readonly headers?: boolean;
}

/** Renders a table in several parts. Later rows are aligned with earlier rows; columns may become wider. */
export interface TableWriter<Row> {
  /** Renders a part; the first part includes the titles. */
  render(rows: readonly Row[]): string;
}

export function createTableWriter<Row>(
  columns: readonly Column<Row>[],
  { colour, headers = true }: TableOptions,
): TableWriter<Row> {
  const style = createStyler(colour);
  const titles = columns.map((column) => column.title);
  const widths = titles.map((title) => (headers ? Bun.stringWidth(title) : 0));
  const pad = (text: string, i: number) => text + " ".repeat((widths[i] ?? 0) - Bun.stringWidth(text));
  let isFirst = headers;
  return {
    render(rows) {
      const cells = rows.map((row) => columns.map((column) => formatCell(column.cell(row), column.maxWidth)));
      for (const line of cells) {
        for (const [i, text] of line.entries()) widths[i] = Math.max(widths[i] ?? 0, Bun.stringWidth(text));
      }
      const header = isFirst ? [titles.map((title, i) => style(pad(title, i), "bold")).join(COLUMN_GAP)] : [];
      isFirst = false;
      const body = cells.map((line) =>
        line.map((text, i) => style(pad(text, i), columns[i]?.styles?.[text])).join(COLUMN_GAP),
      );
      return [...header, ...body].map((line) => `${line.trimEnd()}\n`).join("");
    },
  };
}

export const renderTable = <Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions,
): string => createTableWriter(columns, options).render(rows);

/** Formats any value as one line, escaped and at most `maxWidth` wide. */
export const formatCell = (value: unknown, maxWidth = MAX_CELL_WIDTH): string =>
  truncate(escapeControlCharacters(formatValue(value)), maxWidth);

function formatValue(value: unknown): string {
  if (value === undefined || value === null || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(formatValue).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function truncate(text: string, maxWidth: number): string {
  if (Bun.stringWidth(text) <= maxWidth) return text;
  let result = "";
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += Bun.stringWidth(segment);
    if (width >= maxWidth) break;
    result += segment;
  }
  return `${result}…`;
}
