/** The built client as others use it: under Node, which runs no TypeScript, in a browser's bundle, with its types. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildClient } from "../../scripts/build-client.ts";
import { needs } from "../support/needs.ts";
import { answers, said, startFake, streams } from "./fake-service.ts";

const root = join(import.meta.dir, "..", "..");
let folder = "";

beforeAll(async () => {
  // Inside the package, so that the declarations find what they name.
  mkdirSync(join(root, "dist"), { recursive: true });
  folder = mkdtempSync(join(root, "dist", "test-"));
  await buildClient(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NODE_PROGRAM = `
import { ClientError, createClient, Mirror } from "./client.js";
const client = createClient({ url: process.argv[2], credentials: "reader:secret", random: () => 0 });
const abort = new AbortController();
const mirror = new Mirror();
const seen = [];
for await (const event of client.watch("devices", {}, { signal: abort.signal })) {
  mirror.apply(event);
  seen.push(event.type);
  if (mirror.revision === 7) abort.abort();
}
const refused = await client.topology().catch((error) => error);
console.log(JSON.stringify({
  seen,
  ids: [...mirror.all("devices").keys()],
  refused: refused instanceof ClientError && refused.code,
}));
`;

test.skipIf(!needs("node"))("under Node it watches, reconnects and fails as it should", async () => {
  writeFileSync(join(folder, "program.mjs"), NODE_PROGRAM);
  const fake = await startFake(
    streams("end", said.snapshot("a", 1), said.synced(5), said.change("added", "b", 6, false)),
    streams("hold", said.change("added", "b", 6), said.change("removed", "a", 7)),
  );
  const child = Bun.spawn(["node", join(folder, "program.mjs"), fake.url], {
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
    seen: ["snapshot", "synced", "added", "removed"],
    ids: ["b"],
    refused: "script-over",
  });
  expect(fake.asked.map(({ query }) => query.since)).toEqual([undefined, "5", undefined]);
});

test("it is one module that imports nothing and names no runtime", () => {
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

test("its types work for a program that knows nothing of Bun", () => {
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

test("the answer of a list survives the way through it", async () => {
  const module: typeof import("../../src/client/client.ts") = await import(join(folder, "client.js"));
  const fake = await startFake(answers('{"links":[{"id":"x"}]}', { "gazetteer-revision": "3", etag: '"x"' }));
  const listing = await module.createClient({ url: fake.url }).list("links");
  expect(listing).toMatchObject({ items: [{ id: "x" }], revision: 3, etag: '"x"' });
});
