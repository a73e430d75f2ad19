/** Parts 6 and 7 of the interface as properties: following, deltas, differences and the past all tell one story. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { silentLogger } from "../../src/lib/logger.ts";
import { KINDS } from "../../src/model/ids.ts";
import { Compactor } from "../../src/view/compactor.ts";
import { temporaryFolder } from "../support/folder.ts";
import { Mirror, openEvents } from "./events.ts";
import { type Harness, openHarness, PROPERTY_MS } from "./harness.ts";
import { aNetwork, aStep, deviceId, SAMPLE } from "./network.ts";
import { type Asked, address, anyQuestions, listPath, type Thing } from "./reference-query.ts";

const HISTORY = fc.tuple(aNetwork, fc.array(aStep, { minLength: 3, maxLength: 10 }));
type Lists = Record<string, Thing[]>;

/** What may be followed: a filtered list (ports have no stream of their own), or a neighbourhood. */
const followed: fc.Arbitrary<{ resource: string; path: string }> = fc.oneof(
  anyQuestions
    .filter(({ list }) => list !== "ports")
    .map((asked: Asked) => ({ resource: asked.list, path: address(asked) })),
  fc
    .tuple(
      fc.constantFrom("devices", "links", "hosts"),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 2 }),
    )
    .map(([resource, n, hops]) => ({ resource, path: `${resource}?around=${deviceId(n)}&hops=${hops}` })),
);

const exists = async (h: Harness, path: string): Promise<boolean> => (await h.fetch(path)).status === 200;

test(
  "who lists, then follows, through broken connections, has what the service has",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        HISTORY,
        followed,
        fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
        fc.constantFrom(1_000, 1_000_000),
        async ([first, steps], { resource, path }, breaks, ringBytes) => {
          await using h = await openHarness({ ringBytes });
          await h.apply(first.changes, first.source);
          fc.pre(await exists(h, path));
          const list = await h.fetch(path);
          const since = list.headers.get("gazetteer-revision") ?? "";
          const lists: Lists = await list.json();
          const mirror = new Mirror();
          for (const value of lists[resource] ?? [])
            mirror.take({ event: "snapshot", id: "", data: { resource, value } });
          let events = await openEvents(h, `${path}&since=${since}`);
          for (const [i, step] of steps.entries()) {
            await h.apply(step.changes, step.source);
            if (!breaks[i]) continue;
            // What was heard up to the last id counts; what came after it would come again.
            await h.clock.advance(15_000);
            for (const told of await events.reach(h.view.revision)) mirror.take(told);
            const id = events.lastEventId;
            await events.close();
            const next = steps[i + 1];
            if (next) await h.apply(next.changes, next.source);
            events = await openEvents(h, path, { "last-event-id": id });
          }
          await h.clock.advance(15_000);
          for (const told of await events.reach(h.view.revision)) mirror.take(told);
          await events.close();
          const response = await h.fetch(path);
          const now: Lists = response.status === 200 ? await response.json() : {};
          expect(mirror.of(resource)).toEqual(sorted(now[resource] ?? []));
        },
      ),
      { numRuns: 40 },
    );
  },
  PROPERTY_MS,
);

const keyOf = (thing: Thing): string => String(thing.id ?? `${thing.element}/${thing.port}`);
const sorted = (things: readonly Thing[]): Thing[] =>
  things.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

interface Delta {
  readonly changes: readonly {
    event: string;
    resource: string;
    revision: number;
    time: number;
    value: Thing;
    changed?: string[];
  }[];
  readonly revision: number;
}

test(
  "deltas, folded or not, carry any old list to the new one",
  async () => {
    await fc.assert(
      fc.asyncProperty(HISTORY, anyQuestions, fc.nat(), async ([first, steps], asked, from) => {
        await using h = await openHarness();
        const old: Lists[] = [{ [asked.list]: [] }];
        for (const step of [first, ...steps]) {
          await h.apply(step.changes, step.source);
          if (old.length <= h.view.revision) old.push(await h.json<Lists>(address(asked)));
        }
        const since = from % old.length;
        const now = await h.json<Lists>(address(asked));
        for (const fold of ["false", "true"]) {
          const delta = await h.json<Delta & Record<string, unknown>>(
            address(asked, { since: String(since), fold }),
          );
          expect(delta.revision).toBe(h.view.revision);
          const mirror = new Mirror();
          for (const value of old[since]?.[asked.list] ?? [])
            mirror.take({ event: "snapshot", id: "", data: { resource: asked.list, value } });
          for (const { event, ...data } of delta.changes) mirror.take({ event, id: "", data });
          expect(mirror.of(asked.list)).toEqual(sorted(now[asked.list] ?? []));
          const revisions = delta.changes.map(({ revision }) => revision);
          expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
          for (const { revision } of delta.changes) expect(revision).toBeGreaterThan(since);
          const things = delta.changes.map(({ value }) => keyOf(value));
          if (fold === "true") expect(new Set(things).size).toBe(things.length);
        }
      }),
      { numRuns: 40 },
    );
  },
  PROPERTY_MS,
);

/** Reads whose past must be what they were: lists, items, formats, queries. */
const READS = [
  ...KINDS.map((kind) => listPath(kind)),
  "topology",
  "topology/clusters",
  "topology/clusters/0",
  "topology/clusters/0/devices",
  "topology/clusters/0/links",
  `devices/${deviceId(1)}`,
  `devices/${deviceId(2)}/ports`,
  "devices?format=csv",
  "links?format=ndjson",
  "hosts?format=prometheus",
  "topology?format=netjson",
  "topology?format=rfc8345",
  "topology?format=graphml",
  "topology?format=dot",
  "topology?format=svg",
  "devices?available=true&sort=-lastChanged&fields=id,type",
  "hosts?ip=10.0.0.0/8",
  `links?around=${deviceId(1)}`,
  `topology?around=${deviceId(1)}&hops=2`,
  "hosts?q=10.0",
];
/** Two of them must differ only in the revision of the answer, so bodies that are refused are compared as refusals. */
async function answers(h: Harness, at?: string): Promise<string[]> {
  const all: string[] = [];
  for (const path of READS) {
    const response = await h.fetch(
      at === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}at=${at}`,
    );
    const body = response.status === 200 ? await response.text() : "";
    all.push(`${path} ${response.status} ${response.headers.get("gazetteer-revision")}\n${body}`);
  }
  return all;
}

test(
  "for any kept revision, and its moment, the answer is byte for byte what it was, before and after a restart",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        HISTORY,
        fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
        async ([first, steps], snapshots) => {
          const data = join(temporaryFolder(), "log.sqlite");
          let h = await openHarness({ data });
          const then = new Map<number, { answers: string[]; time: number }>();
          for (const [i, step] of [first, ...steps].entries()) {
            await h.apply(step.changes, step.source);
            if (then.has(h.view.revision)) continue;
            then.set(h.view.revision, { answers: await answers(h), time: h.clock.now() });
            if (snapshots[i]) await h.log.writeSnapshot(h.view.snapshot(), async () => {});
          }
          const check = async () => {
            for (const [revision, was] of then) {
              expect(await answers(h, String(revision))).toEqual(was.answers);
              expect(await answers(h, new Date(was.time + 999).toISOString())).toEqual(was.answers);
            }
          };
          await check();
          const { clock } = h;
          await h.stop();
          h = await openHarness({ data, clock });
          await check();
          await h.stop();
        },
      ),
      { numRuns: 8 },
    );
  },
  PROPERTY_MS,
);

interface Diff {
  readonly from: { revision: number; time: number };
  readonly to: { revision: number; time: number };
  readonly changes: readonly {
    event: string;
    resource: string;
    value: Thing;
    before?: Thing;
    changed?: string[];
  }[];
}

test(
  "a difference is what differs between two moments, by resource and id",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        HISTORY,
        followed,
        fc.nat(),
        fc.nat(),
        async ([first, steps], { resource, path }, x, y) => {
          await using h = await openHarness();
          for (const step of [first, ...steps]) await h.apply(step.changes, step.source);
          const [from, to] = [x % (h.view.revision + 1), y % (h.view.revision + 1)];
          const listAt = async (at: number): Promise<Thing[] | undefined> => {
            const response = await h.fetch(`${path}&at=${at}`);
            return response.status === 200 ? ((await response.json())[resource] ?? []) : undefined;
          };
          const [before, after] = [await listAt(from), await listAt(to)];
          const response = await h.fetch(`${path}&diff=${from}..${to}`);
          if (!before && !after) {
            expect(response.status).toBe(400);
            return;
          }
          const diff: Diff = await response.json();
          expect([diff.from.revision, diff.to.revision]).toEqual([from, to]);
          expect(diff.changes).toEqual(plainDiff(resource, before ?? [], after ?? []));
        },
      ),
      { numRuns: 40 },
    );
  },
  PROPERTY_MS,
);

function plainDiff(resource: string, before: readonly Thing[], after: readonly Thing[]): Diff["changes"] {
  const [was, is] = [before, after].map((list) => new Map(list.map((thing) => [keyOf(thing), thing])));
  const ids = [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])].sort();
  return ids.flatMap((id) => {
    const [old, value] = [was?.get(id), is?.get(id)];
    if (!value) return old ? [{ event: "removed", resource, value: old }] : [];
    if (!old) return [{ event: "added", resource, value }];
    const names = [...new Set([...Object.keys(old), ...Object.keys(value)])];
    const changed = names.filter(
      (name) => name !== "revision" && name !== "lastChanged" && !Bun.deepEquals(old[name], value[name]),
    );
    return changed.length === 0 ? [] : [{ event: "updated", resource, value, before: old, changed }];
  });
}

describe("a history one knows", () => {
  const device = (n: number, more: object = {}) =>
    ({ op: "set", kind: "devices", claim: { id: deviceId(n), ...more } }) as const;

  test("diff by times, to now, and of everything on the topology", async () => {
    await using h = await openHarness();
    await h.replace(SAMPLE);
    const before = new Date(h.clock.now()).toISOString();
    await h.apply([device(3, { available: false })]);
    await h.apply([{ op: "remove", kind: "ports", id: `${deviceId(2)}/1` }]);
    const diff = await h.json<Diff & Record<string, unknown>>(`topology?diff=${before}..`);
    expect(diff.from).toEqual({ revision: 1, time: 1794704401000 });
    expect(diff.to).toEqual({ revision: 3, time: 1794704403000 });
    expect(diff.changes.map(({ event, resource, value }) => [event, resource, keyOf(value)])).toEqual([
      ["updated", "devices", deviceId(3)],
      ["removed", "ports", `${deviceId(2)}/1`],
    ]);
    expect(await h.json(`links?diff=${before}..`)).toMatchObject({ changes: [] });
    const back = await h.json<Diff & Record<string, unknown>>("topology?diff=3..1");
    expect(back.changes.map(({ event }) => event)).toEqual(["updated", "added"]);
  });

  test("what changed and changed back does not differ", async () => {
    await using h = await openHarness();
    await h.apply([device(1, { sw: "1" }), device(2, { sw: "1" })]);
    await h.apply([device(1, { sw: "2" }), device(2, { sw: "2" })]);
    await h.apply([device(1, { sw: "1" })]);
    const { changes } = await h.json<Diff & Record<string, unknown>>("devices?diff=1..3");
    expect(changes.map(({ event, value, changed }) => [event, keyOf(value), changed])).toEqual([
      ["updated", deviceId(2), ["sw"]],
    ]);
  });

  test("fold: added and removed cancel, changed and changed back is one update", async () => {
    await using h = await openHarness();
    await h.apply([device(1)]);
    await h.apply([device(2)]);
    await h.apply([device(1, { sw: "2" })]);
    await h.apply([{ op: "remove", kind: "devices", id: deviceId(2) }]);
    await h.apply([device(1, { sw: "3" })]);
    const plain = await h.json<Delta & Record<string, unknown>>("devices?since=1");
    expect(plain.changes.map(({ event, revision }) => `${event} ${revision}`)).toEqual([
      "added 2",
      "updated 3",
      "removed 4",
      "updated 5",
    ]);
    expect(await h.json("devices?since=1&fold=true")).toEqual({
      changes: [
        {
          event: "updated",
          resource: "devices",
          revision: 5,
          time: 1794704405000,
          value: JSON.parse(h.view.get("devices", deviceId(1)) ?? ""),
          changed: ["sw"],
        },
      ],
      revision: 5,
    });
    expect(await h.json("topology?since=5")).toEqual({ changes: [], revision: 5 });
  });

  test("the time line counts changes in equal spans", async () => {
    await using h = await openHarness();
    for (let n = 1; n <= 10; n++) await h.apply([device(n)]);
    const start = 1794704401000;
    expect(await h.json("topology?timeline=10")).toEqual({
      from: start,
      to: start + 9001,
      counts: Array(10).fill(1),
      oldest: { revision: 0, time: start },
      newest: { revision: 10, time: start + 9000 },
    });
    const span = "from=2026-11-15T01:00:03Z&to=2026-11-15T01:00:06Z";
    expect(await h.json(`topology?timeline=1&${span}`)).toMatchObject({ counts: [3] });
    expect(await h.json("topology?timeline=1000")).toMatchObject({ newest: { revision: 10 } });
  });

  test("what was forgotten is a 410 that names the oldest there is, for every kind of question", async () => {
    await using h = await openHarness();
    for (let n = 1; n <= 4; n++) await h.apply([device(n)]);
    const keeper = new Compactor(h.view, h.log, h.clock, silentLogger, {
      retentionMs: 0,
      maxBytes: 1e12,
      snapshotAfterChanges: 1,
    });
    await keeper.compact();
    await h.apply([device(5)]);
    await keeper.compact();
    const { oldest } = h.log.stats();
    expect(oldest).toBeGreaterThan(2);
    for (const path of [
      "devices?at=2",
      "devices?at=2026-11-15T01:00:01Z",
      `devices/${deviceId(1)}?at=1`,
      "topology?at=2",
      "topology/clusters?at=2",
      "devices?since=2",
      "devices?diff=2..",
      "topology?diff=1..2",
    ]) {
      const response = await h.fetch(path);
      expect([path, response.status]).toEqual([path, 410]);
      const { type, detail } = await response.json();
      expect(type).toBe("/docs/errors#revision-expired");
      expect(detail).toContain(`revision ${oldest}, 2026-11-15T01:00:`);
    }
    expect((await h.fetch(`devices?at=${oldest}`)).status).toBe(200);
    expect((await h.fetch(`devices?since=${oldest}`)).status).toBe(200);
  });

  test("a moment before anything was known is empty; one to come is now", async () => {
    await using h = await openHarness();
    await h.apply([device(1)]);
    expect(await h.json("devices?at=0")).toEqual({ devices: [] });
    expect(await h.json("devices?at=2020-01-01T00:00:00Z")).toEqual({ devices: [] });
    expect(await h.json("devices?at=2999-01-01t00:00:00z")).toEqual(await h.json("devices"));
    expect(await h.json("devices?at=2026-11-15T02:00:01%2B01:00")).toEqual(await h.json("devices"));
  });

  test("the revision that is told is the one that was asked for, however often", async () => {
    await using h = await openHarness();
    await h.apply([device(1)]);
    const told = async () => (await h.fetch("devices?at=1")).headers.get("gazetteer-revision");
    expect(await told()).toBe("1");
    await h.apply([{ op: "set", kind: "ports", claim: { element: deviceId(1), port: 1 } }]);
    expect(await told()).toBe("1");
    expect((await h.fetch("devices")).headers.get("gazetteer-revision")).toBe("2");
  });
});
