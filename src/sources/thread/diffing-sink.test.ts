import { expect, test } from "bun:test";
import fc from "fast-check";
import { MemorySink } from "../../../test/support/memory-sink.ts";
import { runs } from "../../../test/support/property.ts";
import type { ClaimChange, Claims, HostClaim } from "../../model/claim.ts";
import { KINDS, type Kind } from "../../model/ids.ts";
import { changesIn, readClaims, sendClaims, takeClaims } from "./claim-batches.ts";
import { DiffingSink } from "./diffing-sink.ts";
import type { BatchReport } from "./protocol.ts";

/** A diffing sink whose outlet commits to a `MemorySink`, as the service does. */
function connect() {
  const memory = new MemorySink();
  const abort = new AbortController();
  const commits: string[] = [];
  const batchSizes: number[] = [];
  let batches: BatchReport[] = [];
  let failure: Error | undefined;
  const sink = new DiffingSink(
    {
      sendBatch(batch) {
        batchSizes.push(JSON.parse(new TextDecoder().decode(batch.json)).length);
        batches.push(batch);
      },
      discard() {
        batches = [];
      },
      async commit(mode) {
        const sent = batches;
        batches = [];
        if (failure) throw failure;
        if (mode === "replace") {
          commits.push("replace");
          return memory.replace(takeClaims(sent));
        }
        const changes = await changesIn(sent);
        commits.push(`apply ${changes.length}`);
        return memory.apply(changes);
      },
      reject: (records) => records.forEach(({ kind, fault }) => void memory.reject(kind, fault)),
      markStale: (reason) => memory.markStale(reason),
      setUpstreamLogs: (ids) => memory.setUpstreamLogs(ids),
      onSetRead: () => {},
    },
    abort.signal,
  );
  return {
    sink,
    memory,
    commits,
    batchSizes,
    abort,
    failWith(error: Error | undefined) {
      failure = error;
    },
  };
}

const host = (n: number, ip = "10.0.0.1"): HostClaim => ({
  mac: `02:00:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`,
  ipAddresses: [ip],
  locations: [{ elementId: "of:1", port: 1 }],
});
const hosts = (count: number, ip?: string) => Array.from({ length: count }, (_, n) => host(n, ip));

test("claims that are canonical are sent as they are, and compared like others", async () => {
  const { sink, commits, memory } = connect();
  const canonical: HostClaim = { ...host(1), vlan: "None", locations: [{ elementId: "of:1", port: "1" }] };
  await sink.replace({ hosts: [canonical], isCanonical: true });
  await sink.replace({ hosts: [canonical], isCanonical: true });
  await sink.replace({ hosts: [canonical, host(2)] });
  expect(commits).toEqual(["replace", "apply 0", "apply 1"]);
  expect([...memory.hosts.keys()]).toEqual(["02:00:00:00:00:01/None", "02:00:00:00:00:02/None"]);
});

test("a first set is replaced as a whole; the same set again is an empty change", async () => {
  const { sink, commits, batchSizes, memory } = connect();
  const set = { devices: [{ id: "of:1" }], hosts: hosts(2500) };
  await sink.replace(set);
  await sink.replace(set);
  await sink.replace({ hosts: hosts(2500), devices: [{ id: "OF:1" }] });
  expect(commits).toEqual(["replace", "apply 0", "apply 0"]);
  expect(Math.max(...batchSizes)).toBe(100);
  expect(memory.hosts.size).toBe(2500);
});

test("differences are applied in commits of at most 1000, additions before removals", async () => {
  const { sink, commits, memory } = connect();
  await sink.replace({ devices: [{ id: "of:1" }], hosts: hosts(2500) });
  memory.changeLog.length = 0;
  await sink.replace({ devices: [{ id: "of:2" }], hosts: hosts(1500, "10.0.0.2") });
  expect(commits).toEqual(["replace", "apply 1000", "apply 1000", "apply 502"]);
  expect(memory.changeLog.slice(0, 2)).toEqual(["set devices of:2", "set hosts 02:00:00:00:00:00/None"]);
  expect(memory.changeLog.slice(-2)).toEqual(["remove hosts 02:00:00:00:09:C3/None", "remove devices of:1"]);
  expect(memory.changeLog.findIndex((line) => line.startsWith("remove"))).toBe(1501);
});

test("long records are sent in smaller batches", async () => {
  const { sink, batchSizes } = connect();
  const annotations = { text: "x".repeat(16_000) };
  await sink.replace({ hosts: hosts(12).map((claim) => ({ ...claim, annotations })) });
  expect(batchSizes).toEqual([5, 5, 2]);
});

test("an invalid record is dropped and reported once while it stays the same", async () => {
  const { sink, memory } = connect();
  const bad = { id: "has space" };
  const set = { devices: [{ id: "of:1" }, bad, bad] };
  await sink.replace(set);
  await sink.replace(set);
  expect(memory.rejected.length).toBe(2);
  await sink.replace({ devices: [{ id: "of:1" }, bad, bad, bad] });
  expect(memory.rejected.length).toBe(3);
  await sink.replace({ devices: [{ id: "of:1" }] });
  await sink.replace(set);
  expect(memory.rejected.length).toBe(5);
  expect([...memory.devices.keys()]).toEqual(["of:1"]);
});

test("a record that the source itself rejects is reported once while it stays the same", async () => {
  const { sink, memory } = connect();
  for (let polls = 0; polls < 3; polls++) {
    sink.reject("links", { field: "/src", message: "is no port" });
    await sink.replace({});
  }
  sink.reject("links", { field: "/dst", message: "is no port" });
  sink.markStale("no response");
  expect(memory.rejected).toEqual(["links /src is no port", "links /dst is no port"]);
});

test("of two records of one entity the first stands, and the other is reported", async () => {
  const { sink, memory, commits } = connect();
  const set = { hosts: [host(1, "10.0.0.1"), host(1, "10.0.0.2"), host(1, "10.0.0.1")] };
  await sink.replace(set);
  await sink.replace(set);
  expect(commits).toEqual(["replace", "apply 0"]);
  expect(memory.hosts.get("02:00:00:00:00:01/None")?.ipAddresses).toEqual(["10.0.0.1"]);
  expect(memory.rejected).toEqual(["hosts  is a second record of 02:00:00:00:00:01/None"]);
});

test("after a set that could not be read or committed, the next one is sent as a whole", async () => {
  const { sink, memory, commits, failWith } = connect();
  await sink.replace({ devices: [{ id: "of:1" }] });
  const broken = function* () {
    yield { id: "of:2" };
    throw new Error("cut off");
  };
  await expect(sink.replace({ devices: broken() })).rejects.toThrow("cut off");
  expect([...memory.devices.keys()]).toEqual(["of:1"]);
  await sink.replace({ devices: [{ id: "of:2" }] });
  failWith(new Error("disk is full"));
  await expect(sink.apply([{ op: "remove", kind: "devices", id: "of:2" }])).rejects.toThrow("disk is full");
  failWith(undefined);
  await sink.replace({ devices: [{ id: "of:2" }] });
  expect(commits).toEqual(["replace", "replace", "replace"]);
});

test("removals before the first set of a run reach the service, which may have older claims", async () => {
  const { sink, memory } = connect();
  await memory.replace({ devices: [{ id: "of:1" }, { id: "of:2" }] });
  await sink.apply([{ op: "remove", kind: "devices", id: "of:1" }]);
  expect([...memory.devices.keys()]).toEqual(["of:2"]);
});

test("a stop ends the reading of an endless set", async () => {
  const { sink, abort, memory } = connect();
  const endless = function* () {
    for (let n = 0; ; n++) yield { id: `of:${n}` };
  };
  const replaced = sink.replace({ devices: endless() });
  setImmediate(() => abort.abort());
  await expect(replaced).rejects.toThrow("the source was stopped");
  await expect(sink.replace({})).rejects.toThrow("the source was stopped");
  expect(memory.changeLog).toEqual([]);
});

const contentOf = (sink: MemorySink, kind: Kind) => [...sink[kind]].sort(([a], [b]) => (a < b ? -1 : 1));

test("the service has what the source reported last, after any sequence of sets and changes", async () => {
  const id = fc.integer({ min: 1, max: 6 }).map((n) => `x:${n}`);
  const device = fc.record({ id, mfr: fc.constantFrom("a", "b") });
  const port = fc.record({ element: id, port: fc.integer({ min: 1, max: 3 }), isEnabled: fc.boolean() });
  const claims = fc.record({
    devices: fc.uniqueArray(device, { selector: (claim) => claim.id }),
    ports: fc.uniqueArray(port, { selector: (claim) => `${claim.element}/${claim.port}` }),
  });
  const change = fc.oneof(
    device.map((claim): ClaimChange => ({ op: "set", kind: "devices", claim })),
    port.map((claim): ClaimChange => ({ op: "set", kind: "ports", claim })),
    id.map((removed): ClaimChange => ({ op: "remove", kind: "devices", id: removed })),
  );
  const call = fc.oneof(
    claims.map((all) => ({ all })),
    fc.array(change).map((changes) => ({ changes })),
  );
  const run = fc.asyncProperty(fc.array(call, { maxLength: 8 }), async (calls) => {
    const { sink, memory } = connect();
    const expected = new MemorySink();
    for (const reported of calls) {
      for (const target of [sink, expected]) {
        if ("all" in reported) await target.replace(reported.all as Claims);
        else await target.apply(reported.changes);
      }
      for (const kind of KINDS) expect(contentOf(memory, kind)).toEqual(contentOf(expected, kind));
    }
  });
  await fc.assert(run, { numRuns: runs(200) });
});

test("the last claims of the service cross in batches, where it has them", async () => {
  const { sink } = connect();
  expect(sink.lastClaims).toBeUndefined();
  const claims: Claims = { devices: [{ id: "of:1" }], hosts: hosts(250) };
  const batches: BatchReport[] = [];
  await sendClaims(claims, (batch) => void batches.push(batch));
  expect(batches.map(({ kind }) => kind)).toEqual(["devices", "hosts", "hosts", "hosts"]);
  const read = readClaims(batches);
  expect([...(read.hosts ?? [])]).toEqual(hosts(250));
  expect([...(read.hosts ?? [])]).toHaveLength(250);
});
