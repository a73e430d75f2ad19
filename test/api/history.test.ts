/** Parts 6 and 7 of the interface as properties: streams, `since`, `diff` and `at` agree with the lists. */

import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { KINDS } from "../../src/model/ids.ts";
import { snapshotNow } from "../support/claims.ts";
import { temporaryFolder } from "../support/folder.ts";
import { runs } from "../support/property.ts";
import { type ChangesBody, type DiffBody, idOf } from "./change-bodies.ts";
import { LocalCopy, openEventReader } from "./events.ts";
import { type Harness, openHarness, PROPERTY_TIMEOUT_MS } from "./harness.ts";
import { anyNetwork, anyStep, deviceId } from "./network.ts";
import { anyListQuery, type JsonEntity, type ListQuery, listPath, queryPath } from "./reference-query.ts";

const HISTORY = fc.tuple(anyNetwork, fc.array(anyStep, { minLength: 3, maxLength: 10 }));
type Lists = Record<string, JsonEntity[]>;

/** What has a stream: a filtered list (ports have none of their own), or a neighbourhood. */
const anyStream: fc.Arbitrary<{ resource: string; path: string }> = fc.oneof(
  anyListQuery
    .filter(({ list }) => list !== "ports")
    .map((query: ListQuery) => ({ resource: query.list, path: queryPath(query) })),
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
  "a client that lists, then reads the stream across reconnects, has the list of the service",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        HISTORY,
        anyStream,
        fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
        fc.constantFrom(1_000, 1_000_000),
        async ([first, steps], { resource, path }, breaks, ringBytes) => {
          await using h = await openHarness({ ringBytes });
          await h.apply(first.changes, first.source);
          fc.pre(await exists(h, path));
          const list = await h.fetch(path);
          const since = list.headers.get("gazetteer-revision") ?? "";
          const lists: Lists = await list.json();
          const copy = new LocalCopy();
          for (const value of lists[resource] ?? [])
            copy.apply({ event: "snapshot", id: "", data: { resource, value } });
          let events = await openEventReader(h, `${path}&since=${since}`);
          for (const [i, step] of steps.entries()) {
            await h.apply(step.changes, step.source);
            if (!breaks[i]) continue;
            // Read to the newest id: events after the last id are sent again after the reconnect.
            await h.clock.advance(15_000);
            for (const event of await events.readToRevision(h.view.revision)) copy.apply(event);
            const id = events.lastEventId;
            await events.close();
            const next = steps[i + 1];
            if (next) await h.apply(next.changes, next.source);
            events = await openEventReader(h, path, { "last-event-id": id });
          }
          await h.clock.advance(15_000);
          for (const event of await events.readToRevision(h.view.revision)) copy.apply(event);
          await events.close();
          const response = await h.fetch(path);
          const now: Lists = response.status === 200 ? await response.json() : {};
          expect(copy.list(resource)).toEqual(sortById(now[resource] ?? []));
        },
      ),
      { numRuns: runs(40) },
    );
  },
  PROPERTY_TIMEOUT_MS,
);

const sortById = (entities: readonly JsonEntity[]): JsonEntity[] =>
  entities.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));

test(
  "the changes since a revision, folded or not, turn the list of then into the current one",
  async () => {
    await fc.assert(
      fc.asyncProperty(HISTORY, anyListQuery, fc.nat(), async ([first, steps], query, from) => {
        await using h = await openHarness();
        const old: Lists[] = [{ [query.list]: [] }];
        for (const step of [first, ...steps]) {
          await h.apply(step.changes, step.source);
          if (old.length <= h.view.revision) old.push(await h.json<Lists>(queryPath(query)));
        }
        const since = from % old.length;
        const now = await h.json<Lists>(queryPath(query));
        for (const fold of ["false", "true"]) {
          const body = await h.json<ChangesBody & Record<string, unknown>>(
            queryPath(query, { since: String(since), fold }),
          );
          expect(body.revision).toBe(h.view.revision);
          const copy = new LocalCopy();
          for (const value of old[since]?.[query.list] ?? [])
            copy.apply({ event: "snapshot", id: "", data: { resource: query.list, value } });
          for (const { event, ...data } of body.changes) copy.apply({ event, id: "", data });
          expect(copy.list(query.list)).toEqual(sortById(now[query.list] ?? []));
          const revisions = body.changes.map(({ revision }) => revision);
          expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
          for (const { revision } of body.changes) expect(revision).toBeGreaterThan(since);
          const ids = body.changes.map(({ value }) => idOf(value));
          if (fold === "true") expect(new Set(ids).size).toBe(ids.length);
        }
      }),
      { numRuns: runs(40) },
    );
  },
  PROPERTY_TIMEOUT_MS,
);

/** Reads of every sort: lists, items, formats, queries. */
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
/** Each response as text. The body of a problem is left out: it contains the id of the request. */
async function readAll(h: Harness, at?: string): Promise<string[]> {
  const responses: string[] = [];
  for (const path of READS) {
    const response = await h.fetch(
      at === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}at=${at}`,
    );
    const body = response.status === 200 ? await response.text() : "";
    responses.push(`${path} ${response.status} ${response.headers.get("gazetteer-revision")}\n${body}`);
  }
  return responses;
}

test(
  "at any kept revision or its time, a response has the same bytes as then, before and after a restart",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        HISTORY,
        fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
        async ([first, steps], snapshots) => {
          const data = join(temporaryFolder(), "log.sqlite");
          let h = await openHarness({ data });
          const recorded = new Map<number, { responses: string[]; time: number }>();
          for (const [i, step] of [first, ...steps].entries()) {
            await h.apply(step.changes, step.source);
            if (recorded.has(h.view.revision)) continue;
            recorded.set(h.view.revision, { responses: await readAll(h), time: h.clock.now() });
            if (snapshots[i]) await h.log.writeSnapshot(snapshotNow(h.view));
          }
          const check = async () => {
            for (const [revision, { responses, time }] of recorded) {
              expect(await readAll(h, String(revision))).toEqual(responses);
              expect(await readAll(h, new Date(time + 999).toISOString())).toEqual(responses);
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
      { numRuns: runs(8) },
    );
  },
  PROPERTY_TIMEOUT_MS,
);

test(
  "diff lists what differs between two revisions, by resource and id",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        HISTORY,
        anyStream,
        fc.nat(),
        fc.nat(),
        async ([first, steps], { resource, path }, x, y) => {
          await using h = await openHarness();
          for (const step of [first, ...steps]) await h.apply(step.changes, step.source);
          const [from, to] = [x % (h.view.revision + 1), y % (h.view.revision + 1)];
          const listAt = async (at: number): Promise<JsonEntity[] | undefined> => {
            const response = await h.fetch(`${path}&at=${at}`);
            return response.status === 200 ? ((await response.json())[resource] ?? []) : undefined;
          };
          const [before, after] = [await listAt(from), await listAt(to)];
          const response = await h.fetch(`${path}&diff=${from}..${to}`);
          if (!before && !after) {
            expect(response.status).toBe(400);
            return;
          }
          const diff: DiffBody = await response.json();
          expect([diff.from.revision, diff.to.revision]).toEqual([from, to]);
          expect(diff.changes).toEqual(referenceDiff(resource, before ?? [], after ?? []));
        },
      ),
      { numRuns: runs(40) },
    );
  },
  PROPERTY_TIMEOUT_MS,
);

function referenceDiff(
  resource: string,
  before: readonly JsonEntity[],
  after: readonly JsonEntity[],
): DiffBody["changes"] {
  const [olds, values] = [before, after].map((list) => new Map(list.map((entity) => [idOf(entity), entity])));
  const ids = [...new Set([...(olds?.keys() ?? []), ...(values?.keys() ?? [])])].sort();
  return ids.flatMap((id) => {
    const [old, value] = [olds?.get(id), values?.get(id)];
    if (!value) return old ? [{ event: "removed", resource, value: old }] : [];
    if (!old) return [{ event: "added", resource, value }];
    const names = [...new Set([...Object.keys(value), ...Object.keys(old)])];
    const changed = names.filter(
      (name) => name !== "revision" && name !== "lastChanged" && !Bun.deepEquals(old[name], value[name]),
    );
    return changed.length === 0 ? [] : [{ event: "updated", resource, value, before: old, changed }];
  });
}
