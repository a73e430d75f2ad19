/** Several nodes append to one log: one order, the same view everywhere, and nothing twice. */
import { describe, expect, test } from "bun:test";
import { silentLogger } from "../../src/lib/logger.ts";
import type { LogStream } from "../../src/log/jetstream/log-stream.ts";
import { observedSources } from "../../src/model/merge-settings.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { until } from "../support/until.ts";
import { storedBy } from "../support/view-contents.ts";
import { emptyServer, openNode } from "./log-nodes.ts";
import { expectSame, writer } from "./writing.ts";

const logger = silentLogger;
const never = new AbortController().signal;
const device = (id: number) => ({ id: `of:${id.toString(16).padStart(16, "0")}` });

/** The next `count` messages are published, those after them once `ready` resolves. */
function pauseAfter(count: number, stream: LogStream, ready: Promise<void>): void {
  const publish = stream.publish.bind(stream);
  let left = count;
  stream.publish = async (...message) => {
    if (left-- <= 0) await ready;
    return publish(...message);
  };
}

describe("two nodes", () => {
  test("append at the same time: both have all batches in the same order, with the same values", async () => {
    await using nats = await emptyServer();
    await using a = await openNode(nats, "node-a");
    await using b = await openNode(nats, "node-b");
    await a.log.takeOver("a", never);
    await b.log.takeOver("b", never);
    const [fromA, fromB] = [
      new ClaimIngest(a.committer, "a", logger),
      new ClaimIngest(b.committer, "b", logger),
    ];
    for (let round = 0; round < 40; round++) {
      await Promise.all([
        fromA.apply([{ op: "set", kind: "devices", claim: device(round) }]),
        fromB.apply([{ op: "set", kind: "devices", claim: { ...device(round + 20), hw: "b" } }]),
      ]);
    }
    await Promise.all([a.caughtUp(), b.caughtUp()]);
    expect(a.committer.view.size("devices")).toBe(60);
    expect(storedBy(b.committer.view)).toEqual(storedBy(a.committer.view));
    expect(b.committer.view.revision).toBe(a.committer.view.revision);
    expect(b.committer.view.versions).toEqual(a.committer.view.versions);
    expect(b.log.id).toBe(a.log.id);
    expect(b.log.signingKey).toEqual(a.log.signingKey);
    await using c = await openNode(nats, "node-c");
    await c.caughtUp();
    expect(storedBy(c.committer.view)).toEqual(storedBy(a.committer.view));
  });

  test("the former holder of a source writes nothing after a takeover", async () => {
    await using nats = await emptyServer();
    await using a = await openNode(nats, "node-a");
    await using b = await openNode(nats, "node-b");
    await a.log.takeOver("a", never);
    const fromA = new ClaimIngest(a.committer, "a", logger);
    await fromA.apply([{ op: "set", kind: "devices", claim: device(1) }]);
    await b.log.takeOver("a", never);
    const { revision } = b.committer.view;
    await expect(fromA.apply([{ op: "set", kind: "devices", claim: device(2) }])).rejects.toMatchObject({
      code: "not-holder",
    });
    const fromB = new ClaimIngest(b.committer, "a", logger);
    await fromB.apply([{ op: "set", kind: "devices", claim: device(3) }]);
    await Promise.all([a.caughtUp(), b.caughtUp()]);
    expect(a.committer.view.revision).toBe(revision + 1);
    expect(storedBy(a.committer.view)).toEqual(storedBy(b.committer.view));
    // Nor does it say that the source is stale.
    await a.committer.setSourceFacts("a", { hasSynced: true, staleSince: 1 });
    expect(a.committer.rules.isStale("a")).toBe(false);
    expect(a.committer.view.revision).toBe(revision + 1);
  });

  test("a changed order that its node could not finish to apply is not taken for done, and the next node finishes it", async () => {
    await using nats = await emptyServer();
    const observed = (names: readonly string[]) => ({ ...observedSources(names), identity: [] });
    const hardware = (hw: string) => Array.from({ length: 1_200 }, (_, n) => ({ ...device(n), hw }));
    await using b = await openNode(nats, "node-b");
    {
      await using a = await openNode(nats, "node-a");
      for (const name of ["a", "b"]) {
        await a.log.takeOver(name, never);
        await new ClaimIngest(a.committer, name, logger).replace({ devices: hardware(`of ${name}`) });
      }
      // A batch has 500 of them: node-a ends after the first.
      pauseAfter(1, a.log.stream, new Promise(() => {}));
      // Rejects where the node is closed before the second.
      a.committer.setSettings(observed(["b", "a"])).catch(() => {});
      await until(() => b.committer.view.has("settings", "unmerged"), { what: "the first batch" });
    }
    await b.log.takeOver("a", never);
    await new ClaimIngest(b.committer, "a", logger).apply([
      { op: "set", kind: "devices", claim: { ...device(5_000), hw: "of a" } },
    ]);
    expect(b.committer.view.has("settings", "unmerged")).toBe(true);
    await using c = await openNode(nats, "node-c", { sources: ["b", "a"] });
    await c.caughtUp();
    expect(c.committer.isMergingElsewhere).toBe(true);
    await c.committer.mergeForOthers();
    await b.caughtUp();
    expect(b.committer.view.has("settings", "unmerged")).toBe(false);
    const shown = [...storedBy(b.committer.view)].filter(([key]) => key.startsWith("devices"));
    expect(shown).toHaveLength(1_201);
    expect(shown.filter(([, text]) => text.includes('"of a"'))).toHaveLength(1);
  });

  test("two nodes change the order at once and one ends: the other merges by both before it says that all is merged", async () => {
    await using nats = await emptyServer();
    const sources = ["a", "b", "c"];
    const observed = (names: readonly string[]) => ({ ...observedSources(names), identity: [] });
    await using a = await openNode(nats, "node-a", { sources });
    for (const name of sources) {
      await a.log.takeOver(name, never);
      const devices = Array.from({ length: 1_200 }, (_, n) => ({ ...device(n), hw: `of ${name}` }));
      await new ClaimIngest(a.committer, name, logger).replace({ devices });
    }
    const resumed = Promise.withResolvers<void>();
    // Of three batches with 500 devices: the second one has devices that node-b does not come to.
    pauseAfter(2, a.log.stream, resumed.promise);
    const before = a.committer.view.revision;
    const merged = a.committer.setSettings(observed(["b", "a", "c"]));
    {
      await using b = await openNode(nats, "node-b", { sources });
      await until(() => b.committer.view.revision === before + 2, { what: "two batches of node-a" });
      pauseAfter(1, b.log.stream, new Promise(() => {}));
      b.committer.setSettings(observed(["c", "b", "a"])).catch(() => {});
      await until(() => b.committer.view.revision === before + 3, { what: "one batch of node-b" });
    }
    resumed.resolve();
    await merged;
    const { view } = a.committer;
    expect(view.has("settings", "unmerged")).toBe(false);
    const shown = [...storedBy(view)].filter(([key]) => key.startsWith("devices"));
    expect(shown.filter(([, text]) => text.includes('"of c"'))).toHaveLength(1_200);
  });

  test("a takeover that was decided before another node's is refused", async () => {
    await using nats = await emptyServer();
    await using a = await openNode(nats, "node-a");
    await using b = await openNode(nats, "node-b");
    let isEntitled = true;
    const { stream } = a.log;
    const publish = stream.publish.bind(stream);
    // As if node-a was paused after it had checked its lease.
    stream.publish = async (...message) => {
      stream.publish = publish;
      await b.log.takeOver("a", never);
      isEntitled = false;
      return publish(...message);
    };
    expect(await a.log.takeOver("a", never, () => isEntitled)).toBe(false);
    await a.caughtUp();
    expect([a.log.holderOf("a"), b.log.holderOf("a")]).toEqual(["node-b", "node-b"]);
  });

  test("a changed order that the log has is not applied again on top of another node's", async () => {
    await using nats = await emptyServer();
    await using a = await openNode(nats, "node-a");
    await using b = await openNode(nats, "node-b");
    const ordered = (names: readonly string[]) => ({ ...observedSources(names), identity: [] });
    const history = { keepDays: 3, maxBytes: 1_000_000 };
    const { stream } = a.log;
    const publish = stream.publish.bind(stream);
    let second: Promise<void> | undefined;
    stream.publish = (...first) => {
      // Changed while the first change is published, and overtaken by a change of node-b that knows the first.
      second = a.committer.changeSettings((settings) => ({ ...settings, history }));
      stream.publish = async (...next) => {
        stream.publish = publish;
        await b.caughtUp();
        await b.committer.setSettings(ordered(["a", "b"]));
        return publish(...next);
      };
      return publish(...first);
    };
    await a.committer.setSettings(ordered(["b", "a"]));
    await second;
    await b.caughtUp();
    for (const { committer } of [a, b]) {
      const { settings } = committer.rules;
      expect([settings.sources.map(({ name }) => name), settings.history]).toEqual([["a", "b"], history]);
    }
  });

  test("a node whose appends are always refused gets a turn; the other one waits for it, and goes on", async () => {
    await using nats = await emptyServer();
    await using a = await openNode(nats, "node-a");
    await using b = await openNode(nats, "node-b");
    const [write, writeFast] = [await writer(a, "a"), await writer(b, "b")];
    // As with a large batch: whenever it is computed, the other node has appended meanwhile, if it does.
    const { append } = a.log;
    a.log.append = async (batch, source) => {
      const { lag } = a.log;
      await until(() => a.log.lag > lag, { what: "a batch of the other node", deadlineMs: 1_000 }).catch(
        () => {},
      );
      return append.call(a.log, batch, source);
    };
    let [isDone, id] = [false, 100];
    const fast = (async () => {
      while (!isDone) await writeFast(id, ++id);
    })();
    await write(0, 1);
    const reached = id;
    await until(() => id > reached + 3, { what: "that the other node goes on" });
    isDone = true;
    await fast;
    await Promise.all([a.caughtUp(), b.caughtUp()]);
    expectSame(b, a);
    expect(a.log.overtakenAppends).toBeGreaterThanOrEqual(4);
    const messages: string[] = [];
    const { lastSequence } = await a.log.stream.info();
    for (let sequence = 1; sequence <= lastSequence; sequence++) {
      const headers = (await a.log.stream.message(sequence))?.headers;
      messages.push(`${headers?.get("Gazetteer-Type")} ${headers?.get("Gazetteer-Node")}`);
    }
    const turn = messages.indexOf("turn node-a");
    expect(messages[turn + 1]).toBe("batch node-a");
    expect(b.log.foreignMessages).toBe(0);
  });
});
