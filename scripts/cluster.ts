/**
 * `npm run cluster`: three nodes and three NATS servers on this machine, to try a cluster. Ctrl-C stops all of them.
 *
 *   --data DIR    keep the data there; without it, it is in a temporary folder that is removed at the end
 *   --demo SPEC   the simulated network, as `gazetteer serve --demo=SPEC`
 *   --nodes N     default 3
 *
 * NATS_SERVER names another binary than the one on the PATH.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { findNatsServer, startServers } from "./cluster/nats.ts";
import { type Node, startNode } from "./cluster/node.ts";

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    data: { type: "string" },
    demo: { type: "string", default: "devices=50,hosts=300" },
    nodes: { type: "string", default: "3" },
  },
});
const FIRST_PORT = 8181;
const count = Number(options.nodes);
if (!Number.isInteger(count) || count < 1 || count > 26) {
  console.error("npm run cluster: --nodes wants 1 to 26");
  process.exit(2);
}
const binary = findNatsServer();
if (binary === undefined) {
  console.error(`npm run cluster: nats-server is not installed. Install it with one of
  apt install nats-server                                    Debian, Ubuntu
  brew install nats-server                                   macOS
  go install github.com/nats-io/nats-server/v2@latest        anywhere with Go
or name it: NATS_SERVER=/path/to/nats-server npm run cluster`);
  process.exit(2);
}

const folder =
  options.data === undefined ? mkdtempSync(join(tmpdir(), "gazetteer-cluster-")) : resolve(options.data);
const password = randomBytes(12).toString("base64url");
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopping.abort());
const servers = await startServers({ binary, count: 3, folder });
const nodes: Node[] = [];
try {
  for (let n = 0; n < count && !stopping.signal.aborted; n++) {
    const name = String.fromCharCode("a".charCodeAt(0) + n);
    nodes.push(
      await startNode({
        name,
        port: FIRST_PORT + n,
        data: join(folder, name),
        credentials: `demo:${password}`,
        servers: servers.urls,
        secretFile: servers.secretFile,
        args: [`--demo=${options.demo}`],
      }),
    );
  }
  console.log(`
${nodes.length} nodes, 3 NATS servers; user demo, password ${password}; data in ${folder}
${nodes.map(({ name, url }) => `  ${name}  ${url}/\n     curl -u demo:${password} ${url}/controller/v1/topology`).join("\n")}

  bin/gazetteer cluster status --cluster ${servers.urls.join(",")} --set cluster.secretFile=${servers.secretFile}

Stop a node (kill -9 ${nodes.map(({ pid }) => pid).join(", ")}) or a NATS server (kill -9 ${servers.pids.join(", ")}) and watch the others.
Ctrl-C stops all.`);
  await new Promise<void>((done) => {
    if (stopping.signal.aborted) done();
    stopping.signal.addEventListener("abort", () => done(), { once: true });
  });
} finally {
  await Promise.all(nodes.map((node) => node.stop()));
  await servers.stop();
  if (options.data === undefined) rmSync(folder, { recursive: true, force: true });
}
