import { describe, expect, test } from "bun:test";
import {
  type Column,
  createTableWriter,
  createTerminalFilter,
  escapeControlCharacters,
  renderTable,
} from "./table.ts";

type Row = { name: unknown; state?: unknown };
const COLUMNS: Column<Row>[] = [
  { title: "NAME", cell: (row) => row.name },
  { title: "STATE", cell: (row) => row.state, styles: { up: "green", down: "red" } },
];
const table = (rows: Row[], colour = false) => renderTable(rows, COLUMNS, { colour });

describe("tables", () => {
  test("columns are aligned, missing values are dashes, and lines have no trailing spaces", () => {
    expect(table([{ name: "a", state: "up" }, { name: "longer" }, { name: "", state: true }])).toBe(
      "NAME    STATE\na       up\nlonger  -\n-       yes\n",
    );
  });

  test("widths are display widths: wide characters, combining accents, emoji", () => {
    const lines = table([
      { name: "交換機", state: "up" },
      { name: "e\u0301", state: "up" },
      { name: "👩‍💻".replace("\u200d", ""), state: "up" },
    ]).split("\n");
    const starts = lines.slice(1, 4).map((line) => Bun.stringWidth(line.slice(0, line.indexOf("up"))));
    expect(new Set(starts)).toEqual(new Set([8]));
  });

  test("lists are joined, objects are JSON, long text is cut", () => {
    expect(table([{ name: ["a", "b"], state: [] }])).toContain("a, b  -\n");
    expect(table([{ name: { a: 1 } }])).toContain('{"a":1}');
    const line = table([{ name: "x".repeat(1000), state: "up" }]).split("\n")[1] ?? "";
    expect(line).toBe(`${"x".repeat(63)}…  up`);
    const wide = renderTable([1], [{ title: "TEXT", cell: () => "x".repeat(1000), maxWidth: 400 }], {
      colour: false,
    });
    expect(wide).toBe(`TEXT\n${"x".repeat(399)}…\n`);
  });

  test("colour does not change the alignment", () => {
    expect(table([{ name: "a", state: "down" }], true)).toBe(
      "\u001b[1mNAME\u001b[0m  \u001b[1mSTATE\u001b[0m\na     \u001b[31mdown \u001b[0m\n",
    );
  });
});

test("a table without titles is as wide as its cells", () => {
  expect(renderTable([{ name: "a", state: "up" }], COLUMNS, { colour: false, headers: false })).toBe(
    "a  up\n",
  );
});

test("later rows are aligned with earlier ones and have no titles", () => {
  const writer = createTableWriter(COLUMNS, { colour: false });
  expect(writer.render([{ name: "longer", state: "up" }])).toBe("NAME    STATE\nlonger  up\n");
  expect(writer.render([{ name: "a", state: "down" }])).toBe("a       down\n");
  expect(writer.render([{ name: "even longer", state: "up" }])).toBe("even longer  up\n");
});

describe("escapeControlCharacters", () => {
  const cases: [what: string, text: string, shown: string][] = [
    ["escape sequences", "\u001b[2Jx", "\\u001b[2Jx"],
    ["line ends", "a\r\nb", "a\\u000d\\u000ab"],
    ["NUL and C1", "\u0000\u009b", "\\u0000\\u009b"],
    ["right-to-left override", "\u202egnp.exe", "\\u202egnp.exe"],
    ["direction isolates and zero-width characters", "\u2066a\u200bb\u2069", "\\u2066a\\u200bb\\u2069"],
    ["a lone surrogate", "\ud800", "\ufffd"],
    ["other characters stay as they are", "Ünïcode 機 🙂 <b>&", "Ünïcode 機 🙂 <b>&"],
  ];
  for (const [what, text, shown] of cases)
    test(what, () => expect(escapeControlCharacters(text)).toBe(shown));
});

test("a terminal gets the styles and line ends of commands, and nothing else that moves or hides text", () => {
  const filter = createTerminalFilter();
  expect(filter("\u001b[1mNAME\u001b[0m\ta\u009b2J\u202e\n")).toBe(
    "\u001b[1mNAME\u001b[0m\ta\\u009b2J\\u202e\n",
  );
  expect(filter("\r\u001b[KUser: ann")).toBe("\r\u001b[KUser: ann");
  expect(filter("a\rb\u001b[2J")).toBe("a\\u000db\\u001b[2J");
  // Of a body of the service, also styles; characters and line ends may lie across chunks.
  const bytes = new TextEncoder().encode("é\u001b[31m\u202e\r\nb\rc\r\n");
  const chunks = Array.from(bytes, (_, i) => filter(bytes.subarray(i, i + 1)));
  expect(chunks.join("")).toBe("é\\u001b[31m\\u202e\r\nb\\u000dc\r\n");
});
