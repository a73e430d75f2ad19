/** docs/from-onos.md lists every GET of ONOS 2.7, and the status in the list is the status of the service. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Harness, openHarness } from "../api/harness.ts";
import { deviceId, SAMPLE } from "../api/network.ts";

const DOC = join(import.meta.dir, "../../docs/from-onos.md");
const TEXT = await Bun.file(DOC).text();
/** From the Swagger document in ONOS 2.7.0's onos-rest. */
const ENDPOINTS: string[] = await Bun.file(join(import.meta.dir, "fixtures/get-endpoints.json")).json();

const ROWS = [...TEXT.matchAll(/^\| `(\/\S*)` \| (\d+) \| (.*) \|$/gm)].map(
  ([, path = "", status = "", response = ""]) => ({ path, status: Number(status), response }),
);

let h: Harness;
beforeAll(async () => {
  h = await openHarness({ aliases: ["onos"] });
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

test("every GET of ONOS is in the list, once", () => {
  expect(ROWS.map(({ path }) => path)).toEqual(ENDPOINTS);
});

const VALUES: Readonly<Record<string, string>> = {
  mac: "00:00:00:00:00:01",
  vlan: "None",
  connectPoint: `${deviceId(1)}:1`,
  src: deviceId(1),
  dst: deviceId(3),
};

function exampleOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (path.startsWith("/bit-error-rate/")) return `${deviceId(1)}%2F1`;
    if (name !== "id") return VALUES[name] ?? "x";
    if (path.startsWith("/hosts/")) return "00:00:00:00:00:01%2FNone";
    if (path.startsWith("/cluster/")) return "127.0.0.1";
    return path.startsWith("/devices/") ? deviceId(1) : "0";
  });
}

test.each(ROWS)("$path is $status", async ({ path, status }) => {
  const response = await h.fetch(`/onos/v1${exampleOf(path)}`);
  expect(response.status).toBe(status);
  if (status !== 501) return;
  const { code, message } = (await response.json()) as { code: number; message: string };
  expect(code).toBe(501);
  const [, resource = ""] = path.split("/");
  expect(message).toContain(`list ${resource} in the key forward of a controller source`);
  expect((await h.fetch(/\S*\/docs\/[^.#\s]*/.exec(message)?.[0] ?? "")).status).toBe(200);
});

test("every link has a target", () => {
  for (const [, target = ""] of TEXT.replaceAll(/`[^`]*`/g, "").matchAll(/\]\(([^)#]+)/g))
    expect([target, existsSync(join(dirname(DOC), target))]).toEqual([target, true]);
});
