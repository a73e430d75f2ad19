/** The files of docs/cluster.md work as they are printed: three NATS servers with TLS and accounts, and a node that uses them. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { deviceId, ServiceNode } from "../../cluster/service-nodes.ts";
import { createCertificates } from "../../support/certificates.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { natsServerVersion, startNatsServers } from "../../support/nats-servers.ts";

const PAGE = readFileSync(join(import.meta.dir, "..", "..", "..", "docs", "cluster.md"), "utf8");

/** The block of the page that a comment marks. */
function block(mark: string): string {
  const [, text] = new RegExp(`<!-- ${mark}\\b.*?-->\\s*\`\`\`\\w*\\n(.*?)\`\`\``, "s").exec(PAGE) ?? [];
  if (text === undefined) throw new Error(`docs/cluster.md has no block ${mark}`);
  return text;
}

test("three servers and a node with the files of docs/cluster.md", async () => {
  const folder = temporaryFolder();
  createCertificates(folder, ["n1", "n2", "n3"]);
  const [, minor = 0] = natsServerVersion().split(".").map(Number);
  const sample = block("nats-server");
  expect(sample).toMatch(/^ *sync_interval: always +# NATS 2\.10 and later/m);
  const file = minor < 10 ? sample.replace(/^ *sync_interval.*\n/m, "") : sample;
  await using nats = await startNatsServers({
    servers: 3,
    config: block("nats-permissions"),
    // Only what differs between machines is replaced.
    fileOf: ({ name, port, routePort, routePorts, store }) =>
      file
        .replaceAll("/etc/nats/n1.", `/etc/nats/${name}.`)
        .replaceAll("/etc/nats", folder)
        .replace("server_name: n1", `server_name: ${name}`)
        .replace("/var/lib/nats", store)
        .replace("0.0.0.0:4222", `127.0.0.1:${port}`)
        .replace("0.0.0.0:6222", `127.0.0.1:${routePort}`)
        .replace(/10\.0\.0\.(\d):6222/g, (_, n) => `127.0.0.1:${routePorts[Number(n) - 1]}`),
  });
  const printed = block("gazetteer")
    .replace(/10\.0\.0\.(\d):4222/g, (_, n) => `127.0.0.1:${nats.servers[Number(n) - 1]?.port}`)
    .replace("/etc/gazetteer/cluster.secret", nats.secretFile)
    .replaceAll("/etc/nats", folder);
  const { cluster } = parse(printed);
  await using node = new ServiceNode({ nats, name: "default", replicas: 3 }, "a");
  node.configure(["x"], { cluster });
  node.writeNetwork("x", [{ id: deviceId(1) }]);
  await node.start();
  await node.untilSource("x", "synced");
  expect(await node.deviceIds()).toEqual([deviceId(1)]);
  const overview = await (await node.service.fetch("/cluster")).json();
  expect(overview).toMatchObject({ engine: { replicas: 3 } });
  expect(overview.engine.servers).toHaveLength(3);
  expect(node.service.stderr()).not.toMatch(/condition=(replicas|unreachable|full)/);
});
