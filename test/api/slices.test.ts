/**
 * A read is of one revision, however many slices it takes: its bytes, entity tag and revision are those of the same read at
 * once, although the network changes between its steps.
 */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { Scheduler } from "../../src/lib/scheduler.ts";
import { COUNTS_CASES, runs } from "../support/property.ts";
import { type Harness, openHarness, PROPERTY_TIMEOUT_MS } from "./harness.ts";
import { anyNetwork, anyStep, deviceId, type Step, setDevice } from "./network.ts";
import { anyListQuery, queryPath } from "./reference-query.ts";

/** A scheduler that runs everything at once or, when `onTurn` is set, one step a turn, with `onTurn` before it. */
function createScheduler() {
  const mode: { onTurn: (() => Promise<void>) | undefined; turns: number } = { onTurn: undefined, turns: 0 };
  let now = 0;
  const scheduler = new Scheduler({
    now: () => {
      if (mode.onTurn) now += 10;
      return now;
    },
    nextTurn: (callback) => {
      mode.turns++;
      if (mode.onTurn) mode.onTurn().then(callback);
      else setImmediate(callback);
    },
  });
  return { scheduler, mode };
}

async function read(h: Harness, path: string) {
  const response = await h.fetch(path);
  const { headers, status } = response;
  return {
    status,
    etag: headers.get("etag"),
    revision: headers.get("gazetteer-revision"),
    link: headers.get("link"),
    // The instance of a problem is the id of its request.
    body: (await response.text()).replace(/urn:uuid:[0-9a-f-]+/, ""),
  };
}

const FIXED_QUERIES = [
  "devices",
  "devices?limit=150",
  "hosts?limit=2",
  "hosts?sort=-mac,vlan",
  "devices?sort=-id&limit=3",
  "devices?q=of",
  "hosts?format=csv",
  "hosts?format=ndjson&fields=mac",
  "devices?format=prometheus",
  `hosts?around=${deviceId(1)}&hops=3`,
  `topology?around=${deviceId(1)}&hops=3`,
  "topology",
  "topology?format=graphml",
  "topology?format=rfc8345",
  "topology?format=netjson",
  "topology?format=dot",
  "topology?diff=1..",
  "topology?since=1",
  "devices?since=1&fold=true",
  `topology?since=1&around=${deviceId(1)}`,
  "devices?at=1",
  "hosts?count=device",
  "hosts?count=device&q=0",
  "topology/search?q=of",
  "topology/search?q=0&limit=100",
  "hosts?sort=location,-annotations.name",
  "links?sort=-src,dst",
  "topology/clusters",
  "topology/clusters/0/devices",
  `devices/${deviceId(1)}/ports`,
  `paths/${deviceId(1)}/${deviceId(2)}`,
  `paths/${deviceId(1)}/${deviceId(2)}/disjoint`,
  "/onos/v1/devices",
  "/onos/v1/topology",
];

const MAX_CHANGES = 5;

/** Enough devices for several pages. */
const MANY_DEVICES = Array.from({ length: 300 }, (_, n) => setDevice(100 + n));

test(
  "any read in slices, with changes between them, equals the same read at once",
  async () => {
    let turns = 0;
    await fc.assert(
      fc.asyncProperty(
        anyNetwork,
        fc.array(anyStep, { minLength: 2, maxLength: 6 }),
        fc.array(anyListQuery, { minLength: 10, maxLength: 10 }),
        async (first, steps, queries) => {
          const { scheduler, mode } = createScheduler();
          await using h = await openHarness({ scheduler, aliases: ["onos"] });
          const apply = ({ changes, source }: Step) => h.apply(changes, source);
          await apply(first);
          await h.apply(MANY_DEVICES);
          let next = 0;
          const change = async () => {
            // So many are enough, and each makes the history longer.
            if (mode.turns > MAX_CHANGES) return;
            const step = steps[next++ % steps.length];
            if (step) await apply(step);
            await h.apply([setDevice(100 + (next % 300), { mfr: `changed ${next}` })]);
          };
          for (const path of [...FIXED_QUERIES, ...queries.map((query) => queryPath(query))]) {
            const atOnce = await read(h, path);
            mode.turns = 0;
            let changed = Promise.resolve();
            mode.onTurn = () => {
              changed = changed.then(change);
              return changed;
            };
            const inSlices = await read(h, path);
            mode.onTurn = undefined;
            await changed;
            turns += mode.turns;
            expect({ path, ...inSlices }).toEqual({ path, ...atOnce });
          }
        },
      ),
      { numRuns: runs(3) },
    );
    if (COUNTS_CASES) expect(turns).toBeGreaterThan(300);
  },
  PROPERTY_TIMEOUT_MS,
);
