/** Random commits on three nodes, while a server of the engine dies at random moments, give equal views. */
import { expect, test } from "bun:test";
import { ClaimIngest } from "../../../src/view/claim-ingest.ts";
import { openNode } from "../../cluster/log-nodes.ts";
import { device, expectSame, logger, never } from "../../cluster/writing.ts";
import { startNatsServers } from "../../support/nats-servers.ts";

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
const SOURCES = ["a", "b", "c"];
/** Of each node. Those that are overtaken are computed again. */
const COMMITS = 50;

/** Numbers from 0 to below 1: mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test(`random commits and kills of a server (SEED=${SEED})`, async () => {
  const random = randomNumbers(SEED);
  const pick = (count: number) => Math.floor(random() * count);
  await using nats = await startNatsServers({ servers: 3 });
  const options = { replicas: 3, sources: SOURCES, snapshotMessages: 2 * COMMITS };
  await using a = await openNode(nats, "node-a", options);
  await using b = await openNode(nats, "node-b", options);
  await using c = await openNode(nats, "node-c", options);
  const nodes = [a, b, c];
  const acknowledged = SOURCES.map(() => new Map<string, string | undefined>());
  const commits = nodes.map(async (node, n) => {
    const source = SOURCES[n] ?? "";
    await node.log.takeOver(source, never);
    const ingest = new ClaimIngest(node.committer, source, logger);
    for (let commit = 0; commit < COMMITS; commit++) {
      const { id } = device(pick(20));
      const isRemoved = random() < 0.3;
      const hw = `${source}${commit}`;
      await ingest.apply([
        isRemoved ? { op: "remove", kind: "devices", id } : { op: "set", kind: "devices", claim: { id, hw } },
      ]);
      acknowledged[n]?.set(id, isRemoved ? undefined : hw);
      if (commit === pick(COMMITS)) await node.snapshots.publish().catch(() => {});
    }
  });
  let isWriting = true;
  const kills = (async () => {
    for (let kill = 0; kill < 2 && isWriting; kill++) {
      const server = nats.servers[pick(3)];
      await server?.kill();
      await Bun.sleep(pick(500));
      await server?.start();
      await Bun.sleep(pick(1000));
    }
  })();
  await Promise.all(commits);
  isWriting = false;
  await kills;
  await using late = await openNode(nats, "node-late", options);
  await Promise.all([...nodes, late].map((node) => node.caughtUp()));
  for (const node of [b, c, late]) expectSame(node, a);
  // Nothing that was acknowledged is missing: of each device, the first source that claims it gives the value.
  for (let n = 0; n < 20; n++) {
    const { id } = device(n);
    const expected = acknowledged.map((claims) => claims.get(id)).find((hw) => hw !== undefined);
    const text = a.committer.view.get("devices", id);
    expect(text === undefined ? undefined : JSON.parse(text).hw).toBe(expected);
  }
  const revisions = [...a.log.read(0)].flatMap((batch) => batch?.revision ?? []);
  expect(revisions).toEqual(Array.from({ length: revisions.length }, (_, n) => n + 1));
});
