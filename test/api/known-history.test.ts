/** `at`, `since` and `diff` over a history whose every revision is known, also after it is pruned. */
import { describe, expect, test } from "bun:test";
import { silentLogger } from "../../src/lib/logger.ts";
import { Compactor } from "../../src/view/compactor.ts";
import { type ChangesBody, type DiffBody, idOf } from "./change-bodies.ts";
import { openHarness } from "./harness.ts";
import { deviceId, SAMPLE } from "./network.ts";

describe("a known history", () => {
  const device = (n: number, more: object = {}) =>
    ({ op: "set", kind: "devices", claim: { id: deviceId(n), ...more } }) as const;

  test("diff from a time to now; on the topology it covers all resources", async () => {
    await using h = await openHarness();
    await h.replace(SAMPLE);
    const before = new Date(h.clock.now()).toISOString();
    await h.apply([device(3, { available: false })]);
    await h.apply([{ op: "remove", kind: "ports", id: `${deviceId(2)}/1` }]);
    const diff = await h.json<DiffBody & Record<string, unknown>>(`topology?diff=${before}..`);
    expect(diff.from).toEqual({ revision: 1, time: 1794704401000 });
    expect(diff.to).toEqual({ revision: 3, time: 1794704403000 });
    expect(diff.changes.map(({ event, resource, value }) => [event, resource, idOf(value)])).toEqual([
      ["updated", "devices", deviceId(3)],
      ["removed", "ports", `${deviceId(2)}/1`],
    ]);
    expect(await h.json(`links?diff=${before}..`)).toMatchObject({ changes: [] });
    const back = await h.json<DiffBody & Record<string, unknown>>("topology?diff=3..1");
    expect(back.changes.map(({ event }) => event)).toEqual(["updated", "added"]);
  });

  test("an entity that changed and changed back is not in the diff", async () => {
    await using h = await openHarness();
    await h.apply([device(1, { sw: "1" }), device(2, { sw: "1" })]);
    await h.apply([device(1, { sw: "2" }), device(2, { sw: "2" })]);
    await h.apply([device(1, { sw: "1" })]);
    const { changes } = await h.json<DiffBody & Record<string, unknown>>("devices?diff=1..3");
    expect(changes.map(({ event, value, changed }) => [event, idOf(value), changed])).toEqual([
      ["updated", deviceId(2), ["sw"]],
    ]);
  });

  test("fold: an entity that was added and removed is left out, several updates are one", async () => {
    await using h = await openHarness();
    await h.apply([device(1)]);
    await h.apply([device(2)]);
    await h.apply([device(1, { sw: "2" })]);
    await h.apply([{ op: "remove", kind: "devices", id: deviceId(2) }]);
    await h.apply([device(1, { sw: "3" })]);
    const plain = await h.json<ChangesBody & Record<string, unknown>>("devices?since=1");
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

  test("timeline counts changes in equal spans of time", async () => {
    await using h = await openHarness();
    for (let n = 1; n <= 10; n++) await h.apply([device(n)]);
    const start = 1794704401000;
    expect(await h.json("topology?timeline=10")).toEqual({
      from: start,
      to: start + 9001,
      counts: Array(10).fill(1),
      faults: Array(10).fill(0),
      recoveries: Array(10).fill(0),
      oldest: { revision: 0, time: start },
      // No source has reported a whole network: it is still being loaded.
      loaded: { revision: 10, time: start + 9000 },
      newest: { revision: 10, time: start + 9000 },
    });
    const span = "from=2026-11-15T01:00:03Z&to=2026-11-15T01:00:06Z";
    expect(await h.json(`topology?timeline=1&${span}`)).toMatchObject({ counts: [3] });
    expect(await h.json("topology?timeline=1000")).toMatchObject({ newest: { revision: 10 } });
    await h.apply([device(1, { available: false }), { op: "remove", kind: "devices", id: deviceId(2) }]);
    await h.apply([device(1, { available: true }), device(2), device(11)]);
    const later = `timeline=2&from=2026-11-15T01:00:11Z&to=2026-11-15T01:00:13Z`;
    expect(await h.json(`topology?${later}`)).toMatchObject({
      counts: [2, 3],
      faults: [2, 0],
      recoveries: [0, 2],
    });
  });

  test("a state that is no longer kept is a 410 that names the oldest kept revision, on every read", async () => {
    await using h = await openHarness();
    for (let n = 1; n <= 4; n++) await h.apply([device(n)]);
    const compactor = new Compactor(h.view, h.log, h.clock, silentLogger, {
      retentionMs: 0,
      maxBytes: 1e12,
      snapshotAfterChanges: 1,
    });
    await compactor.compact();
    await h.apply([device(5)]);
    await compactor.compact();
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

  test("a time before the first revision is a 410 that names it, although history was never cut", async () => {
    await using h = await openHarness();
    await h.apply([device(1)]);
    await h.apply([device(2)]);
    for (const path of [
      "devices?at=2020-01-01T00:00:00Z",
      "devices?at=2026-11-15T01:00:00.999Z",
      "topology?at=1960-01-01T00:00:00Z",
      `devices/${deviceId(1)}?at=2020-01-01T00:00:00Z`,
      "topology?diff=2020-01-01T00:00:00Z..",
      "devices?diff=1..2020-01-01T00:00:00Z",
    ]) {
      const response = await h.fetch(path);
      const { type, detail } = await response.json();
      expect([path, response.status, type]).toEqual([path, 410, "/docs/errors#revision-expired"]);
      expect(detail).toContain("revision 1, 2026-11-15T01:00:01.000Z");
    }
    expect(await h.json("devices?at=2026-11-15T01:00:01Z")).toEqual(await h.json("devices?at=1"));
  });

  test("revision 0, the empty network, is kept until history is cut", async () => {
    await using h = await openHarness();
    await h.apply([device(1)]);
    expect(await h.json("devices?at=0")).toEqual({ devices: [] });
    expect(await h.json("devices?since=0")).toMatchObject({ changes: [{ event: "added", revision: 1 }] });
    expect(await h.json("topology?diff=0..")).toMatchObject({ changes: [{ event: "added" }] });
  });

  test("a time is the current state while there is no revision, and when it is in the future", async () => {
    await using h = await openHarness();
    expect(await h.json("devices?at=2020-01-01T00:00:00Z")).toEqual({ devices: [] });
    await h.apply([device(1)]);
    expect(await h.json("devices?at=2999-01-01t00:00:00z")).toEqual(await h.json("devices"));
    expect(await h.json("devices?at=2026-11-15T02:00:01%2B01:00")).toEqual(await h.json("devices"));
  });

  test("Gazetteer-Revision is the revision in `at`, also after later changes", async () => {
    await using h = await openHarness();
    await h.apply([device(1)]);
    const revisionAt1 = async () => (await h.fetch("devices?at=1")).headers.get("gazetteer-revision");
    expect(await revisionAt1()).toBe("1");
    await h.apply([{ op: "set", kind: "ports", claim: { element: deviceId(1), port: 1 } }]);
    expect(await revisionAt1()).toBe("1");
    expect((await h.fetch("devices")).headers.get("gazetteer-revision")).toBe("2");
  });
});
