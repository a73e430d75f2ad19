/** The list formats, read by other people's programs: Python's csv module. */
import { expect, test } from "bun:test";
import { csvColumns, renderCsv } from "../../src/formats/csv.ts";
import type { Device } from "../../src/model/entity.ts";
import { hostileGraph } from "../support/sample-network.ts";
import { askPython, pythonWith, text } from "./external-tools.ts";

const python = pythonWith("csv");
const READ_CSV = `
import csv, io, json, sys
csv.field_size_limit(10**9)
rows = list(csv.reader(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", newline=""), strict=True))
print(json.dumps(rows))`;

const shown = (value: string) => value.toWellFormed().replace(/[^\P{Cc}\t\r\n]/gu, "\uFFFD");
const bare = (cell: string | undefined) => cell?.replace(/^'/, "");

test.skipIf(python === undefined)("CSV opens in Python with every cell where it belongs", () => {
  const { devices, links, hosts } = hostileGraph();
  const read = (csv: Iterable<string>) => askPython<string[][]>(python ?? "", READ_CSV, text(csv));
  const [head = [], ...rows] = read(renderCsv("devices", devices));
  expect(head).toEqual(csvColumns("devices"));
  expect(rows).toHaveLength(devices.length);
  const cell = (row: number, column: string) => bare(rows[row]?.[head.indexOf(column)]);
  for (const [i, device] of devices.entries()) {
    for (const field of ["id", "mfr", "hw", "serial"] as const satisfies (keyof Device)[]) {
      expect(cell(i, field)).toBe(shown(device[field]).replace(/^'/, ""));
    }
    expect(JSON.parse(cell(i, "annotations") ?? "")).toEqual(device.annotations);
  }
  for (const value of rows.flat()) expect(value).not.toMatch(/^\s*[=+\-@]|^[\t\r]/);
  expect(read(renderCsv("links", links))).toHaveLength(links.length + 1);
  expect(read(renderCsv("hosts", hosts, ["annotations"]))).toHaveLength(hosts.length + 1);
});
