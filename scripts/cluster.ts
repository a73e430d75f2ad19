/**
 * `npm run cluster`: three nodes and three NATS servers on this machine, to try a cluster. Ctrl-C stops all of them,
 * and so does the end of the process that has started it.
 *
 *   --data DIR    keep the data there; without it, it is in a temporary folder that is removed at the end
 *   --demo SPEC   the simulated network, as `gazetteer serve --demo=SPEC`
 *   --nodes N     default 3
 *   --port N      of the first node, default 8181; the others have the next ones
 *
 * NATS_SERVER names another binary than the one on the PATH.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { findNatsServer, isFree, startServers } from "./cluster/nats.ts";
import { type Node, startNode } from "./cluster/node.ts";
import { starterEnded } from "./end-with-runner.ts";

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    data: { type: "string" },
    demo: { type: "string", default: "devices=50,hosts=300" },
    nodes: { type: "string", default: "3" },
    port: { type: "string", default: "8181" },
  },
});
const firstPort = Number(options.port);
const count = Number(options.nodes);
if (!Number.isInteger(count) || count < 1 || count > 26) {
  console.error("npm run cluster: --nodes wants 1 to 26");
  process.exit(2);
}
if (!Number.isInteger(firstPort) || firstPort < 1 || firstPort + count > 65_536) {
  console.error("npm run cluster: --port wants 1 to 65535");
  process.exit(2);
}
const taken: number[] = [];
for (let port = firstPort; port < firstPort + count; port++) if (!(await isFree(port))) taken.push(port);
if (taken.length > 0) {
  console.error(
    `npm run cluster: ${taken.length === 1 ? "port" : "ports"} ${taken.join(", ")} of 127.0.0.1 ${taken.length === 1 ? "is" : "are"} taken; give another first port: npm run cluster -- --port N`,
  );
  process.exit(1);
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
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stopping.abort());
void starterEnded().then(() => stopping.abort());
const servers = await startServers({ binary, count: 3, folder });
const nodes: Node[] = [];
try {
  for (let n = 0; n < count && !stopping.signal.aborted; n++) {
    const name = String.fromCharCode("a".charCodeAt(0) + n);
    nodes.push(
      await startNode({
        name,
        port: firstPort + n,
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
process.exit(0);
