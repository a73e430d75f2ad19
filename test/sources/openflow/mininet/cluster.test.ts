/**
 * Real switches in a cluster: a ring of Open vSwitch bridges that know two nodes. The node that runs the source is killed;
 * then the one that took over is paused past its lease, and resumed. A third node, without the source, is read all along.
 */
import { describe, expect, test } from "bun:test";
import { ServiceNode, shortenLeases, type TestCluster } from "../../../cluster/service-nodes.ts";
import { EventLog } from "../../../support/event-log.ts";
import { freePorts, startNatsServers } from "../../../support/nats-servers.ts";
import { until } from "../../../support/until.ts";
import { type Lab, TEST_TIMEOUT_MS, useLab } from "./lab.ts";
import { canRunMininet, type MininetNetwork } from "./mininet.ts";
import { ServiceUnderTest } from "./service-under-test.ts";

const LEASE_MS = 4_000;
/** Open vSwitch tries every 8 s to reach a controller that did not listen, whatever its `max_backoff` is. */
const GRACE_MS = 10_000;
const SOURCE = "fabric";

class OpenflowNode extends ServiceNode {
  /** Where switches connect while this node runs the source. */
  openflowPort = 0;

  static async start(cluster: TestCluster, name: string): Promise<OpenflowNode> {
    const node = new OpenflowNode(cluster, name);
    [node.openflowPort = 0] = await freePorts(1);
    const listen = `127.0.0.1:${node.openflowPort}`;
    const options = { forwarding: "bridge", probeIntervalMs: 1000, graceMs: GRACE_MS };
    node.configure([], { sources: [{ type: "openflow", name: SOURCE, listen, ...options }] });
    await node.start();
    return node;
  }

  async metric(name: string): Promise<number> {
    const text = await (await this.service.fetch("/metrics")).text();
    return Number(new RegExp(`^gazetteer_openflow_${name}\\{[^}]*\\} (\\d+)`, "m").exec(text)?.[1] ?? 0);
  }
}

/** The controllers of all bridges that are connected, as `ROLE TARGET`. */
async function roles(lab: Lab): Promise<string[]> {
  const text = await lab.mininet.shell("ovs-vsctl --bare --columns=role,target,is_connected list Controller");
  return Array.from(
    text.matchAll(/^(\w+)\n(\S+)\ntrue$/gm),
    ([, role = "", target = ""]) => `${role} ${target}`,
  ).sort();
}

/** Waits until exactly these controllers are connected. Open vSwitch writes them down every five seconds. */
async function untilRoles(lab: Lab, expected: readonly string[]): Promise<void> {
  let last: string[] = [];
  const isReached = async () => {
    last = await roles(lab);
    return last.join() === expected.join();
  };
  await until(isReached, { what: expected.join() }).catch((error: unknown) => {
    throw new Error(`expected ${expected}, there are ${last}`, { cause: error });
  });
}

const mastersOf = ({ openflowPort }: OpenflowNode) => Array(4).fill(`master tcp:127.0.0.1:${openflowPort}`);

/** Waits until the node has sessions with all switches, and its own probes have confirmed all links. */
async function untilTakenOver(node: OpenflowNode, network: MininetNetwork): Promise<void> {
  await node.untilSource(SOURCE, "synced");
  await until(async () => (await node.metric("sessions")) === 4, { what: "the sessions of all switches" });
  const links = 2 * network.links.length;
  await until(async () => (await node.metric("probes_accepted_total")) >= links, { what: "accepted probes" });
}

describe.skipIf(!canRunMininet())("real switches that know two nodes", () => {
  const use = useLab();

  test(
    "the node that runs the source is killed, the next one is paused and resumed: no ping is lost, nothing is removed, no storm",
    async () => {
      const { lab } = use;
      await using nats = await startNatsServers();
      const cluster = { nats, name: "ring", replicas: 1 };
      await shortenLeases(cluster, LEASE_MS);
      await using a = await OpenflowNode.start(cluster, "a");
      await using b = await OpenflowNode.start(cluster, "b");
      await using reader = new ServiceNode(cluster, "c");
      reader.configure([]);
      await reader.start();
      const network = await lab.mininet.start("ring", a.openflowPort, { others: [b.openflowPort] });
      const seen = new ServiceUnderTest(reader.service, 0, await EventLog.open(reader.service));
      await seen.waitForNetwork(network);
      await lab.waitForForwarding(network);
      expect(await lab.mininet.pingAll()).toBe(0);
      await seen.waitForHosts(network);
      await untilRoles(lab, mastersOf(a));

      const before = seen.events.length;
      const framesBefore = await lab.mininet.frames();
      await lab.mininet.startPings("h1", "h3");
      const killedAt = performance.now();
      await a.kill();
      await untilTakenOver(b, network);
      // A switch that had not connected in time would be unavailable by then.
      await until(() => performance.now() > killedAt + LEASE_MS + GRACE_MS + 1000, {
        what: "the end of the grace period",
      });
      expect(await b.metric("links")).toBe(2 * network.links.length);

      await a.start();
      await a.untilSource(SOURCE, "standby");
      b.pause();
      await untilTakenOver(a, network);
      b.resume();
      await b.untilSource(SOURCE, "standby");
      await untilRoles(lab, mastersOf(a));

      expect(await lab.mininet.stopPings()).toBe(0);
      expect(await lab.mininet.pingAll()).toBe(0);
      await seen.waitForNetwork(network);
      await seen.waitForHosts(network);
      // A storm would be hundreds of thousands of frames each second.
      expect((await lab.mininet.frames()) - framesBefore).toBeLessThan(10_000);
      expect(seen.eventsSince(before).filter((line) => line.startsWith("removed"))).toEqual([]);
      expect(seen.events.slice(before).filter(({ value }) => value.available === false)).toEqual([]);
      expect((await seen.devices()).every(({ role, available }) => role === "MASTER" && available)).toBe(
        true,
      );
    },
    2 * TEST_TIMEOUT_MS,
  );
});
