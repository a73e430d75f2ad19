/**
 * A rolling upgrade: nodes of an earlier commit are replaced one after the other, each on its data folder, by nodes of this
 * one, while a client reads from the nodes that are in rotation. Where there is no commit that these nodes need to understand,
 * the earlier version is this one, too: then it says so, and only shows that nodes can be replaced.
 */
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type Node, startNode } from "../../../scripts/cluster/node.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startNatsServers } from "../../support/nats-servers.ts";
import { until } from "../../support/until.ts";
import { checkOutPrevious } from "./previous-version.ts";

const ROOT = join(import.meta.dir, "../../..");
const CREDENTIALS = "reader:secret";
const Authorization = `Basic ${btoa(CREDENTIALS)}`;

const previous = checkOutPrevious(ROOT);
afterAll(() => previous?.[Symbol.dispose]());

const read = (node: Node, path: string) =>
  fetch(`${node.url}/controller/v1/${path}`, { headers: { Authorization } });

test("nodes of an earlier commit and of this one serve the same, and no read fails while they are replaced", async () => {
  const version = previous ? `of ${previous.commit}` : "OF THIS CHECKOUT: NO EARLIER ONE WRITES ITS FORMAT";
  console.log(`upgrade test: the nodes that are replaced are ${version}`);
  await using nats = await startNatsServers();
  const folder = temporaryFolder();
  const start = (name: string, root?: string) =>
    startNode({
      name,
      port: 0,
      data: join(folder, name),
      credentials: CREDENTIALS,
      servers: nats.urls.split(","),
      secretFile: nats.secretFile,
      args: ["--demo=devices=10,hosts=30,churn=5"],
      isQuiet: true,
      ...(root !== undefined && { root }),
    });
  const rotation: Node[] = [];
  const failures: string[] = [];
  let reads = 0;
  let isDone = false;
  const client = async () => {
    let revision = 0;
    while (!isDone) {
      const node = rotation[reads++ % rotation.length];
      if (!node) throw new Error("no node in rotation");
      const response = await read(node, `hosts?min-revision=${revision}`);
      const seen = Number(response.headers.get("gazetteer-revision"));
      if (response.status !== 200 || seen < revision)
        failures.push(`${node.name}: ${response.status} at ${seen} after ${revision}`);
      revision = Math.max(revision, seen);
      await response.arrayBuffer();
    }
  };
  const started: Node[] = [];
  try {
    for (const name of ["a", "b"]) started.push(await start(name, previous?.folder));
    rotation.push(...started);
    const clientEnded = client();
    clientEnded.catch((error: unknown) => failures.push(String(error)));
    for (const [i, name] of ["a", "b"].entries()) {
      const [old] = rotation.splice(0, 1);
      const other = rotation[0];
      if (!old || !other) throw new Error("two nodes are needed");
      // As a load balancer drains a node: the read in flight ends when the next one has begun.
      const inFlight = reads;
      await until(() => reads > inFlight, { what: `the last read from ${name}` });
      await old.stop();
      const next = await start(name);
      started[i] = next;
      await until(async () => (await fetch(`${next.url}/readyz`)).status === 200, {
        what: `${name} ready`,
      });
      rotation.push(next);
      const { headers } = await read(other, "topology");
      const revision = headers.get("gazetteer-revision");
      const paths = ["devices", "links", "hosts"].map((kind) => `${kind}?at=${revision}`);
      for (const path of paths)
        expect(await (await read(next, path)).text()).toBe(await (await read(other, path)).text());
    }
    const before = reads;
    await until(() => reads > before + 20 || failures.length > 0, { what: "reads from the new nodes" });
    isDone = true;
    await clientEnded.catch(() => {});
    expect(failures).toEqual([]);
  } finally {
    isDone = true;
    await Promise.all(started.map((node) => node.kill()));
  }
}, 240_000);
