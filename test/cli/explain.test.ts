/** `gazetteer explain` against a running service with two sources. */
import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Explanation } from "../../src/model/explanation.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";

const ONE = "of:0000000000000001";
const TWO = "of:0000000000000002";
const LINK = `${ONE}/1-${TWO}/2`;
const HOST = "00:00:00:00:00:01/None";
const FIRST = `
devices:
  - { id: "${ONE}", type: ROUTER, hw: one, annotations: { name: "core\\u001b[31m" } }
  - { id: "${TWO}" }
ports:
  - { element: "${ONE}", port: 1, portSpeed: 10 }
links:
  - { src: { device: "${ONE}", port: 1 }, dst: { device: "${TWO}", port: 2 } }
hosts:
  - { mac: "00:00:00:00:00:01", locations: [{ elementId: "${TWO}", port: 3 }] }
`;
const SECOND = `
devices:
  - { id: "${ONE}", hw: two, sw: "2.0" }
`;

let service: Service;
beforeAll(async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "first.yaml"), FIRST);
  writeFileSync(join(folder, "second.yaml"), SECOND);
  const config = join(folder, "gazetteer.yaml");
  writeFileSync(
    config,
    `sources:
  - { type: file, name: first, path: ${join(folder, "first.yaml")} }
  - { type: file, name: second, path: ${join(folder, "second.yaml")} }
`,
  );
  service = await startService({ args: ["--data", ":memory:", "--config", config] });
});

const explain = (...args: string[]) =>
  runCommand(["explain", ...args], {
    env: { GAZETTEER_URL: service.url, GAZETTEER_CREDENTIALS: service.credentials },
  });
const cellsOf = (text: string) => text.split("\n").map((line) => line.split(/ {2,}/));

test("prints the sources and a row for each field", async () => {
  const { status, stdout, stderr } = await explain(ONE);
  expect([status, stderr]).toEqual([0, ""]);
  const lines = cellsOf(stdout);
  expect(lines[0]).toEqual([`device ${ONE}`]);
  expect(lines).toContainEqual(["SOURCE", "ROLE", "STATUS", "STALE SINCE", "ID"]);
  expect(lines).toContainEqual(["first", "observed", "live", "-", ONE]);
  expect(lines).toContainEqual(["second", "observed", "live", "-", ONE]);
  expect(lines).toContainEqual(["FIELD", "VALUE", "SOURCE", "WHY", "OTHER CLAIMS"]);
  expect(lines).toContainEqual(["type", "ROUTER", "first", "only this source claims it", "-"]);
  expect(lines).toContainEqual(["hw", "one", "first", "the first source in precedence", "second: two"]);
  expect(lines).toContainEqual(["sw", "2.0", "second", "only this source claims it", "-"]);
  expect(lines).toContainEqual(["serial", "unknown", "-", "no source claims it: the default", "-"]);
});

test("escapes text from the network", async () => {
  for (const output of ["text", "json"]) {
    const { stdout } = await explain(ONE, "-o", output);
    expect(stdout).toContain("core\\u001b[31m");
    expect(stdout).not.toContain("\u001b");
  }
});

test.each([
  ["links", LINK],
  ["ports", `${ONE}/1`],
  ["hosts", HOST],
  ["devices", TWO.toUpperCase()],
])("finds that an id is one of %s", async (kind, id) => {
  const { status, stdout } = await explain(id, "-o", "json");
  const explanation: Explanation = JSON.parse(stdout);
  expect([status, explanation.kind, explanation.claims[0]?.source]).toEqual([0, kind, "first"]);
});

test("--at explains the past", async () => {
  const { status, stdout } = await explain(ONE, "--at", "now", "-o", "json");
  expect([status, JSON.parse(stdout).id]).toEqual([0, ONE]);
  const empty = await explain(ONE, "--at", "0");
  expect([empty.status, empty.stderr]).toEqual([
    1,
    `gazetteer explain: 404: there is no device, port, link or host "${ONE}"\n`,
  ]);
});

test("says what is wrong", async () => {
  const unknown = await explain("nothing/1");
  expect([unknown.status, unknown.stderr]).toEqual([
    1,
    'gazetteer explain: 404: there is no device, port, link or host "nothing/1"\n',
  ]);
  for (const args of [[], [ONE, TWO], [ONE, "--at", "yesterday"], [ONE, "-o", "csv"]])
    expect([args, (await explain(...args)).status]).toEqual([args, 2]);
});
