/** The search for the incident before or after a moment: groups of alarms, both ends of the history, limited searches. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { runToEnd } from "../../src/lib/steps.ts";
import type { ClaimChange } from "../../src/model/claim.ts";
import type { IncidentSearch } from "../../src/model/incident.ts";
import { findIncident } from "../../src/query/incidents.ts";
import { API, type Harness, openHarness } from "./harness.ts";
import { deviceId, setDevice } from "./network.ts";

const link = (state: "ACTIVE" | "INACTIVE"): ClaimChange => ({
  op: "set",
  kind: "links",
  claim: { src: { device: deviceId(1), port: 1 }, dst: { device: deviceId(2), port: 1 }, state },
});
const down = (n: number) => setDevice(n, { available: false });
const up = (n: number) => setDevice(n, { available: true });
const LINK_ID = `${deviceId(1)}/1-${deviceId(2)}/1`;

let h: Harness;
const revisions: Record<string, number> = {};

/** Each step is a second after the one before. */
beforeAll(async () => {
  h = await openHarness();
  const step = async (name: string, changes: ClaimChange[], afterMs = 0) => {
    await h.clock.advance(afterMs);
    await h.apply(changes);
    revisions[name] = h.view.revision;
  };
  await step("start", [up(1), up(2), up(3), link("ACTIVE")]);
  await step("flapDown", [down(1)], 60_000);
  await step("flapUp", [up(1)]);
  await step("quiet", [setDevice(3, { mfr: "x" })], 30_000);
  await step("linkDown", [link("INACTIVE")], 30_000);
  await step("between", [setDevice(3, { mfr: "y" })]);
  await step("deviceDown", [down(2)], 5000);
  await step("repaired", [up(2), link("ACTIVE")], 60_000);
  await step("removed", [{ op: "remove", kind: "devices", id: deviceId(3) }], 60_000);
  await step("later", [setDevice(4)], 60_000);
});
afterAll(() => h[Symbol.asyncDispose]());

const search = (direction: string, at?: number | string) =>
  h.json<IncidentSearch>(`${API}/topology?incident=${direction}${at === undefined ? "" : `&at=${at}`}`);
const found = async (direction: string, at?: number | string) => (await search(direction, at)).incident;

test("incidents are found one after the other, in both directions", async () => {
  const last = await found("previous");
  expect(last).toMatchObject({ to: { revision: revisions.removed }, alarmCount: 1 });
  expect(last?.alarms).toEqual([{ resource: "devices", id: deviceId(3), event: "removed" }]);

  const middle = await found("previous", last?.to.revision);
  expect([middle?.from.revision, middle?.to.revision]).toEqual([revisions.linkDown, revisions.deviceDown]);
  expect(middle?.alarms).toEqual([
    { resource: "links", id: LINK_ID, cable: LINK_ID, event: "inactive" },
    { resource: "devices", id: deviceId(2), event: "unavailable" },
  ]);

  const first = await found("previous", middle?.to.revision);
  expect(first).toMatchObject({
    from: { revision: revisions.flapDown },
    to: { revision: revisions.flapDown },
  });

  expect(await found("next", revisions.start)).toEqual(first);
  expect(await found("next", first?.to.revision)).toEqual(middle);
  expect(await found("next", middle?.to.revision)).toEqual(last);
});

test("a time is accepted, and both ends of the history are stated", async () => {
  const time = new Date(h.history.timeOf(revisions.quiet ?? 0)).toISOString();
  expect((await found("next", time))?.from.revision).toBe(revisions.linkDown);
  expect(await search("next", revisions.later)).toMatchObject({
    searched: { revision: revisions.later },
    complete: true,
  });
  expect(await search("previous", revisions.start)).toMatchObject({ complete: true });
  expect((await search("previous", revisions.start)).incident).toBeUndefined();
});

test("the representation has its own media type, and a wrong direction or combination is a 400", async () => {
  const response = await h.fetch(`${API}/topology?incident=previous`);
  expect(response.headers.get("content-type")).toBe("application/vnd.gazetteer.incident+json");
  for (const query of ["incident=last", "incident=next&timeline=3", "incident=next&since=1"])
    expect((await h.fetch(`${API}/topology?${query}`)).status).toBe(400);
});

test("a limited search states where it stopped, and continues there", () => {
  for (const [direction, start] of [
    ["previous", revisions.linkDown ?? 0],
    ["next", revisions.flapDown ?? 0],
  ] as const) {
    let at = start;
    let result: IncidentSearch;
    let searches = 0;
    do {
      result = runToEnd(findIncident(h.history, direction, at, { maxBatches: 2, chunkBatches: 1 }));
      at = result.searched.revision;
    } while (!result.incident && !result.complete && ++searches < 20);
    const expected = direction === "previous" ? revisions.flapDown : revisions.linkDown;
    expect(result.incident?.from.revision).toBe(expected);
    expect(searches).toBeGreaterThan(0);
  }
});
