import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { silentLogger } from "../lib/logger.ts";
import { type Paced, withoutPauses } from "../lib/steps.ts";
import { compress, encodeEntries, joinBlocks, partsOf } from "./batch-codec.ts";
import { type EmbeddedLog, openEmbeddedLog } from "./embedded.ts";
import { type Batch, forStoreKinds, type LogEntry, type PageRecord, type Snapshot } from "./log.ts";

const folder = mkdtempSync(join(tmpdir(), "gazetteer-log-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

const set = (id: string, after: string, before: string | null = null): LogEntry => ({
  kind: "hosts",
  id,
  before,
  after,
  changed: before === null ? [] : ["location", "locations"],
});
const batchOf = (revision: number, time = revision * 1000, entries = [set(`h${revision}`, "{}")]): Batch => ({
  revision,
  time,
  entries,
});
const appendAll = async (log: EmbeddedLog, from: number, to: number): Promise<void> => {
  for (let revision = from; revision <= to; revision++) await log.append(batchOf(revision));
};
const record = (text: string): PageRecord => ({
  storedId: undefined,
  encode: () => Buffer.from(text),
});
const VERSIONS = { ...forStoreKinds(() => 0), devices: 1, hosts: 2, graph: 1 };
const snapshotOf = (revision: number, hosts: PageRecord[], time = revision * 1000): Snapshot => ({
  revision,
  time,
  graphTime: time - 1,
  versions: VERSIONS,
  pages: { ...forStoreKinds(() => []), hosts },
});
const texts = (snapshot: Snapshot | undefined) =>
  snapshot?.pages.hosts.map((page) => Buffer.from(page.encode()).toString());
const batchesOf = (batches: Paced<Batch>): Batch[] => [...withoutPauses(batches)];
const revisions = (batches: Paced<Batch>): number[] => batchesOf(batches).map((batch) => batch.revision);

describe("batches", () => {
  const hostile = `{"mfr":"a\\tb\\nc,d","q":"\\u2028 é 漢字 👾"}`;
  const entries: LogEntry[] = [
    { kind: "devices", id: "of:1", before: null, after: hostile, changed: [] },
    { kind: "ports", id: "of:1/2", before: '{"a":1}', after: null, changed: [] },
    {
      kind: "links",
      id: "of:1/2-of:2/3",
      before: '{"a":1}',
      after: '{"a":2}',
      changed: ["a", "annotations"],
    },
    { kind: "claims", id: "hosts 00:00:00:00:00:01/None", before: null, after: '[["x",{}]]', changed: [] },
  ];

  test("are read as they were appended, also after the file is opened again", async () => {
    const path = newPath();
    const log = openEmbeddedLog(path);
    const batch = batchOf(1, 5000, entries);
    await log.append(batch);
    expect(batchesOf(log.read(0))).toEqual([batch]);
    await log.close();
    const again = openEmbeddedLog(path);
    expect(batchesOf(again.read(0))).toEqual([batch]);
    expect(again.id).toBe(log.id);
    expect(again.signingKey).toEqual(log.signingKey);
    expect(again.stats()).toMatchObject({ oldest: 0, newest: 1, snapshots: 0 });
    await again.close();
  });

  test("of several parts are read as one batch", async () => {
    const log = openEmbeddedLog(":memory:");
    const many = Array.from({ length: 12_345 }, (_, i) => set(`h${i}`, `{"n":${i}}`));
    await log.append(batchOf(1));
    await log.append(batchOf(2, 2000, many));
    await log.append(batchOf(3));
    const read = batchesOf(log.read(0));
    expect(read.map(({ revision, entries }) => [revision, entries.length])).toEqual([
      [1, 1],
      [2, 12_345],
      [3, 1],
    ]);
    expect(read[1]?.entries).toEqual(many);
    await log.close();
  });

  test("of large entries have parts of bounded size, and pauses where they are read", async () => {
    const path = newPath();
    const log = openEmbeddedLog(path);
    const text = (n: number) => `{"n":"${n}${"x".repeat(60_000)}"}`;
    const large = Array.from({ length: 40 }, (_, n) => set(`h${n}`, text(n), text(-n)));
    await log.append(batchOf(1, 1000, large));
    expect(batchesOf(log.read(0))[0]?.entries).toEqual(large);
    expect([...log.read(0)].length).toBeGreaterThan(large.length / 2);
    await log.close();
    const db = new Database(path, { readonly: true });
    expect(db.query("SELECT count(*) AS parts FROM batch").get()).toEqual({ parts: 8 });
    db.close();
  });

  test("are read between any two revisions, also where a slice ends inside a batch", async () => {
    const log = openEmbeddedLog(":memory:");
    const large = Array.from({ length: 30_000 }, (_, i) => set(`h${i}`, "{}"));
    for (let revision = 1; revision <= 250; revision++) {
      await log.append(revision === 97 ? batchOf(revision, revision, large) : batchOf(revision));
    }
    expect(revisions(log.read(0))).toEqual(Array.from({ length: 250 }, (_, i) => i + 1));
    expect(revisions(log.read(96, 98))).toEqual([97, 98]);
    expect(revisions(log.read(250))).toEqual([]);
    expect(batchesOf(log.read(96, 97))[0]?.entries.length).toBe(30_000);
    await log.close();
  });

  test("can be appended during a read", async () => {
    const log = openEmbeddedLog(":memory:");
    await appendAll(log, 1, 150);
    const seen: number[] = [];
    for (const { revision } of withoutPauses(log.read(0))) {
      seen.push(revision);
      if (revision === 1) await appendAll(log, 151, 160);
    }
    expect(seen.at(-1)).toBe(160);
    expect(seen.length).toBe(160);
    await log.close();
  });

  test("that cannot be written are rejected as a whole", async () => {
    const log = openEmbeddedLog(":memory:");
    await log.append(batchOf(1));
    await expect(log.append(batchOf(1))).rejects.toThrow(
      expect.objectContaining({ name: "LogError", code: "write-failed" }),
    );
    expect(revisions(log.read(0))).toEqual([1]);
    expect(log.stats().newest).toBe(1);
    await log.close();
  });
});

describe("snapshots", () => {
  test("return pages, versions and times; the newest at or before a revision", async () => {
    const path = newPath();
    const log = openEmbeddedLog(path);
    await appendAll(log, 1, 20);
    await log.writeSnapshot(snapshotOf(10, [record("a\n\n{}"), record("b\n\n[]")]));
    await log.writeSnapshot(snapshotOf(20, [record("c\n\n{}")]));
    await log.close();
    const again = openEmbeddedLog(path);
    expect(again.snapshotAtOrBefore(9)).toBeUndefined();
    expect(again.snapshotAtOrBefore(19)).toMatchObject({
      revision: 10,
      time: 10_000,
      graphTime: 9999,
      versions: VERSIONS,
    });
    expect(texts(again.snapshotAtOrBefore(19))).toEqual(["a\n\n{}", "b\n\n[]"]);
    expect(texts(again.snapshotAtOrBefore(Number.MAX_SAFE_INTEGER))).toEqual(["c\n\n{}"]);
    await again.close();
  });

  test("share the pages that did not change", async () => {
    const log = openEmbeddedLog(":memory:");
    const large = record("x".repeat(10));
    await log.writeSnapshot(snapshotOf(1, [large, record("y")]));
    const { bytes } = log.stats();
    await log.writeSnapshot(snapshotOf(2, [large, record("z")]));
    expect(texts(log.snapshotAtOrBefore(2))).toEqual(["x".repeat(10), "z"]);
    expect(log.snapshotAtOrBefore(2)?.pages.hosts[0]?.storedId).toBe(
      log.snapshotAtOrBefore(1)?.pages.hosts[0]?.storedId,
    );
    expect(log.stats().bytes - bytes).toBeLessThan(bytes);
    await log.close();
  });

  test("that fail half-way give no page a stored id", async () => {
    const log = openEmbeddedLog(":memory:");
    const good = record("good");
    const bad: PageRecord = {
      storedId: undefined,
      encode: () => {
        throw new Error("no more memory");
      },
    };
    await expect(log.writeSnapshot(snapshotOf(1, [good, bad]))).rejects.toThrow("no more memory");
    expect(good.storedId).toBeUndefined();
    expect(log.snapshotAtOrBefore(1)).toBeUndefined();
    await log.writeSnapshot(snapshotOf(1, [record("other"), good]));
    expect(texts(log.snapshotAtOrBefore(1))).toEqual(["other", "good"]);
    await log.close();
  });

  test("allow appends between their slices", async () => {
    const log = openEmbeddedLog(":memory:");
    await appendAll(log, 1, 5);
    const pages = Array.from({ length: 200 }, (_, i) => record(`p${i}`));
    let written = false;
    const writing = log.writeSnapshot(snapshotOf(5, pages)).then(() => {
      written = true;
    });
    await log.append(batchOf(6));
    expect(written).toBe(false);
    await writing;
    expect(texts(log.snapshotAtOrBefore(5))?.length).toBe(200);
    expect(revisions(log.read(5))).toEqual([6]);
    await log.close();
  });
});

describe("history", () => {
  const log = openEmbeddedLog(":memory:");
  beforeAll(async () => {
    // Two revisions in one millisecond, and an hour without changes.
    for (const [revision, time] of [[1, 1000], [2, 1000], [3, 2500], [4, 3_600_000]] as const) {
      await log.append(batchOf(revision, time, Array.from({ length: revision }, (_, i) => set(`h${i}`, "{}"))));
    } // biome-ignore format: a table
  });
  afterAll(() => log.close());

  test.each([
    [0, 0],
    [999, 0],
    [1000, 2],
    [2499, 2],
    [2500, 3],
    [3_599_999, 3],
    [3_600_000, 4],
    [9_999_999, 4],
  ])("at %d is revision %d", (time, revision) => {
    expect(log.revisionAt(time)).toBe(revision);
  });

  test("has the time of each revision", async () => {
    expect([1, 2, 3, 4, 5].map((revision) => log.timeOf(revision))).toEqual([
      1000,
      1000,
      2500,
      3_600_000,
      undefined,
    ]);
  });

  test("the histogram counts changes in equal intervals; the end is exclusive", async () => {
    expect(log.histogram(0, 4000, 4).counts).toEqual([0, 3, 3, 0]);
    expect(log.histogram(1000, 2500, 3).counts).toEqual([3, 0, 0]);
    expect(log.histogram(0, 3_600_001, 2).counts).toEqual([6, 4]);
    expect(log.histogram(5000, 6000, 2).counts).toEqual([0, 0]);
  });

  test("the histogram counts the same after pruning, and in a file that is opened again", async () => {
    const path = newPath();
    const log = openEmbeddedLog(path);
    await appendAll(log, 1, 10);
    await log.writeSnapshot(snapshotOf(4, [record("page")]));
    await log.prune(5000, Number.POSITIVE_INFINITY);
    expect(log.histogram(0, 12_000, 3).counts).toEqual([0, 3, 3]);
    await log.close();
    const again = openEmbeddedLog(path);
    await again.append(batchOf(11));
    expect(again.histogram(0, 12_000, 3).counts).toEqual([0, 3, 4]);
    await again.close();
  });

  test("the histogram counts faults and recoveries, also after pruning and in a file that is opened again", async () => {
    const device = (available: boolean) =>
      `{"id":"d","available":${available},"annotations":{"available":"false"}}`;
    // The free texts of a link follow its state.
    const link = (state: string) => `{"type":"DIRECT","state":"${state}","annotations":{"state":"INACTIVE"}}`;
    const [up, down] = [device(true), device(false)];
    const entry = (kind: "devices" | "links" | "hosts", before: string | null, after: string | null) =>
      ({
        kind,
        id: kind,
        before,
        after,
        changed: before && after ? [kind === "links" ? "state" : "available"] : [],
      }) as const;
    const history: LogEntry[][] = [
      [entry("devices", null, up), entry("links", null, link("ACTIVE")), entry("hosts", null, "{}")],
      [entry("devices", up, down), entry("links", link("ACTIVE"), link("INACTIVE"))],
      [{ ...entry("devices", down, down), changed: ["annotations"] }],
      [entry("devices", down, up), entry("links", link("INACTIVE"), link("ACTIVE"))],
      [entry("links", link("ACTIVE"), null), entry("hosts", "{}", null)],
      [entry("devices", up, null)],
      // Two were removed, so that the third addition is something new.
      [entry("links", null, link("ACTIVE")), entry("devices", null, up), entry("devices", null, up)],
    ];
    const path = newPath();
    const log = openEmbeddedLog(path);
    for (const [n, entries] of history.entries())
      await log.append({ revision: n + 1, time: 1000 * (n + 1), entries });
    const spans = log.histogram(1000, 8000, 7);
    expect(spans).toEqual({
      counts: [3, 2, 1, 2, 2, 1, 3],
      faults: [0, 2, 0, 0, 1, 1, 0],
      recoveries: [0, 0, 0, 2, 0, 0, 2],
    });
    await log.writeSnapshot(snapshotOf(3, [record("page")]));
    await log.prune(5000, Number.POSITIVE_INFINITY);
    await log.close();
    const again = openEmbeddedLog(path);
    expect(again.histogram(4000, 8000, 4)).toEqual({
      counts: spans.counts.slice(3),
      faults: spans.faults.slice(3),
      recoveries: spans.recoveries.slice(3),
    });
    await again.close();
  });
});

describe("batches that are stored later", () => {
  const device = (available: boolean) => `{"id":"d","available":${available}}`;
  const entry = (before: string | null, after: string | null): LogEntry => ({
    kind: "devices",
    id: "d",
    before,
    after,
    changed: before && after ? ["available"] : [],
  });
  /** One is removed and added again, and one is added twice. */
  const history: LogEntry[][] = [
    [entry(null, device(true))],
    [entry(device(true), device(false))],
    [entry(device(false), null), set("h", "{}")],
    [entry(null, device(true)), entry(null, device(true))],
    [set("h", "{}", "{}")],
    [entry(device(true), device(false))],
  ];
  const batches = history.map((entries, n) => batchOf(n + 1, 1000 * (n + 1), entries));

  async function storeLater(log: EmbeddedLog, from: number, to: number): Promise<void> {
    for (const batch of batches.slice(from - 1, to)) {
      const blocks = [...partsOf(batch.entries)].map((part) => compress(encodeEntries(part)));
      await log.storeLater(batch, joinBlocks(blocks), () => `after ${batch.revision}`);
    }
  }

  function openCopy(path: string): { log: EmbeddedLog; clock: ManualClock } {
    const clock = new ManualClock();
    return { log: openEmbeddedLog(path, { retry: { clock, logger: silentLogger } }), clock };
  }

  const readings = (log: EmbeddedLog) => ({
    all: batchesOf(log.read(0)),
    some: revisions(log.read(1, 4)),
    times: batches.map(({ revision }) => log.timeOf(revision)),
    revisions: [0, 1000, 2500, 4000, 9000].map((time) => log.revisionAt(time)),
    histogram: log.histogram(0, 8000, 8),
    newest: log.stats().newest,
  });

  async function untilStored(log: EmbeddedLog, revision: number): Promise<void> {
    while (log.newestStored < revision) await Bun.sleep(1);
  }

  test("are read at once as they are read afterwards, and are written together", async () => {
    const path = newPath();
    const { log, clock } = openCopy(path);
    await log.append(batchOf(1, 1000, history[0]));
    await storeLater(log, 2, 6);
    expect(log.newestStored).toBe(1);
    const early = readings(log);
    expect(early).toMatchObject({ newest: 6, some: [2, 3, 4] });
    // One whose addition is something new is not a recovery.
    expect(early.histogram).toMatchObject({
      faults: [0, 0, 1, 1, 0, 0, 1, 0],
      recoveries: [0, 0, 0, 0, 1, 0, 0, 0],
    });
    const wal = statSync(`${path}-wal`).size;
    const reading = withoutPauses(log.read(0));
    expect(reading.next().value?.revision).toBe(1);
    await clock.advance(1000);
    await untilStored(log, 6);
    // A read that has begun before misses none.
    expect(Array.from(reading, ({ revision }) => revision)).toEqual([2, 3, 4, 5, 6]);
    // A transaction for each would have written more: each writes at least five pages of four kilobytes.
    expect(statSync(`${path}-wal`).size - wal).toBeLessThan(2 * 5 * 4096);
    expect(readings(log)).toEqual(early);
    await log.close();
    const again = openEmbeddedLog(path);
    expect(readings(again)).toEqual(early);
    expect(again.position).toBe("after 6");
    await again.close();
  });

  test("are written when the log is closed, and before a snapshot that contains them", async () => {
    const path = newPath();
    const { log } = openCopy(path);
    await storeLater(log, 1, 3);
    await log.writeSnapshot(snapshotOf(3, [record("page")]));
    using file = new Database(path, { readonly: true });
    expect(file.query("SELECT max(revision) AS newest FROM batch").get()).toEqual({ newest: 3 });
    await storeLater(log, 4, 5);
    await log.close();
    const again = openEmbeddedLog(path);
    expect([again.stats().newest, again.position]).toEqual([5, "after 5"]);
    await again.close();
  });

  test("leave room for a bounded number of bytes: further ones wait for a write", async () => {
    const { log } = openCopy(newPath());
    const random = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("base64url");
    let revision = 0;
    while (log.hasRoom) {
      const batch = batchOf(++revision, 1000, [set(`h${revision}`, `"${random}"`)]);
      await log.storeLater(batch, joinBlocks([compress(encodeEntries(batch.entries))]), () => "");
    }
    expect(revision).toBeGreaterThan(5);
    await log.untilRoom();
    expect(log.newestStored).toBe(revision);
    await log.close();
  });
});

describe("pruning", () => {
  /** Twenty revisions a second apart; snapshots at 5, 10 and 15 with one shared page and one page of their own. */
  async function filled(path: string): Promise<EmbeddedLog> {
    const log = openEmbeddedLog(path);
    const shared = record("shared");
    for (let revision = 1; revision <= 20; revision++) {
      await log.append(batchOf(revision));
      if (revision % 5 === 0 && revision < 20) {
        await log.writeSnapshot(snapshotOf(revision, [shared, record(`own ${revision}`)]));
      }
    }
    return log;
  }

  /** Every revision from `oldest` on can be reconstructed, and none before it. */
  function expectHistoryFrom(log: EmbeddedLog, oldest: number): void {
    expect(log.stats()).toMatchObject({ oldest, oldestTime: oldest * 1000, newest: 20 });
    for (let revision = oldest; revision <= 20; revision++) {
      const base = log.snapshotAtOrBefore(revision);
      if (revision >= 5) expect(base && texts(base)).toEqual(["shared", `own ${base?.revision}`]);
      const start = base?.revision ?? 0;
      const tail = Array.from({ length: revision - start }, (_, i) => start + i + 1);
      expect(revisions(log.read(start, revision))).toEqual(tail);
    }
    if (oldest > 0) {
      expect(log.snapshotAtOrBefore(oldest - 1)).toBeUndefined();
      expect(log.revisionAt(oldest * 1000 - 1)).toBeUndefined();
      expect(log.timeOf(oldest - 1)).toBeUndefined();
    }
    expect(log.revisionAt(oldest * 1000)).toBe(oldest);
    expect(log.timeOf(oldest)).toBe(oldest === 0 ? 0 : oldest * 1000);
  }

  test.each([
    ["nothing, when everything is recent", 0, 0],
    ["nothing, when the first snapshot is recent enough", 5000, 0],
    ["up to a snapshot", 5001, 5],
    ["up to the last snapshot before the retention period", 12_000, 10],
    ["everything before the newest snapshot", 99_000, 15],
  ])("by age: %s", async (_, keepSince, oldest) => {
    const path = newPath();
    const log = await filled(path);
    await log.prune(keepSince, Number.POSITIVE_INFINITY);
    expectHistoryFrom(log, oldest);
    const { bytes } = log.stats();
    await log.close();
    const again = openEmbeddedLog(path);
    expectHistoryFrom(again, oldest);
    expect(again.stats().bytes).toBe(bytes);
    await again.close();
  });

  test("by bytes: as little as necessary", async () => {
    const log = await filled(":memory:");
    await log.prune(0, log.stats().bytes - 1);
    expectHistoryFrom(log, 5);
    await log.prune(0, 1);
    expectHistoryFrom(log, 15);
    await log.close();
  });

  test("a crash in the middle leaves complete history after the snapshot", async () => {
    const path = newPath();
    const log = openEmbeddedLog(path);
    await appendAll(log, 1, 600);
    await log.writeSnapshot(snapshotOf(500, [record("page")]));
    await log.close();
    const db = new Database(path);
    db.run("DELETE FROM batch WHERE revision <= 200");
    db.close();
    const again = openEmbeddedLog(path);
    expect(again.stats()).toMatchObject({ oldest: 500, oldestTime: 500_000, newest: 600 });
    expect(revisions(again.read(500))).toEqual(Array.from({ length: 100 }, (_, i) => 501 + i));
    await again.close();
  });

  test("keeps the pages of a snapshot that is still being written", async () => {
    const log = await filled(":memory:");
    const pages = Array.from({ length: 100 }, (_, i) => record(`p${i}`));
    const writing = log.writeSnapshot(snapshotOf(20, pages));
    await log.prune(99_000, 1);
    await writing;
    expect(texts(log.snapshotAtOrBefore(20))).toEqual(pages.map((_, i) => `p${i}`));
    await log.close();
  });

  test("returns the space to the file system", async () => {
    const path = newPath();
    const log = openEmbeddedLog(path);
    const noise = () =>
      JSON.stringify(Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("hex"));
    for (let revision = 1; revision <= 200; revision++) {
      await log.append(batchOf(revision, revision, [set("h", noise())]));
    }
    await log.writeSnapshot(snapshotOf(200, [record("page")], 200));
    await log.prune(10_000, Number.POSITIVE_INFINITY);
    await log.close();
    expect(statSync(path).size).toBeLessThan(1_000_000);
  });
});
