import { describe, expect, test } from "bun:test";
import { ClaimedNetwork, pagesOf } from "../../test/support/claims.ts";
import { runToEnd } from "../lib/steps.ts";
import type { Batch } from "../log/log.ts";
import { isKind, KINDS } from "../model/ids.ts";
import { createReplicaLog, HistoryNotInReplica, Replica } from "./replica.ts";
import { topologyOf, type View } from "./view.ts";

const MAX_RING_BYTES = 1_000_000;

/** Everything that responses are rendered from. */
function publicStateOf(view: View) {
  const { claims: _, missing: __, settings: ___, ...versions } = view.versions;
  const values = KINDS.map((kind) =>
    pagesOf(view, kind).flatMap((page) => page.ids().map((id, i) => [kind, id, page.value(i)])),
  );
  return { revision: view.revision, topology: runToEnd(topologyOf(view.capture())), versions, values };
}

async function sendAll(replica: Replica, view: View): Promise<void> {
  for (const kind of KINDS) {
    for (const page of pagesOf(view, kind)) {
      for (const [i, id] of page.ids().entries()) await replica.setEntity(kind, id, page.value(i));
    }
  }
}

/** Like the stream, which sends the public collections only. */
async function sendBatch(replica: Replica, { entries, revision, time }: Batch): Promise<void> {
  for (const { kind, id, after, changed } of entries) {
    if (isKind(kind)) replica.addChange(kind, id, after, changed);
  }
  if (entries.some(({ kind }) => isKind(kind))) await replica.commitUpTo(revision, time);
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

async function replicaOf({ view }: ClaimedNetwork): Promise<Replica> {
  const replica = new Replica(createReplicaLog("log-id", new Uint8Array(32)), MAX_RING_BYTES);
  await sendAll(replica, view);
  await replica.completeSync(view);
  return replica;
}

describe("a replica", () => {
  test("has the entities and versions of the sync, and every change after it", async () => {
    const network = await networkOfTwo();
    const replica = await replicaOf(network);
    expect(publicStateOf(replica.view)).toEqual(publicStateOf(network.view));
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
      await sendBatch(replica, batch);
      await replica.commitUpTo(network.view.revision);
      expect(publicStateOf(replica.view)).toEqual(publicStateOf(network.view));
    }
    const [, ...changes] = network.batches;
    const received = replica.history.recentBatches(2)?.map(({ revision, entries }) => ({
      revision,
      entries: entries.length,
    }));
    expect(received).toEqual(
      changes.slice(1).map(({ revision, entries }) => ({
        revision,
        entries: entries.filter(({ kind }) => isKind(kind)).length,
      })),
    );
  });

  test("a revision without public changes is a revision of the replica too", async () => {
    const network = await networkOfTwo();
    const replica = await replicaOf(network);
    // Held back: its far end does not exist.
    await network.set("first", "links", {
      src: { device: "of:1", port: "9" },
      dst: { device: "of:9", port: "1" },
    });
    const batch = await network.set("first", "devices", { id: "of:1", hw: "new" });
    if (!batch) throw new Error("nothing changed");
    expect(batch.revision).toBe(4);
    await sendBatch(replica, batch);
    expect(publicStateOf(replica.view)).toEqual(publicStateOf(network.view));
    expect(replica.history.recentBatches(2)?.map(({ revision }) => revision)).toEqual([3, 4]);
  });

  test("keeps the old state during a second sync, and has only the new one after it", async () => {
    const network = await networkOfTwo();
    const replica = await replicaOf(network);
    const before = publicStateOf(replica.view);
    let wakeups = 0;
    replica.history.subscribe(() => wakeups++);
    await network.remove("first", "devices", "of:2");
    await network.set("first", "devices", { id: "of:3" }, { id: "of:1", sw: "2" });
    replica.beginSync();
    await sendAll(replica, network.view);
    expect(publicStateOf(replica.view)).toEqual(before);
    replica.beginSync(); // the sync starts again after a broken connection
    await sendAll(replica, network.view);
    await replica.completeSync(network.view);
    expect(publicStateOf(replica.view)).toEqual(publicStateOf(network.view));
    expect(wakeups).toBe(1);
    expect(replica.history.ringHolds(before.revision)).toBe(false);
    expect([...replica.view.indexes("devices").named("source").get("first")].sort()).toEqual([
      "of:1",
      "of:3",
    ]);
  });

  test("a first sync that was interrupted leaves no entities behind", async () => {
    const network = await networkOfTwo();
    const replica = new Replica(createReplicaLog("log-id", new Uint8Array(32)), MAX_RING_BYTES);
    await sendAll(replica, network.view);
    await network.remove("first", "devices", "of:2");
    replica.beginSync();
    await sendAll(replica, network.view);
    await replica.completeSync(network.view);
    expect(publicStateOf(replica.view)).toEqual(publicStateOf(network.view));
  });

  test("history beyond the ring throws HistoryNotInReplica", async () => {
    const network = await networkOfTwo();
    const replica = await replicaOf(network);
    const { history, log, view } = replica;
    expect(history.resolve(view.revision)).toEqual({ ok: true, revision: view.revision });
    expect(runToEnd(history.stateAt(view.revision))).toBe(view.capture());
    for (const read of [
      () => history.resolve(1),
      () => history.resolve(view.revision + 1),
      () => history.resolveTime(Date.now()),
      () => runToEnd(history.stateAt(1)),
      () => log.stats(),
      () => log.histogram(0, 1, 1),
    ]) {
      expect(read).toThrow(HistoryNotInReplica);
    }
  });
});
