/** docs/interface.md and the pages of its larger parts agree with the service: examples work, and tables are complete. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { FORMATS } from "../../src/formats/formats.ts";
import { ENTITY_SCHEMAS, Topology } from "../../src/model/entity.ts";
import { PARAMETERS } from "../../src/query/parameters.ts";
import { needs } from "../support/needs.ts";
import { CREDENTIALS, type Harness, openHarness } from "./harness.ts";
import { SAMPLE } from "./network.ts";

const DOCS = join(import.meta.dir, "..", "..", "docs");
const read = (name: string) => Bun.file(join(DOCS, `${name}.md`)).text();
const TEXT = await read("interface");
const PARTS = await Promise.all(["paths", "search", "explain", "problems"].map(read));

let h: Harness;
beforeAll(async () => {
  h = await openHarness();
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

const EXAMPLES = [TEXT, ...PARTS].flatMap((text) => text.match(/^curl .*$/gm) ?? []);

test.skipIf(!needs("curl")).each(EXAMPLES)("%s", async (line) => {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? "");
  const args = words
    .slice(1)
    .map((word) => word.replace("USERNAME:PASSWORD", CREDENTIALS).replace("http://127.0.0.1:8181", h.url));
  const stream = args.includes("-N");
  // A stream does not end: curl stops after a second with exit status 28.
  const child = Bun.spawn(["curl", "-sf", ...(stream ? ["-m", "1"] : []), ...args], { stdout: "pipe" });
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(stream ? 28 : 0);
  if (stream) expect(text).toContain("event: synced\n");
  else expect(text.length).toBeGreaterThan(10);
});

const section = (title: string): string => {
  const from = TEXT.indexOf(`\n## ${title}`);
  return TEXT.slice(from, TEXT.indexOf("\n## ", from + 1));
};
const firstCells = (text: string): string[] =>
  [...text.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map((m) => m[1] ?? ""),
  );

test("the table of parameters names every parameter", () => {
  const names = firstCells(section("4 Queries"));
  expect(names.toSorted()).toEqual([...Object.keys(PARAMETERS), "annotations.KEY"].toSorted());
});

test("the table of formats names every format", () => {
  const names = firstCells(section("5 Representations")).filter((name) => name !== "format");
  expect(names).toEqual(FORMATS.map(({ name }) => name));
});

test("every field of every resource is documented", () => {
  const names = firstCells(section("2 Resources and fields"));
  for (const { properties } of Object.values(ENTITY_SCHEMAS))
    for (const name of Object.keys(properties)) expect(names).toContain(name);
  for (const name of Object.keys(Topology.properties)) expect(section("2 Resources")).toContain(`"${name}":`);
});
