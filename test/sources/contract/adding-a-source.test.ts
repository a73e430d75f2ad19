/**
 * The code printed in docs/adding-a-source.md: copied into a copy of the service, the service reads a network with it from a
 * real server. That it compiles is a test of `npm run test:peers`.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { basic } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { copyWithExample, files, REGISTRY } from "./adding-a-source.ts";

const MAX_LINES = 100;

let copy = "";
beforeAll(() => {
  copy = copyWithExample();
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

test("is less than 100 lines", () => {
  expect([...files.keys()].sort()).toEqual([
    "src/sources/inventory/inventory.ts",
    "src/sources/inventory/map-inventory.ts",
    REGISTRY,
  ]);
  const lines = [...files.values()].flatMap((code) => code.trimEnd().split("\n"));
  expect(lines.length).toBeLessThan(MAX_LINES);
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
