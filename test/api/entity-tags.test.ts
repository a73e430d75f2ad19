/** Entity tags at the socket: a tag changes when the bytes do, and only then; a 304 is right after every change. */

import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ClaimChange } from "../../src/model/claim.ts";
import { runs } from "../support/property.ts";
import { type Harness, openHarness, PROPERTY_TIMEOUT_MS } from "./harness.ts";
import { anyNetwork, anyStep, deviceId, SAMPLE } from "./network.ts";

const HOST = "00:00:00:00:00:01/None";

/** Small bodies and whole collections: each must keep its tag while its bytes stay the same. */
const PATHS = [
  "devices",
  "devices/ports",
  "links",
  "hosts",
  "topology",
  "topology/clusters",
  "topology/clusters/0",
  "topology/clusters/0/devices",
  "topology/clusters/0/links",
  `devices/${deviceId(1)}`,
  `devices/${deviceId(1)}/ports`,
  `hosts/${HOST}`,
  "devices?type=ROUTER",
  "devices?mfr=nobody",
  "devices?available=true",
  `links?device=${deviceId(1)}`,
  "hosts?ip=10.0.0.0/8",
  "hosts?format=csv",
  "devices?fields=id",
  "devices?limit=2",
  "devices?sort=-id&limit=1",
  `devices?around=${deviceId(1)}`,
  `topology?around=${deviceId(1)}`,
  "devices?at=1",
  "topology?at=1",
  `devices/${deviceId(1)}?at=1`,
  "topology?format=dot",
];

interface Read {
  readonly etag: string;
  readonly body: string;
}

async function read(h: Harness, path: string): Promise<Read | undefined> {
  const response = await h.fetch(path);
  const body = await response.text();
  return response.status === 200 ? { etag: response.headers.get("etag") ?? "", body } : undefined;
}

test(
  "whatever changes, the tag of a path changes exactly when its bytes do",
  async () => {
    await fc.assert(
      fc.asyncProperty(anyNetwork, fc.array(anyStep, { maxLength: 6 }), async (first, steps) => {
        await using h = await openHarness();
        await h.replace(SAMPLE);
        const bodiesByTag = new Map<string, string>();
        const lastByPath = new Map<string, Read>();
        const readAll = async () => {
          // Twice, so that the second response comes from the response cache.
          for (const path of [...PATHS, ...PATHS]) {
            const found = await read(h, path);
            if (!found) continue;
            const { etag, body } = found;
            expect([path, bodiesByTag.get(`${path} ${etag}`) ?? body]).toEqual([path, body]);
            // Bytes that changed and changed back may have another tag: in between it had to change.
            const last = lastByPath.get(path);
            if (last?.body === body) expect([path, last.etag]).toEqual([path, etag]);
            bodiesByTag.set(`${path} ${etag}`, body);
            lastByPath.set(path, found);
            const repeated = await h.fetch(path, { headers: { "if-none-match": etag } });
            expect([path, repeated.status]).toEqual([path, 304]);
          }
        };
        await readAll();
        for (const { changes, source } of [first, ...steps]) {
          await h.apply(changes, source);
          await readAll();
        }
      }),
      { numRuns: runs(8) },
    );
  },
  PROPERTY_TIMEOUT_MS,
);

const setDevice = (id: string, sw: string): ClaimChange => ({
  op: "set",
  kind: "devices",
  claim: { id, sw },
});

test("an unchanged device, host and empty list keep their tags while others of their kind change", async () => {
  await using h = await openHarness();
  await h.replace(SAMPLE);
  const paths = [
    `devices/${deviceId(1)}`,
    `devices/${deviceId(1)}/ports`,
    "devices?mfr=nobody",
    `hosts/${HOST}`,
  ];
  const tags = async () => Promise.all(paths.map(async (path) => (await read(h, path))?.etag));
  const before = await tags();
  for (let i = 0; i < 5; i++) {
    await h.apply([
      setDevice(deviceId(2), String(i)),
      { op: "set", kind: "ports", claim: { element: deviceId(2), port: 1, portSpeed: i } },
      {
        op: "set",
        kind: "hosts",
        claim: {
          mac: "00:00:00:00:00:09",
          suspended: i % 2 === 0,
          locations: [{ elementId: deviceId(1), port: 3 }],
        },
      },
    ]);
    expect(await tags()).toEqual(before);
  }
  await h.apply([setDevice(deviceId(1), "new")]);
  const after = await tags();
  expect(after.map((tag, i) => tag === before[i])).toEqual([false, false, true, true]);
});

test("a removal changes the tag of everything that had the member, also when the newest member stays", async () => {
  await using h = await openHarness();
  await h.replace(SAMPLE);
  await h.apply([{ op: "set", kind: "ports", claim: { element: deviceId(1), port: 8 } }]);
  await h.apply([{ op: "set", kind: "ports", claim: { element: deviceId(1), port: 9 } }]);
  const paths = [`devices/${deviceId(1)}/ports`, "devices/ports", "devices/ports?port=8,9"];
  for (const path of paths) {
    const before = await read(h, path);
    expect([path, before?.body.includes('"port":"8"')]).toEqual([path, true]);
  }
  const before = await Promise.all(paths.map((path) => read(h, path)));
  await h.apply([{ op: "remove", kind: "ports", id: `${deviceId(1)}/8` }]);
  for (const [i, path] of paths.entries()) {
    const response = await h.fetch(path, { headers: { "if-none-match": before[i]?.etag ?? "" } });
    expect([path, response.status]).toEqual([path, 200]);
    expect(await response.text()).not.toContain('"port":"8"');
  }
});

test("a body above 64 kB that is no whole collection is complete, and has a tag that gives 304", async () => {
  await using h = await openHarness();
  const devices = Array.from({ length: 400 }, (_, i) => ({ id: deviceId(i), mfr: "x".repeat(500) }));
  await h.replace({ devices });
  for (const path of [`devices?mfr=${"x".repeat(500)}`, "devices?format=ndjson", "devices?sort=-id"]) {
    const first = await read(h, path);
    expect(first?.body.match(/"id":/g)).toHaveLength(400);
    const headers = { "if-none-match": first?.etag ?? "" };
    expect((await h.fetch(path, { headers })).status).toBe(304);
    await h.apply([setDevice(deviceId(1), crypto.randomUUID())]);
    expect((await h.fetch(path, { headers })).status).toBe(200);
  }
});

test("the OpenAPI document has a tag and every content coding", async () => {
  await using h = await openHarness();
  const tags = new Set<string>();
  const plain = await (await h.fetch("/openapi.json")).text();
  for (const coding of ["identity", "gzip", "br", "zstd"]) {
    const headers = { "accept-encoding": coding };
    const response = await h.fetch("/openapi.json", { headers });
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("content-encoding")).toBe(coding === "identity" ? null : coding);
    expect(response.headers.get("vary")).toContain("Accept-Encoding");
    expect(await response.text()).toBe(plain);
    const etag = response.headers.get("etag") ?? "";
    tags.add(etag);
    for (const method of ["GET", "HEAD"]) {
      const repeated = await h.fetch("/openapi.json", {
        method,
        headers: { ...headers, "if-none-match": etag },
      });
      expect([repeated.status, repeated.headers.get("etag"), await repeated.text()]).toEqual([304, etag, ""]);
    }
  }
  expect(tags.size).toBe(4);
});

test("an annotation called revision does not hide that its device changed", async () => {
  await using h = await openHarness();
  const device = (sw: string) => ({ id: deviceId(1), sw, annotations: { revision: "7" } });
  await h.replace({ devices: [device("1")] });
  const path = `devices/${deviceId(1)}`;
  const before = await read(h, path);
  await h.replace({ devices: [device("2")] });
  const after = await h.fetch(path, { headers: { "if-none-match": before?.etag ?? "" } });
  expect([after.status, ((await after.json()) as { sw: string }).sw]).toEqual([200, "2"]);
});

test("another device of the same revision takes the place of the only one: the tag is another one", async () => {
  await using h = await openHarness();
  const network = (neighbour: number) => ({
    devices: [
      { id: deviceId(1), type: "SWITCH" as const },
      { id: deviceId(2), type: "ROUTER" as const },
      { id: deviceId(3), type: "ROUTER" as const },
    ],
    links: [{ src: { device: deviceId(1), port: "1" }, dst: { device: deviceId(neighbour), port: "1" } }],
  });
  const path = `devices?around=${deviceId(1)}&type=ROUTER`;
  const revisions = ({ body }: Read) =>
    JSON.parse(body).devices.map(({ revision }: { revision: number }) => revision);
  const readHere = async () => (await read(h, path)) ?? { etag: "", body: "{}" };
  await h.replace(network(2));
  const before = await readHere();
  await h.replace(network(3));
  const after = await readHere();
  expect(revisions(after)).toEqual(revisions(before));
  expect(after.body).not.toBe(before.body);
  expect(after.etag).not.toBe(before.etag);
});
