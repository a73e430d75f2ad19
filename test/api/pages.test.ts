/** Paging: walking all pages gives exactly the list of one revision, whatever changes meanwhile. */

import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { silentLogger } from "../../src/lib/logger.ts";
import { Compactor } from "../../src/view/compactor.ts";
import { rawRequest } from "../http1/raw-request.ts";
import { temporaryFolder } from "../support/folder.ts";
import { runs } from "../support/property.ts";
import { API, AUTHORIZATION, type Harness, openHarness, PROPERTY_TIMEOUT_MS } from "./harness.ts";
import { anyNetwork, anyStep, deviceId, SAMPLE } from "./network.ts";
import { anyListQuery, type JsonEntity, queryPath } from "./reference-query.ts";

type PageBody = Record<string, JsonEntity[]> & { next?: never } & { readonly [key: string]: unknown };

interface Walk {
  readonly entities: unknown[];
  readonly revisions: Set<string | null>;
}

/** Follows `next` to the last page, and calls `between` after each page. */
async function walk(open: () => Harness, path: string, between: () => Promise<void>): Promise<Walk> {
  const entities: unknown[] = [];
  const revisions = new Set<string | null>();
  for (let at: string | undefined = path; at !== undefined; ) {
    const response = await open().fetch(at);
    expect(response.status).toBe(200);
    revisions.add(response.headers.get("gazetteer-revision"));
    const body: PageBody = await response.json();
    const [list] = Object.values(body);
    entities.push(...(Array.isArray(list) ? list : []));
    const link = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
    expect(link === undefined).toBe(body.next === undefined);
    at = link;
    if (at !== undefined) await between();
  }
  return { entities, revisions };
}

test(
  "pages put together are the list of their revision, with any filter and order, under any changes",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        anyNetwork,
        fc.array(anyStep, { minLength: 4, maxLength: 4 }),
        anyListQuery,
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(undefined, "revision", "-lastChanged,type"),
        async (first, steps, query, limit, sort) => {
          await using h = await openHarness();
          await h.apply(first.changes, first.source);
          const order = sort !== undefined && query.list !== "hosts" ? { sort } : {};
          const whole = await h.json<Record<string, unknown[]>>(queryPath(query, order));
          const rest = steps[Symbol.iterator]();
          const { entities, revisions } = await walk(
            () => h,
            queryPath(query, { ...order, limit: String(limit) }),
            async () => {
              const { value } = rest.next();
              if (value) await h.apply(value.changes, value.source);
            },
          );
          expect({ [query.list]: entities }).toEqual(whole);
          expect(revisions.size).toBe(1);
        },
      ),
      { numRuns: runs(60) },
    );
  },
  PROPERTY_TIMEOUT_MS,
);

test("every page of a walk has the Gazetteer-Revision of the first, also when that comes from the cache", async () => {
  await using h = await openHarness();
  await h.replace(SAMPLE);
  const addPort = (port: number) =>
    h.apply([{ op: "set", kind: "ports", claim: { element: deviceId(3), port } }]);
  for (let port = 10; port < 14; port++) {
    await addPort(port);
    await h.fetch("devices?limit=2"); // from the second time on it is in the response cache
    const { revisions } = await walk(
      () => h,
      "devices?limit=2",
      () => addPort(port + 10),
    );
    expect([...revisions]).toEqual(["1"]);
    expect((await h.fetch("devices")).headers.get("gazetteer-revision")).toBe(String(h.view.revision));
  }
});

test("a cursor is good after a restart, and of the same revision", async () => {
  const data = join(temporaryFolder(), "log.sqlite");
  let h = await openHarness({ data });
  await h.replace(SAMPLE);
  const whole = await h.json<{ devices: unknown[] }>("devices?sort=-type");
  const { entities } = await walk(
    () => h,
    "devices?sort=-type&limit=2",
    async () => {
      await h.apply([{ op: "remove", kind: "devices", id: deviceId(2) }]);
      await h.apply([{ op: "set", kind: "devices", claim: { id: deviceId(2), type: "IDS" } }]);
      await h.stop();
      h = await openHarness({ data });
    },
  );
  expect(entities).toEqual(whole.devices);
  await h.stop();
});

test("formats without a member for the cursor have it in the Link header", async () => {
  await using h = await openHarness();
  await h.replace(SAMPLE);
  for (const format of ["ndjson", "csv", "prometheus"]) {
    const first = await h.fetch(`devices?limit=2&format=${format}`);
    const link = /^<([^>]*)>; rel="next"$/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    expect(link).toStartWith(`/controller/v1/devices?limit=2&format=${format}&cursor=`);
    const second = await h.fetch(link);
    expect(second.status).toBe(200);
    expect(await second.text()).not.toBe(await first.text());
  }
  expect((await h.fetch("devices?limit=100")).headers.get("link")).toBeNull();
});

test("characters that came without percent-encoding are encoded in the Link, so that none ends it", async () => {
  await using h = await openHarness();
  await h.replace(SAMPLE);
  const target = `${API}/devices?limit=2&annotations.<x>=`;
  const raw = `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\nConnection: close\r\n\r\n`;
  const { head } = await rawRequest(h.port, raw);
  const link = /^Link: <([^<>]*)>; rel="next"$/.exec(
    head.find((line) => line.startsWith("Link:")) ?? "",
  )?.[1];
  expect(link).toStartWith(`${API}/devices?limit=2&annotations.%3Cx%3E=&cursor=`);
  expect((await h.fetch(link ?? "")).status).toBe(200);
});

async function nextOf(h: Harness, path: string): Promise<string> {
  const { next } = await h.json<{ next: string }>(path);
  expect(next).toBeString();
  return next;
}

test("a cursor that was altered, made up, or belongs to another query is a 400", async () => {
  await using h = await openHarness();
  await h.replace(SAMPLE);
  const next = await nextOf(h, "devices?limit=2&type=SWITCH,ROUTER,OTHER");
  const statusAndType = async (query: string) => {
    const response = await h.fetch(query);
    return [response.status, (await response.json()).type];
  };
  const bad = [400, "/docs/errors#bad-cursor"];
  expect((await statusAndType(`devices?limit=2&type=SWITCH,ROUTER,OTHER&cursor=${next}`))[0]).toBe(200);
  expect((await statusAndType(`devices?limit=3&cursor=${next}&type=SWITCH,ROUTER,OTHER`))[0]).toBe(200);
  for (const query of ["devices?limit=2", "devices?limit=2&type=SWITCH", "links?limit=2", "hosts?limit=2"])
    expect(await statusAndType(`${query}&cursor=${next}`)).toEqual(bad);
  const made = Buffer.from(JSON.stringify([1, deviceId(1)])).toString("base64url");
  const flipped = Buffer.from(next, "base64url");
  for (let i = 0; i < flipped.length; i += 3) {
    const copy = Buffer.from(flipped);
    copy.writeUInt8(copy.readUInt8(i) ^ 1, i);
    expect(
      await statusAndType(`devices?limit=2&type=SWITCH,ROUTER,OTHER&cursor=${copy.toString("base64url")}`),
    ).toEqual(bad);
  }
  for (const cursor of [made, `${next}A`, `${next}=`, `${next}!`, next.slice(0, -1), "x".repeat(3000), "%00"])
    expect(await statusAndType(`devices?limit=2&type=SWITCH,ROUTER,OTHER&cursor=${cursor}`)).toEqual(bad);
});

test("a cursor of another log is a 400", async () => {
  await using one = await openHarness();
  await using other = await openHarness();
  await one.replace(SAMPLE);
  await other.replace(SAMPLE);
  const response = await other.fetch(`devices?limit=2&cursor=${await nextOf(one, "devices?limit=2")}`);
  expect(response.status).toBe(400);
});

/** Compacts the log to the current revision. */
async function compactAll(h: Harness): Promise<void> {
  const options = { retentionMs: 0, maxBytes: Number.MAX_SAFE_INTEGER, snapshotAfterChanges: 1 };
  await h.clock.advance(10);
  await new Compactor(h.view, h.log, h.clock, silentLogger, options).compact();
  await h.clock.advance(10);
  await h.log.prune(h.clock.now(), Number.MAX_SAFE_INTEGER);
}

test("a cursor whose revision is no longer kept is a 410 that says to begin again", async () => {
  await using h = await openHarness();
  await h.replace(SAMPLE);
  const next = await nextOf(h, "devices?limit=2");
  await h.apply([{ op: "remove", kind: "devices", id: deviceId(1) }]);
  await compactAll(h);
  expect(h.log.stats().oldest).toBe(h.view.revision);
  const response = await h.fetch(`devices?limit=2&cursor=${next}`);
  expect(response.status).toBe(410);
  const body = await response.json();
  expect(body).toMatchObject({ type: "/docs/errors#cursor-expired", code: 410 });
  expect(body.detail).toContain("begin again");
});

test("a page does not depend on the history that is kept: its cursor is of the revision that last changed the list", async () => {
  await using h = await openHarness();
  await h.replace(SAMPLE);
  const read = async (path: string) => {
    const response = await h.fetch(path);
    return [response.status, response.headers.get("etag"), await response.json()] as const;
  };
  const before = await read("links?limit=2");
  const rest = await read(`links?limit=2&cursor=${before[2].next}`);
  await h.apply([
    {
      op: "set",
      kind: "hosts",
      claim: { mac: "02:00:00:00:00:01", locations: [{ elementId: deviceId(1), port: 1 }] },
    },
  ]);
  await compactAll(h);
  expect(h.log.stats().oldest).toBe(h.view.revision);
  expect(await read("links?limit=2")).toEqual(before);
  expect(await read(`links?limit=2&cursor=${before[2].next}`)).toEqual(rest);
  // The list changes, and the oldest state still has it as it was.
  await h.apply([{ op: "remove", kind: "devices", id: deviceId(1) }]);
  expect(await read("links?limit=2")).not.toEqual(before);
  expect((await read(`links?limit=2&cursor=${before[2].next}`))[2]).toEqual(rest[2]);
});

test("a page has the same bytes and the same tag before and after a restart", async () => {
  const data = join(temporaryFolder(), "log.sqlite");
  const read = async (h: Harness) => {
    const response = await h.fetch("links?limit=2");
    return [response.headers.get("etag"), await response.text()];
  };
  let h = await openHarness({ data });
  await h.replace(SAMPLE);
  const before = await read(h);
  await h.apply([{ op: "set", kind: "ports", claim: { element: deviceId(3), port: 5 } }]);
  expect(await read(h)).toEqual(before);
  await h.stop();
  h = await openHarness({ data });
  expect(await read(h)).toEqual(before);
  await h.stop();
});
