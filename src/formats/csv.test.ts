import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { device, HOSTILE_TEXTS, host, link } from "../../test/support/sample-network.ts";
import type { Paced } from "../lib/steps.ts";
import { ENTITY_SCHEMAS } from "../model/entity.ts";
import { KINDS } from "../model/ids.ts";
import { csvColumns, renderCsv } from "./csv.ts";

const join = (chunks: Paced<string>) => [...chunks].join("");

/** A strict parser of RFC 4180, so that no lenient parser hides an error. */
function parseCsv(csv: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe("columns", () => {
  test("cover every field of every kind", () => {
    for (const kind of KINDS) {
      for (const field of Object.keys(ENTITY_SCHEMAS[kind].properties)) {
        expect(csvColumns(kind, [field]).length, `${kind} ${field}`).toBeGreaterThan(0);
      }
    }
  });

  test("keep their order whatever the order of fields, and unknown fields have no column", () => {
    expect(csvColumns("links", ["state", "dst", "nonsense"])).toEqual(["dst.device", "dst.port", "state"]);
    expect(csvColumns("hosts", ["location"])).toEqual(["location.elementId", "location.port"]);
    expect(csvColumns("links").slice(0, 7)).toEqual([
      "src.device",
      "src.port",
      "dst.device",
      "dst.port",
      "type",
      "state",
      "annotations",
    ]);
  });
});

describe("rows", () => {
  test("nested values are flattened", () => {
    const a = { device: "of:1", port: "1" };
    const hostWithTwoLocations = host("00:00:00:00:00:01", a, {
      ipAddresses: ["10.0.0.1", "2001:db8::1"],
      locations: [
        { elementId: "of:1", port: "1" },
        { elementId: "of:2", port: "3" },
      ],
    });
    const fields = ["id", "ipAddresses", "locations", "location", "sources"];
    expect(parseCsv(join(renderCsv("hosts", [hostWithTwoLocations], fields)))).toEqual([
      ["id", "ipAddresses", "locations", "location.elementId", "location.port", "sources"],
      ["00:00:00:00:00:01/None", "10.0.0.1 2001:db8::1", "of:1/1 of:2/3", "of:1", "1", "demo"],
    ]);
    const annotatedLink = link(a, { device: "of:2", port: "2" }, { annotations: { b: 'x"', c: "" } });
    expect(join(renderCsv("links", [annotatedLink], ["src", "annotations", "verified"]))).toBe(
      'src.device,src.port,annotations,verified\r\nof:1,1,"{""b"":""x\\"""",""c"":""""}",true\r\n',
    );
  });

  test("no entities give the header row; a single empty cell is not an empty line", () => {
    expect(join(renderCsv("ports", []))).toStartWith("element,port,isEnabled,type,portSpeed,");
    expect(join(renderCsv("links", [{}, {}], ["annotations"]))).toBe('annotations\r\n""\r\n""\r\n');
  });

  test.each([
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@x", "'@x"],
    ["\t=1", "'\t=1"],
    ["\rx", `"'\rx"`],
    ["\nx", `"'\nx"`],
    ["  =1", "'  =1"],
    ["＝1", "'＝1"],
    ["a=1", "a=1"],
    ["nul\0bel\u0007", "nul\uFFFDbel\uFFFD"],
    ["c1\u0085\uD800", "c1\uFFFD\uFFFD"],
    [" kept ", '" kept "'],
    ["a\tb", "a\tb"],
  ])("cell %j is rendered as %j", (value, rendered) => {
    expect(join(renderCsv("devices", [{ mfr: value }], ["mfr"]))).toBe(`mfr\r\n${rendered}\r\n`);
  });

  test("any text is parsed back, except for the apostrophe and unprintable characters", () => {
    const anyText = fc.oneof(
      fc.constantFrom(...HOSTILE_TEXTS),
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom('"', ",", "\r", "\n", "=", " ", "\0", "a", "🛰") }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(anyText, anyText)), (texts) => {
        const devices = texts.map(([mfr, hw]) => device("of:1", { mfr, hw }));
        const rows = parseCsv(join(renderCsv("devices", devices, ["mfr", "hw"]))).slice(1);
        const replaceUnprintable = (s: string) => s.toWellFormed().replace(/[^\P{Cc}\t\r\n]/gu, "\uFFFD");
        expect(rows.map((row) => row.map((c) => c.replace(/^'/, "")))).toEqual(
          texts.map((row) => row.map((c) => replaceUnprintable(c).replace(/^'/, ""))),
        );
        for (const c of rows.flat()) expect(c).not.toMatch(/^\s*[=+\-@]/);
      }),
    );
  });
});
