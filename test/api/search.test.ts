/** The search over devices and hosts, and the counts of hosts: both agree with the lists, now and in the past. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Scheduler } from "../../src/lib/scheduler.ts";
import { runToEnd } from "../../src/lib/steps.ts";
import type { ClaimChange } from "../../src/model/claim.ts";
import type { Host } from "../../src/model/entity.ts";
import { hasWords } from "../../src/view/search-index.ts";
import { until } from "../support/until.ts";
import { API, type Harness, openHarness, PROPERTY_TIMEOUT_MS } from "./harness.ts";
import { anyNetwork, anyStep, deviceId, setDevice } from "./network.ts";

interface Hits {
  readonly hits: readonly {
    readonly resource: "devices" | "hosts";
    readonly value: Pick<Host, "id" | "annotations">;
  }[];
  readonly complete: boolean;
}

interface Counts {
  readonly counts: Readonly<Record<string, number>>;
  readonly total: number;
}

const host = (n: number, name: string, ip: string, device = 1): ClaimChange => ({
  op: "set",
  kind: "hosts",
  claim: {
    mac: `00:00:00:00:00:${n.toString(16).padStart(2, "0")}`,
    ipAddresses: [ip],
    locations: [{ elementId: deviceId(device), port: 1 }],
    annotations: { name },
  },
});

describe("the search", () => {
  let h: Harness;
  beforeAll(async () => {
    h = await openHarness();
    const leaf = (n: number, name: string, more: object = {}) =>
      setDevice(n, { annotations: { name }, ...more });
    await h.apply([
      leaf(1, "leaf-1", { serial: "FDO-77" }),
      leaf(2, "leaf-2", { annotations: { name: "leaf-2", managementAddress: "192.0.2.9", city: "Zürich" } }),
      leaf(10, "leaf-10", { aliases: ["chassis:AB"] }),
      leaf(11, "Spine Leaf"),
      host(1, "leaf-cam", "10.0.0.1"),
      host(2, "printer two", "10.0.0.10"),
      host(3, "ÄPFEL", "10.0.1.1"),
      host(0xaf, "door", "2001:db8::1"),
    ]);
  });
  afterAll(() => h[Symbol.asyncDispose]());

  const names = async (query: string): Promise<string[]> =>
    (await h.json<Hits>(`${API}/topology/search?${query}`)).hits.map(
      ({ value }) => value.annotations?.name ?? "",
    );

  test.each([
    [
      "the whole field, the beginning of a field, the beginning of a word; devices first",
      "leaf",
      ["leaf-1", "leaf-2", "leaf-10", "leaf-cam", "Spine Leaf"],
    ],
    ["the whole field comes first", "leaf-1", ["leaf-1", "leaf-10"]],
    ["an inner word", "cam", ["leaf-cam"]],
    ["no match within a word", "eaf", []],
    ["several words, as they stand", "printer tw", ["printer two"]],
    ["several words in any order", "tw prin", ["printer two"]],
    ["upper and lower case outside ASCII", "äpf", ["ÄPFEL"]],
    ["an id", deviceId(11), ["Spine Leaf"]],
    ["an alias", "chassis:ab", ["leaf-10"]],
    ["a serial number", "fdo", ["leaf-1"]],
    ["a word of the description", "züri", ["leaf-2"]],
    ["a MAC address in another notation", "0000.0000.00af", ["door"]],
    ["the beginning of a MAC address", "00:00:00:00:00:a", ["door"]],
    ["the end of a MAC address", "af", ["door"]],
    ["the id of a host", "00:00:00:00:00:AF/None", ["door"]],
    ["an IP address before those that it begins", "10.0.0.1", ["leaf-cam", "printer two"]],
    ["an IPv6 address in another notation", "2001:DB8:0::0:1", ["door"]],
    ["a management address", "192.0.2.9", ["leaf-2"]],
    ["a block", "10.0.0.0/24", ["leaf-cam", "printer two"]],
    ["a block that is no prefix of a text", "10.0.0.8/29", ["printer two"]],
    ["a block of devices and hosts", "0.0.0.0/0", ["leaf-2", "ÄPFEL", "leaf-cam", "printer two"]],
    ["a block of IPv6", "2001:db8::/32", ["door"]],
    ["only white space around it", "  spine  ", ["Spine Leaf"]],
  ])("%s", async (_, text, expected) => {
    const found = await names(`q=${encodeURIComponent(text)}`);
    if (text.endsWith("/0") || text.endsWith("/24")) expect(found.toSorted()).toEqual(expected.toSorted());
    else expect(found).toEqual([...expected]);
  });

  test("limit, and whether these are all", async () => {
    const two = await h.json<Hits>(`${API}/topology/search?q=leaf&limit=2`);
    expect(two.hits.map(({ value }) => value.annotations?.name)).toEqual(["leaf-1", "leaf-2"]);
    expect(two.complete).toBe(false);
    expect((await h.json<Hits>(`${API}/topology/search?q=leaf&limit=5`)).complete).toBe(true);
  });

  test("the media type, the entity tag, and an entity as its own list has it", async () => {
    const response = await h.fetch(`${API}/topology/search?q=leaf-cam`);
    expect(response.headers.get("content-type")).toBe("application/vnd.gazetteer.hits+json");
    const { hosts } = await h.json<{ hosts: Host[] }>(`${API}/hosts?annotations.name=leaf-cam`);
    expect(await response.json()).toEqual({ hits: [{ resource: "hosts", value: hosts[0] }], complete: true });
    const headers = { "if-none-match": response.headers.get("etag") ?? "" };
    expect((await h.fetch(`${API}/topology/search?q=leaf-cam`, { headers })).status).toBe(304);
  });

  test.each([
    ["", "q"],
    ["q=%20", "q"],
    ["q=a&limit=101", "limit"],
    ["q=a&sort=id", "sort"],
  ])("%p is a 400 that names %s", async (query, parameter) => {
    const response = await h.fetch(`${API}/topology/search?${query}`);
    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toContain(parameter);
  });

  test("a change is found at once, and the past stays as it was", async () => {
    const { revision } = h.view;
    await h.apply([host(1, "moved-cam", "10.0.0.77")]);
    expect(await names("q=moved")).toEqual(["moved-cam"]);
    expect(await names("q=leaf-cam")).toEqual([]);
    expect(await names(`q=leaf-cam&at=${revision}`)).toEqual(["leaf-cam"]);
    expect(await names(`q=moved&at=${revision}`)).toEqual([]);
  });
});

test("indexes in slices, and a client that goes away ends the search", async () => {
  const held: (() => void)[] = [];
  let isHeld = false;
  let now = 0;
  const scheduler = new Scheduler({
    now: () => {
      if (isHeld) now += 10;
      return now;
    },
    nextTurn: (callback) => (isHeld ? held.push(callback) : setImmediate(callback)),
  });
  await using h = await openHarness({ scheduler });
  await h.apply(Array.from({ length: 5000 }, (_, n) => setDevice(n)));
  const pages = runToEnd(h.view.capture().pages("devices"));
  const indexed = () => pages.filter(hasWords).length;
  const turn = async () => {
    held.shift()?.();
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  isHeld = true;
  const gone = new AbortController();
  const response = h.fetch("topology/search?q=of", { signal: gone.signal }).catch(() => undefined);
  await until(() => held.length > 0, { what: "the search to begin" });
  const seen = [indexed()];
  for (let i = 0; i < 3; i++) {
    await turn();
    seen.push(indexed());
  }
  for (const [i, count] of seen.entries()) expect(count - (seen[i - 1] ?? 0)).toBeLessThanOrEqual(2);
  expect(seen.at(-1)).toBeGreaterThan(seen[0] ?? 0);
  gone.abort();
  await response;
  for (let i = 0; held.length > 0 && i < pages.length; i++) await turn();
  expect(held).toEqual([]);
  expect(indexed()).toBeLessThan(pages.length / 2);
});

describe("the index of the search", () => {
  const pagesOf = (h: Harness) =>
    (["devices", "hosts"] as const).flatMap((kind) => [...runToEnd(h.view.capture().pages(kind))]);
  const allIndexed = (h: Harness) => pagesOf(h).every(hasWords);
  /** Lets the indexer begin, or end its rest. */
  const pass = async (h: Harness): Promise<void> => {
    await h.clock.advance(5000);
    await until(() => allIndexed(h), { what: "the index" });
  };
  const openNetwork = async (): Promise<Harness> => {
    const h = await openHarness();
    await h.apply([
      setDevice(1),
      ...Array.from({ length: 100 }, (_, n) => host(n, `host-${n}`, `10.0.0.${n}`)),
    ]);
    return h;
  };

  test("is built without a search once a page is opened, and follows the changes", async () => {
    await using h = await openNetwork();
    await h.fetch("/map/settings.json");
    await pass(h);
    const before = new Set(pagesOf(h));
    await h.apply([host(1, "renamed", "10.0.0.1")]);
    expect(pagesOf(h).every((page) => before.has(page))).toBe(false);
    await pass(h);
  });

  test("is not built where nobody opens a page, and no longer when the page was closed", async () => {
    await using h = await openNetwork();
    await h.json(`${API}/devices`);
    await h.clock.advance(10_000);
    expect(pagesOf(h).some(hasWords)).toBe(false);
    await h.fetch("/map/settings.json");
    await pass(h);
    await h.clock.advance(301_000);
    await h.apply([host(1, "renamed", "10.0.0.1")]);
    await h.clock.advance(10_000);
    expect(allIndexed(h)).toBe(false);
    await h.fetch("/map/settings.json");
    await pass(h);
  });

  test("is built in slices: a page of entities at a time", async () => {
    const held: (() => void)[] = [];
    let isHeld = false;
    let now = 0;
    const scheduler = new Scheduler({
      now: () => {
        if (isHeld) now += 10;
        return now;
      },
      nextTurn: (callback) => (isHeld ? held.push(callback) : setImmediate(callback)),
    });
    await using h = await openHarness({ scheduler });
    await h.apply(Array.from({ length: 5000 }, (_, n) => setDevice(n)));
    const pages = pagesOf(h);
    const indexed = () => pages.filter(hasWords).length;
    await h.fetch("/map/settings.json");
    isHeld = true;
    await h.clock.advance(5000);
    let before = indexed();
    expect(before).toBeLessThanOrEqual(1);
    while (held.length > 0) {
      held.shift()?.();
      expect(indexed() - before).toBeLessThanOrEqual(1);
      before = indexed();
    }
    expect(before).toBe(pages.length);
    isHeld = false;
  });
});

const wordsIn = (text: string): string[] => {
  const lower = text.toLowerCase();
  return [...lower.matchAll(/(?<![a-z0-9\u0080-\uffff])[a-z0-9\u0080-\uffff]/g)].map(({ index }) =>
    lower.slice(index),
  );
};

test(
  "finds exactly the hosts that have a word with this beginning, in every state",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        anyNetwork,
        fc.array(anyStep, { minLength: 1, maxLength: 6 }),
        async (first, steps) => {
          await using h = await openHarness();
          for (const step of [first, ...steps]) {
            await h.apply(step.changes, step.source);
            await h.json(`${API}/topology/search?q=zzz`);
          }
          for (const at of [h.view.revision, Math.ceil(h.view.revision / 2)]) {
            const { hosts } = await h.json<{ hosts: Host[] }>(`${API}/hosts?at=${at}`);
            for (const text of ["00", "10.", "h", "1"]) {
              const expected = hosts.filter(({ id, ipAddresses, annotations }) =>
                [annotations?.name ?? "", id, ...ipAddresses].some(
                  (field) =>
                    wordsIn(field).some((word) => word.startsWith(text)) ||
                    field.toLowerCase().startsWith(text),
                ),
              );
              const { hits } = await h.json<Hits>(`${API}/topology/search?q=${text}&limit=100&at=${at}`);
              const found = hits.filter(({ resource }) => resource === "hosts").map(({ value }) => value);
              expect(found.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(expected);
            }
          }
        },
      ),
      { numRuns: 20 },
    );
  },
  PROPERTY_TIMEOUT_MS,
);

function countByDevice(hosts: readonly Host[]): Counts {
  const counts: Record<string, number> = {};
  for (const { locations } of hosts)
    for (const device of new Set(locations.map(({ elementId }) => elementId)))
      counts[device] = (counts[device] ?? 0) + 1;
  return { counts, total: hosts.length };
}

describe("count=device", () => {
  test(
    "counts the hosts of the list at each device, filtered or not, in every state",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          anyNetwork,
          fc.array(anyStep, { minLength: 1, maxLength: 6 }),
          async (first, steps) => {
            await using h = await openHarness();
            for (const step of [first, ...steps]) await h.apply(step.changes, step.source);
            for (const at of [h.view.revision, Math.ceil(h.view.revision / 2), 1])
              for (const filter of [
                `at=${at}`,
                `at=${at}&device=${deviceId(1)}`,
                "q=0",
                "suspended=false",
                "",
              ]) {
                const { hosts } = await h.json<{ hosts: Host[] }>(`${API}/hosts?${filter}`);
                const expected = countByDevice(hosts);
                expect(await h.json<Counts>(`${API}/hosts?count=device&${filter}`)).toEqual(expected);
              }
          },
        ),
        { numRuns: 20 },
      );
    },
    PROPERTY_TIMEOUT_MS,
  );

  test("has a media type and an entity tag, and refuses what has no meaning with it", async () => {
    await using h = await openHarness();
    await h.apply([setDevice(1), host(1, "a", "10.0.0.1")]);
    const response = await h.fetch(`${API}/hosts?count=device`);
    expect(response.headers.get("content-type")).toBe("application/vnd.gazetteer.counts+json");
    expect(response.headers.get("gazetteer-revision")).toBe(String(h.view.revision));
    expect(await response.json()).toEqual({ counts: { [deviceId(1)]: 1 }, total: 1 });
    for (const query of [
      "count=port",
      "count=device&limit=1",
      "count=device&sort=id",
      "count=device&since=1",
    ])
      expect((await h.fetch(`${API}/hosts?${query}`)).status).toBe(400);
    expect((await h.fetch(`${API}/links?count=device`)).status).toBe(400);
  });
});

describe("sort by what is no scalar field", () => {
  let h: Harness;
  beforeAll(async () => {
    h = await openHarness();
    const link = (src: number, srcPort: number, dst: number) =>
      ({
        op: "set",
        kind: "links",
        claim: { src: { device: deviceId(src), port: srcPort }, dst: { device: deviceId(dst), port: 1 } },
      }) as const;
    await h.apply([
      ...["c", "a", "b"].map((name, n) =>
        setDevice(n + 1, { annotations: { name, rack: name === "b" ? "1" : "2" } }),
      ),
      setDevice(4),
      link(2, 10, 1),
      link(2, 9, 3),
      link(1, 1, 2),
      host(1, "z", "10.0.0.1", 3),
      host(2, "y", "10.0.0.2", 1),
      host(3, "x", "10.0.0.3", 2),
    ]);
  });
  afterAll(() => h[Symbol.asyncDispose]());

  test.each([
    ["devices?sort=annotations.name", [4, 2, 3, 1]],
    ["devices?sort=-annotations.name", [1, 3, 2, 4]],
    ["devices?sort=annotations.rack,-annotations.name", [4, 3, 1, 2]],
    ["devices?sort=annotations.toString", [1, 2, 3, 4]],
    // The devices 1, 2 and 3 have the names c, a and b.
    ["links?sort=src", ["2/9", "2/10", "1/1"]],
    ["links?sort=-dst", ["2/10", "2/9", "1/1"]],
    ["hosts?sort=location", ["3", "1", "2"]],
    ["hosts?sort=-location&limit=2", ["2", "1"]],
    ["hosts?sort=annotations.name", ["3", "2", "1"]],
  ])("%s", async (path, expected) => {
    type Body = Record<
      "devices" | "links" | "hosts",
      readonly { id: string; src?: { device: string; port: string } }[]
    >;
    const body = await h.json<Partial<Body>>(`${API}/${path}`);
    const short = (id: string) => id.replace(/^(of:0*|00:00:00:00:00:0)/, "").replace("/None", "");
    const ids = [
      ...(body.devices ?? []).map(({ id }) => Number(short(id))),
      ...(body.links ?? []).map(({ src }) => `${short(src?.device ?? "")}/${src?.port}`),
      ...(body.hosts ?? []).map(({ id }) => short(id)),
    ];
    expect(ids).toEqual([...expected]);
  });

  test("an order by devices changes with a name, also for a client that has the list before", async () => {
    const path = `${API}/links?sort=src&fields=src`;
    const before = await h.fetch(path);
    const etag = before.headers.get("etag") ?? "";
    const body = await before.text();
    expect((await h.fetch(path, { headers: { "if-none-match": etag } })).status).toBe(304);
    await h.apply([setDevice(1, { annotations: { name: "0" } })]);
    const after = await h.fetch(path, { headers: { "if-none-match": etag } });
    expect(after.status).toBe(200);
    expect(await after.text()).not.toBe(body);
    await h.apply([setDevice(1, { annotations: { name: "c", rack: "2" } })]);
  });

  test("a fault lists what there is", async () => {
    const response = await h.fetch(`${API}/links?sort=source`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("src, dst, annotations.KEY");
  });
});
