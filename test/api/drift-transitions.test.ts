/** Random transitions between the states of drift: every read of the present, the past and the changes agrees. */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../support/property.ts";
import { EventReader } from "./events.ts";
import { openHarness, PROPERTY_TIMEOUT_MS } from "./harness.ts";
import {
  commitPlanned,
  type Entity,
  idOf,
  listOf,
  type Planned,
  plannedDevice,
  plannedHost,
  plannedPort,
  type Side,
} from "./planned-network.ts";

const SIDES: readonly (Side | "absent")[] = ["absent", "planned", "unplanned", "differs", "missing"];
const create = (n: number, side: Side): Planned =>
  n < 3 ? plannedDevice(`dev:${n}`, side) : plannedHost(`00:00:00:00:00:0${n}`, "dev:0", side);
const ENTITIES = 6;

test(
  "random transitions: lists, the past, differences, changes and streams agree with a list of the states",
  async () => {
    const step = fc.array(fc.tuple(fc.nat(ENTITIES - 1), fc.constantFrom(...SIDES)), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        await using harness = await openHarness();
        const stream = new EventReader(
          await harness.fetch("topology?drift=any", { headers: { accept: "text/event-stream" } }),
        );
        let sides: (Side | "absent")[] = Array(ENTITIES).fill("absent");
        const history = [sides];
        for (const changes of steps) {
          const next = [...sides];
          for (const [n, side] of changes) next[n] = side;
          const of = (all: readonly (Side | "absent")[]) =>
            all.flatMap((side, n) => (side === "absent" ? [] : [create(n, side)]));
          await commitPlanned(harness, of(next), of(sides));
          sides = next;
          if (harness.view.revision === history.length) history.push(sides);
        }
        // Ends the stream's last revision.
        await commitPlanned(harness, [plannedPort("dev:0", "9", "unplanned")]);
        history.push(sides);
        const expected = (all: readonly (Side | "absent")[], wanted: readonly string[]) =>
          all.flatMap((side, n) =>
            wanted.includes(side) ? [`${idOf(create(n, "planned").value as Entity)} ${side}`] : [],
          );
        const shown = (items: readonly Entity[]) =>
          items.map((item) => `${idOf(item)} ${item.drift?.state ?? "planned"}`);
        const DRIFTS = ["unplanned", "differs", "missing"];
        const read = async (query: string) => [
          ...(await listOf(harness, "devices", query)),
          ...(await listOf(harness, "hosts", query)),
        ];
        for (const [revision, all] of history.entries()) {
          expect(shown(await read(`?drift=any&at=${revision}`))).toEqual(expected(all, DRIFTS));
          expect(shown(await read(`?drift=missing&sort=-id&at=${revision}`)).sort()).toEqual(
            expected(all, ["missing"]).sort(),
          );
          expect(shown(await read(`?at=${revision}`))).toEqual(
            expected(all, ["planned", "unplanned", "differs"]),
          );
        }
        expect(shown(await read("?drift=any"))).toEqual(expected(sides, DRIFTS));
        const replay = (
          base: Map<string, Entity>,
          changes: { event: string; value: Entity; resource: string }[],
        ) => {
          for (const { event, value, resource } of changes) {
            if (resource === "ports") continue;
            const key = idOf(value);
            if (event === "added" || event === "snapshot") expect([key, base.has(key)]).toEqual([key, false]);
            else expect([key, base.has(key)]).toEqual([key, true]);
            if (event === "removed") base.delete(key);
            else base.set(key, value);
          }
          return shown([...base.values()]).sort();
        };
        const events = await stream.readToRevision(harness.view.revision);
        await stream.close();
        const streamed = events.flatMap(({ event, data }) =>
          event === "synced" ? [] : [{ event, value: data.value as Entity, resource: String(data.resource) }],
        );
        expect(replay(new Map(), streamed)).toEqual(expected(sides, DRIFTS).sort());
        for (const query of ["since=FROM", "since=FROM&fold=true", "diff=FROM.."]) {
          for (const [from, all] of history.entries()) {
            const base = new Map((await read(`?drift=any&at=${from}`)).map((item) => [idOf(item), item]));
            expect(shown([...base.values()])).toEqual(expected(all, DRIFTS));
            const { changes } = await harness.json<{
              changes: { event: string; value: Entity; resource: string }[];
            }>(`topology?drift=any&${query.replace("FROM", String(from))}`);
            expect(replay(base, changes)).toEqual(expected(sides, DRIFTS).sort());
          }
        }
      }),
      { numRuns: runs(12) },
    );
  },
  PROPERTY_TIMEOUT_MS,
);
