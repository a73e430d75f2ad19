/** The built client as its users run it: in Node, as one module for browsers, and with its type declarations. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildClient } from "../../../scripts/build-client.ts";
import { records, startFakeService, streamResponse, textResponse } from "../../client/fake-service.ts";
import { needs } from "../../support/needs.ts";

const root = join(import.meta.dir, "..", "..", "..");
let folder = "";

beforeAll(async () => {
  // Inside the package, so that the declarations can resolve their imports.
  mkdirSync(join(root, "dist"), { recursive: true });
  folder = mkdtempSync(join(root, "dist", "test-"));
  await buildClient(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NODE_PROGRAM = `
import { ClientError, createClient, LocalCache } from "./client.js";
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

test.skipIf(!needs("node"))("in Node it watches, reconnects and throws a ClientError", async () => {
  writeFileSync(join(folder, "program.mjs"), NODE_PROGRAM);
  const service = await startFakeService(
    streamResponse(
      "end",
      records.snapshot("a", 1),
      records.synced(5),
      records.change("added", "b", 6, false),
    ),
    streamResponse("hold", records.change("added", "b", 6), records.change("removed", "a", 7)),
  );
  const child = Bun.spawn(["node", join(folder, "program.mjs"), service.url], {
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

test("it is one module without imports that uses no API of one runtime", () => {
  const code = readFileSync(join(folder, "client.js"), "utf8");
  expect(code).not.toMatch(/^import\b/m);
  expect(code).not.toMatch(/\b(?:Bun|process|Buffer|require)\b\s*[.(]/);
  expect(code).not.toContain("typebox");
});

const TYPED_PROGRAM = `
import { createClient, type Host, type WatchEvent } from "./client.js";
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
// @ts-expect-error there is no such collection
client.list("planets");
`;

test("its types compile in a program without the types of Bun", () => {
  writeFileSync(join(folder, "program.ts"), TYPED_PROGRAM);
  const flags = [
    "--noEmit",
    "--strict",
    "--target",
    "es2022",
    "--module",
    "nodenext",
    "--types",
    "",
    "--ignoreConfig",
  ];
  const program = join(folder, "program.ts");
  const tsc = Bun.spawnSync([join(root, "node_modules/.bin/tsc"), ...flags, program], { cwd: folder });
  expect(tsc.stdout.toString()).toBe("");
  expect(tsc.exitCode).toBe(0);
});

test("it parses the response of a list", async () => {
  const module: typeof import("../../../src/client/client.ts") = await import(join(folder, "client.js"));
  const service = await startFakeService(
    textResponse('{"links":[{"id":"x"}]}', { "gazetteer-revision": "3", etag: '"x"' }),
  );
  const list = await module.createClient({ url: service.url }).list("links");
  expect(list).toMatchObject({ items: [{ id: "x" }], revision: 3, etag: '"x"' });
});
