/** The list formats, parsed by Python's csv module. */
import { expect, test } from "bun:test";
import { csvColumns, renderCsv } from "../../src/formats/csv.ts";
import type { Paced } from "../../src/lib/steps.ts";
import type { Device } from "../../src/model/entity.ts";
import { hostileGraph } from "../support/sample-network.ts";
import { joinChunks, pythonWith, runPython } from "./external-tools.ts";

const python = pythonWith("csv");
const READ_CSV = `
import csv, io, json, sys
csv.field_size_limit(10**9)
rows = list(csv.reader(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", newline=""), strict=True))
print(json.dumps(rows))`;

const replaceUnprintable = (value: string) => value.toWellFormed().replace(/[^\P{Cc}\t\r\n]/gu, "\uFFFD");
const withoutApostrophe = (cell: string | undefined) => cell?.replace(/^'/, "");

test.skipIf(python === undefined)("Python reads every cell of the CSV in its column", () => {
  const { devices, links, hosts } = hostileGraph();
  const read = (csv: Paced<string>) => runPython<string[][]>(python ?? "", READ_CSV, joinChunks(csv));
  const [header = [], ...rows] = read(renderCsv("devices", devices));
  expect(header).toEqual(csvColumns("devices"));
  expect(rows).toHaveLength(devices.length);
  const cell = (row: number, column: string) => withoutApostrophe(rows[row]?.[header.indexOf(column)]);
  for (const [i, device] of devices.entries()) {
    for (const field of ["id", "mfr", "hw", "serial"] as const satisfies (keyof Device)[]) {
      expect(cell(i, field)).toBe(replaceUnprintable(device[field]).replace(/^'/, ""));
    }
    expect(JSON.parse(cell(i, "annotations") ?? "")).toEqual(device.annotations);
  }
  for (const value of rows.flat()) expect(value).not.toMatch(/^\s*[=+\-@]|^[\t\r]/);
  expect(read(renderCsv("links", links))).toHaveLength(links.length + 1);
  expect(read(renderCsv("hosts", hosts, ["annotations"]))).toHaveLength(hosts.length + 1);
});
