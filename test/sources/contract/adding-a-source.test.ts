/**
 * The code printed in docs/adding-a-source.md: copied into a copy of the service, it compiles, and the service reads a
 * network with it from a real server.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { basic } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const root = join(import.meta.dir, "../../..");
const page = readFileSync(join(root, "docs/adding-a-source.md"), "utf8");
const REGISTRY = "src/sources/registry.ts";
const MAX_LINES = 100;

/** The blocks that begin with the path of their file. */
const files = new Map(
  [...page.matchAll(/^```ts\n\/\/ (src\/\S+)\n(.*?)^```$/gms)].map(([, path = "", code = ""]) => [
    path,
    code,
  ]),
);

let copy = "";
beforeAll(() => {
  // Inside the repository, where the dependencies are found.
  mkdirSync(join(root, "dist"), { recursive: true });
  copy = mkdtempSync(join(root, "dist/adding-a-source-"));
  for (const part of ["src", "docs", "package.json", "tsconfig.json", "openapi.json", "CHANGELOG.md"]) {
    cpSync(join(root, part), join(copy, part), {
      recursive: true,
      filter: (path) => !/\.test\.tsx?$/.test(path),
    });
  }
  for (const [path, code] of files) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), path === REGISTRY ? withLines(code) : code);
  }
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** The list of kinds with the printed lines: an import, and an entry. */
function withLines(code: string): string {
  const registry = readFileSync(join(root, REGISTRY), "utf8");
  const [imported = "", entry = ""] = code.trimEnd().split("\n");
  const list = "export const SOURCE_KINDS: Readonly<Record<string, SourceKind>> = {\n";
  expect(registry).toContain(list);
  return registry.replace("import ", () => `${imported}\nimport `).replace(list, () => `${list}${entry}\n`);
}

test("is less than 100 lines", () => {
  expect([...files.keys()].sort()).toEqual([
    "src/sources/inventory/inventory.ts",
    "src/sources/inventory/map-inventory.ts",
    REGISTRY,
  ]);
  const lines = [...files.values()].flatMap((code) => code.trimEnd().split("\n"));
  expect(lines.length).toBeLessThan(MAX_LINES);
});

test("compiles with the strict settings of this project", async () => {
  // Its files and what they import: the check of all types has the rest.
  const project = join(copy, "tsconfig.page.json");
  writeFileSync(
    project,
    JSON.stringify({ extends: "./tsconfig.json", include: [], files: [...files.keys()] }),
  );
  const child = Bun.spawn([join(root, "node_modules/.bin/tsc"), "--noEmit", "-p", project], {
    stdout: "pipe",
  });
  const output = await new Response(child.stdout).text();
  expect({ status: await child.exited, output }).toEqual({ status: 0, output: "" });
});

test("reads a network, follows it, drops bad records and survives a failure of its peer", async () => {
  const device = (serial: string, up = true) => ({
    serial,
    label: `label of ${serial}`,
    interfaces: [{ name: "eth1", up }],
  });
  let respond = (): Response => Response.json([device("A1"), device("B2")]);
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) =>
      new URL(request.url).pathname === "/api/devices" ? respond() : new Response(null, { status: 404 }),
  });
  const config = join(copy, "gazetteer.yaml");
  const source = { type: "inventory", url: `${server.url.origin}/api`, intervalSeconds: 1 };
  writeFileSync(config, JSON.stringify({ data: ":memory:", port: 0, sources: [source] }));
  const child = Bun.spawn([process.execPath, join(copy, "src/main.ts"), "serve", "--config", config], {
    env: { ...process.env, GAZETTEER_CREDENTIALS: "reader:secret" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = await listeningUrl(child.stdout);
    const get = (path: string) => fetch(url + path, { headers: { authorization: basic("reader:secret") } });
    const devices = async (): Promise<{ id: string; serial: string }[]> =>
      (await (await get("/controller/v1/devices")).json()).devices;
    const status = async () => (await (await get("/readyz")).json()).sources[0];

    await until(async () => (await devices()).length === 2, { what: "the devices" });
    expect((await devices()).map(({ id }) => id)).toEqual(["serial:A1", "serial:B2"]);
    respond = () => Response.json([device("A1", false), { serial: 3 }]);
    await until(async () => (await devices()).length === 1, { what: "the change" });
    const { ports } = await (await get("/controller/v1/devices/serial:A1/ports")).json();
    expect(ports).toMatchObject([{ isEnabled: false, annotations: { portName: "eth1" } }]);
    expect(await (await get("/metrics")).text()).toContain(
      'gazetteer_records_refused_total{source="inventory"} 1\n',
    );
    respond = () => new Response("{", { status: 200 });
    await until(async () => (await status()).status === "stale", { what: "the failure" });
    expect((await status()).error).toBe("the inventory sent no list");
    expect(await devices()).toHaveLength(1);
  } finally {
    child.kill();
    expect(await child.exited).toBe(0);
  }
});

async function listeningUrl(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stdout) {
    text += new TextDecoder().decode(chunk);
    const url = /^listening on (\S+)\/controller\/v1$/m.exec(text)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`the service did not start\n${text}`);
}
