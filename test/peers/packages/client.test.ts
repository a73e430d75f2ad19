/**
 * The package `netgazetteer-client` as its users have it: packed, installed into an empty folder, and used in Node, in Bun, in a
 * browser, and by the compiler of TypeScript.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { records, startFakeService, streamResponse } from "../../client/fake-service.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { needs } from "../../support/needs.ts";
import { launchChromium } from "../../web/chromium.ts";
import { pack, run } from "./npm.ts";

const root = join(import.meta.dir, "..", "..", "..");
const MAX_PACKED_BYTES = 40_000;
const folder = temporaryFolder();
const installed = join(folder, "node_modules", "netgazetteer-client");
let tarball = "";
let installOutput = "";

beforeAll(() => {
  tarball = pack("packages/client", folder);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  installOutput = run(["npm", "install", "--engine-strict", "--offline", "--no-audit", tarball], folder);
});

test("it is small, installs nothing else and has no complaints", () => {
  expect(statSync(tarball).size).toBeLessThanOrEqual(MAX_PACKED_BYTES);
  expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
    "netgazetteer-client",
  ]);
  expect(installOutput).not.toContain("EBADENGINE");
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  expect(manifest.version).toBe(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version);
  expect(readdirSync(installed).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
});

const PROGRAM = `
import { ClientError, createClient, LocalCache } from "netgazetteer-client";
const client = createClient({ url: process.argv[2], credentials: "reader:secret", random: () => 0 });
const abort = new AbortController();
const cache = new LocalCache();
const types = [];
for await (const event of client.watch("devices", {}, { signal: abort.signal })) {
  cache.apply(event);
  types.push(event.type);
  if (cache.revision === 7) abort.abort();
}
const error = await client.topology().catch((thrown) => thrown);
console.log(JSON.stringify({
  types,
  ids: [...cache.all("devices").keys()],
  error: error instanceof ClientError && error.code,
}));
`;

for (const [name, program] of [
  ["Node", "node"],
  ["Bun", process.execPath],
] as const) {
  test.skipIf(!needs("node"))(`in ${name} it watches, reconnects and throws a ClientError`, async () => {
    writeFileSync(join(folder, "program.mjs"), PROGRAM);
    const service = await startFakeService(
      streamResponse(
        "end",
        records.snapshot("a", 1),
        records.synced(5),
        records.change("added", "b", 6, false),
      ),
      streamResponse("hold", records.change("added", "b", 6), records.change("removed", "a", 7)),
    );
    const child = Bun.spawn([program, join(folder, "program.mjs"), service.url], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({
      types: ["snapshot", "synced", "added", "removed"],
      ids: ["b"],
      error: "script-over",
    });
    expect(service.requests.map(({ query }) => query.since)).toEqual([undefined, "5", undefined]);
  });
}

test("it is one module without imports that uses no API of one runtime", () => {
  const code = readFileSync(join(installed, "dist", "client.js"), "utf8");
  expect(code).not.toMatch(/^import\b/m);
  expect(code).not.toMatch(/\b(?:Bun|process|Buffer|require)\b\s*[.(]/);
  expect(code).not.toContain("typebox");
});

const TYPED_PROGRAM = `
import { createClient, type Device, type Host, type Readiness, type WatchEvent } from "netgazetteer-client";
const client = createClient({ url: "http://127.0.0.1:8181" });
export const hosts: Promise<Host[]> = client.list("hosts").then(({ items }) => items);
export const maybe: Promise<{ revision: number } | undefined> = client.list("links", {}, { ifNoneMatch: "x" });
export async function ports(): Promise<number> {
  for await (const event of client.watch("topology")) {
    if (event.type === "updated" && event.resource === "ports") return event.value.portSpeed;
  }
  return 0;
}
export function only(event: WatchEvent<"devices">): boolean | undefined {
  return event.type === "added" ? event.value.available : undefined;
}
export const role = (device: Device): "MASTER" | "STANDBY" | "NONE" => device.role;
export const kind = async (): Promise<string | undefined> => (await client.problems()).problems[0]?.kind;
export const reason = async (): Promise<string | undefined> =>
  (await client.explainPaths("a", "b")).none?.obstacles?.[0]?.state;
export const drift = (device: Device): "missing" | "unplanned" | "differs" | undefined => device.drift?.state;
export const sources = (readiness: Readiness) => readiness.sources?.map(({ status }) => status);
// @ts-expect-error there is no such collection
client.list("planets");
// @ts-expect-error there is no such type of device
export const isPlanet = (device: Device): boolean => device.type === "PLANET";
`;

test("its types need no other package, also where those of libraries are checked", () => {
  writeFileSync(join(folder, "program.ts"), TYPED_PROGRAM);
  const flags = [
    "--noEmit",
    "--strict",
    "--target",
    "es2022",
    "--lib",
    "es2023,dom,dom.asynciterable,esnext.disposable",
  ];
  const modules = ["--module", "nodenext", "--types", "", "--ignoreConfig"];
  run([join(root, "node_modules/.bin/tsc"), ...flags, ...modules, join(folder, "program.ts")], folder);
});

test.skipIf(!needs("chromium"))("in a browser it reads a list", async () => {
  const browser = await launchChromium();
  afterAll(() => browser.close());
  const page = await browser.newPage();
  await page.route("http://app.test/**", (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === "/client.js")
      return route.fulfill({ path: join(installed, "dist", "client.js"), contentType: "text/javascript" });
    if (pathname === "/") return route.fulfill({ body: "<!doctype html>", contentType: "text/html" });
    return route.fulfill({
      json: { links: [{ id: "x" }] },
      headers: { "gazetteer-revision": "3", etag: '"x"' },
    });
  });
  await page.goto("http://app.test/");
  const list = await page.evaluate(async () => {
    const { createClient } = await import(`${location.origin}/client.js`);
    return createClient({ url: location.origin }).list("links");
  });
  expect(list).toMatchObject({ items: [{ id: "x" }], revision: 3, etag: '"x"' });
});
