import { describe, expect, test } from "bun:test";
import { ClaimedNetwork } from "../../test/support/claims.ts";
import type { Batch } from "../log/log.ts";
import { KINDS } from "../model/ids.ts";
import { createReplicaLog, HistoryNotInReplica, Replica } from "./replica.ts";
import { topologyOf, type View } from "./view.ts";

const RING = 1_000_000;

/** Everything that answers are made of. */
function shown(view: View) {
  const { claims: _, ...marks } = view.versions;
  const values = KINDS.map((kind) =>
    view.pages(kind).flatMap((page) => page.ids.map((id, i) => [kind, id, page.value(i)])),
  );
  return { revision: view.revision, topology: topologyOf(view), marks, values };
}

function tellAll(replica: Replica, view: View): void {
  for (const kind of KINDS) {
    for (const page of view.pages(kind)) {
      for (const [i, id] of page.ids.entries()) replica.setEntity(kind, id, page.value(i));
    }
  }
}

/** As a stream does: what is kept beside the public collections is not told. */
function tellBatch(replica: Replica, { entries, revision, time }: Batch): void {
  for (const { kind, id, after, changed } of entries) {
    if (kind !== "claims") replica.addChange(kind, id, after, changed);
  }
  if (entries.some(({ kind }) => kind !== "claims")) replica.commitUpTo(revision, time);
}

async function networkOfTwo() {
  const network = new ClaimedNetwork();
  await network.set("first", "devices", { id: "of:1" }, { id: "of:2" });
  await network.set("first", "links", {
    src: { device: "of:1", port: "1" },
    dst: { device: "of:2", port: "1" },
  });
  return network;
}

function replicaOf({ view }: ClaimedNetwork): Replica {
  const replica = new Replica(createReplicaLog("epoch", new Uint8Array(32)), RING);
  tellAll(replica, view);
  replica.completeSync(view);
  return replica;
}

describe("a replica", () => {
  test("shows what it was told, with the marks it was told, and every change after", async () => {
    const network = await networkOfTwo();
    const replica = replicaOf(network);
    expect(shown(replica.view)).toEqual(shown(network.view));
    await network.clock.advance(1000);
    const steps = [
      () => network.set("first", "devices", { id: "of:2", available: false }),
      () => network.set("second", "devices", { id: "of:1", mfr: "shadowed" }),
      () => network.remove("first", "devices", "of:2"),
      () => network.set("first", "devices", { id: "of:2", hw: "new" }),
    ];
    for (const step of steps) {
      const batch = await step();
      if (!batch) throw new Error("nothing changed");
      tellBatch(replica, batch);
      replica.commitUpTo(network.view.revision);
      expect(shown(replica.view)).toEqual(shown(network.view));
    }
    const [, ...changes] = network.batches;
    const told = replica.history.recentBatches(2)?.map(({ revision, entries }) => ({
      revision,
      entries: entries.length,
    }));
    expect(told).toEqual(
      changes.slice(1).map(({ revision, entries }) => ({
        revision,
        entries: entries.filter(({ kind }) => kind !== "claims").length,
      })),
    );
  });

  test("a revision without anything public is a step like any other", async () => {
    const network = await networkOfTwo();
    const replica = replicaOf(network);
    // Held back: its far end does not exist.
    await network.set("first", "links", {
      src: { device: "of:1", port: "9" },
      dst: { device: "of:9", port: "1" },
    });
    const batch = await network.set("first", "devices", { id: "of:1", hw: "new" });
    if (!batch) throw new Error("nothing changed");
    expect(batch.revision).toBe(4);
    tellBatch(replica, batch);
    expect(shown(replica.view)).toEqual(shown(network.view));
    expect(replica.history.recentBatches(2)?.map(({ revision }) => revision)).toEqual([3, 4]);
  });

  test("told everything again, shows the old until all is there, and then only the new", async () => {
    const network = await networkOfTwo();
    const replica = replicaOf(network);
    const before = shown(replica.view);
    let woken = 0;
    replica.history.subscribe(() => woken++);
    await network.remove("first", "devices", "of:2");
    await network.set("first", "devices", { id: "of:3" }, { id: "of:1", sw: "2" });
    replica.beginSync();
    tellAll(replica, network.view);
    expect(shown(replica.view)).toEqual(before);
    replica.beginSync(); // and once more, since the connection broke
    tellAll(replica, network.view);
    replica.completeSync(network.view);
    expect(shown(replica.view)).toEqual(shown(network.view));
    expect(woken).toBe(1);
    expect(replica.history.ringHolds(before.revision)).toBe(false);
    expect([...replica.view.indexes("devices").named("source").get("first")].sort()).toEqual([
      "of:1",
      "of:3",
    ]);
  });

  test("what was begun before the first telling was whole leaves nothing behind", async () => {
    const network = await networkOfTwo();
    const replica = new Replica(createReplicaLog("epoch", new Uint8Array(32)), RING);
    tellAll(replica, network.view);
    await network.remove("first", "devices", "of:2");
    replica.beginSync();
    tellAll(replica, network.view);
    replica.completeSync(network.view);
    expect(shown(replica.view)).toEqual(shown(network.view));
  });

  test("what it does not know of the past is known elsewhere", async () => {
    const network = await networkOfTwo();
    const replica = replicaOf(network);
    const { history, log, view } = replica;
    expect(history.resolve(view.revision)).toEqual({ ok: true, revision: view.revision });
    expect(history.stateAt(view.revision)).toBe(view);
    for (const ask of [
      () => history.resolve(1),
      () => history.resolve(view.revision + 1),
      () => history.resolveTime(Date.now()),
      () => history.stateAt(1),
      () => log.stats(),
      () => log.histogram(0, 1, 1),
    ]) {
      expect(ask).toThrow(HistoryNotInReplica);
    }
  });
});
