/**
 * A rolling upgrade: nodes of the previous commit are replaced one after the other, each on its data folder, by nodes of this
 * one, while a client reads from the nodes that are in rotation. Skipped where there is no git history, or where the previous
 * commit knows no cluster or writes another format of messages.
 */
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Node, startNode } from "../../scripts/cluster/node.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startNatsServers } from "../support/nats-servers.ts";
import { until } from "../support/until.ts";

const ROOT = join(import.meta.dir, "../..");
const CREDENTIALS = "reader:secret";
const Authorization = `Basic ${btoa(CREDENTIALS)}`;

const FORMAT_LINE = /^export const FORMAT = \d+;$/m;
const formatOf = (source: string): string | undefined => FORMAT_LINE.exec(source)?.[0];

/** HEAD~1, if it writes the same format of messages: otherwise the nodes need not understand each other. */
function previousCommit(): string | undefined {
  const messages = "src/log/jetstream/messages.ts";
  const shown = Bun.spawnSync(["git", "show", `HEAD~1:${messages}`], { cwd: ROOT });
  const here = formatOf(readFileSync(join(ROOT, messages), "utf8"));
  return here !== undefined && formatOf(shown.stdout.toString()) === here ? "HEAD~1" : undefined;
}

/** Within this checkout, so that its packages are found; `/data` is not under version control. */
function checkOutPrevious(): string | undefined {
  const commit = previousCommit();
  if (commit === undefined) return undefined;
  mkdirSync(join(ROOT, "data"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, "data", "previous-"));
  const { exitCode } = Bun.spawnSync(
    [
      "sh",
      "-c",
      'git archive "$2" src openapi.json docs package.json | tar -x -C "$1"',
      "sh",
      folder,
      commit,
    ],
    { cwd: ROOT },
  );
  if (exitCode === 0 && existsSync(join(folder, "src/cluster"))) return folder;
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}

const previous = checkOutPrevious();
afterAll(() => {
  if (previous !== undefined) rmSync(previous, { recursive: true, force: true });
});

const read = (node: Node, path: string) =>
  fetch(`${node.url}/controller/v1/${path}`, { headers: { Authorization } });

test.skipIf(previous === undefined)(
  "nodes of the previous commit and of this one serve the same, and no read fails while they are replaced",
  async () => {
    await using nats = await startNatsServers();
    const folder = temporaryFolder();
    const start = (name: string, root?: string) =>
      startNode({
        name,
        port: 0,
        data: join(folder, name),
        credentials: CREDENTIALS,
        servers: nats.urls.split(","),
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
      for (const name of ["a", "b"]) started.push(await start(name, previous));
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
  },
  240_000,
);
