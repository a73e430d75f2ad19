/**
 * Real switches in a cluster: a ring of Open vSwitch bridges that know all three nodes. The node that decides is killed, and
 * another one goes on.
 */
import { describe, expect, test } from "bun:test";
import { OpenflowNode, SOURCE } from "../../../cluster/openflow-nodes.ts";
import { shortenLeases } from "../../../cluster/service-nodes.ts";
import { EventLog } from "../../../support/event-log.ts";
import { startNatsServers } from "../../../support/nats-servers.ts";
import { until } from "../../../support/until.ts";
import { type Lab, TEST_TIMEOUT_MS, useLab } from "./lab.ts";
import { canRunMininet } from "./mininet.ts";
import { ServiceUnderTest } from "./service-under-test.ts";

const GRACE_MS = 6_000;
const OPTIONS = { probeIntervalMs: 1000, graceMs: GRACE_MS };

/** How many controllers of all bridges have each role, as `master 4`. Those that are not connected have none. */
async function roles(lab: Lab): Promise<string> {
  const text = await lab.mininet.shell("ovs-vsctl --bare --columns=role,is_connected list Controller");
  const counts = new Map<string, number>();
  for (const [, role = ""] of text.matchAll(/^(\w+)\ntrue$/gm)) counts.set(role, (counts.get(role) ?? 0) + 1);
  return [...counts]
    .map(([role, count]) => `${role} ${count}`)
    .sort()
    .join(", ");
}

describe.skipIf(!canRunMininet())("real switches that know three nodes", () => {
  const use = useLab();

  test(
    "the node that decides is killed: no storm, all links are verified again, and nothing is removed",
    async () => {
      const { lab } = use;
      await using nats = await startNatsServers();
      const cluster = { nats, name: "ring", replicas: 1 };
      await shortenLeases(cluster, 4_000);
      await using a = await OpenflowNode.start(cluster, "a", OPTIONS);
      await using b = await OpenflowNode.start(cluster, "b", OPTIONS);
      await using c = await OpenflowNode.start(cluster, "c", OPTIONS);
      const others = [b.openflowPort, c.openflowPort];
      const network = await lab.mininet.start("ring", a.openflowPort, { others });
      const seen = new ServiceUnderTest(c.service, c.openflowPort, await EventLog.open(c.service));
      await seen.waitForNetwork(network);
      await lab.waitForForwarding(network);
      expect(await lab.mininet.pingAll()).toBe(0);
      await seen.waitForHosts(network);
      // Each bridge has one master, and the other sessions stand by.
      await until(async () => (await roles(lab)) === "master 4, slave 8", { what: "the roles" });
      expect((await seen.devices()).every(({ role, available }) => role === "MASTER" && available)).toBe(
        true,
      );

      const before = seen.events.length;
      const framesBefore = await lab.mininet.frames();
      await a.kill();
      const holder = await until(
        async () => {
          for (const node of [b, c]) if ((await node.source(SOURCE))?.status === "synced") return node;
          return undefined;
        },
        { what: "another node that runs the source" },
      );
      const graceEnds = performance.now() + GRACE_MS;
      expect(await lab.mininet.pingAll()).toBe(0);
      await until(async () => (await roles(lab)) === "master 4, slave 4", { what: "the roles of the rest" });
      await until(() => performance.now() > graceEnds + 1000, { what: "the end of the grace period" });
      // Links that no probe of the new node has confirmed would be removed by now.
      await seen.waitForNetwork(network);
      expect(await holder.metric("links")).toBe(8);
      expect(await holder.metric("probes_accepted_total")).toBeGreaterThanOrEqual(8);
      expect(await lab.mininet.pingAll()).toBe(0);
      await seen.waitForHosts(network);
      // A storm would be hundreds of thousands of frames each second.
      expect((await lab.mininet.frames()) - framesBefore).toBeLessThan(10_000);
      expect(seen.eventsSince(before).filter((line) => line.startsWith("removed"))).toEqual([]);
      expect(seen.events.slice(before).filter(({ value }) => value.available === false)).toEqual([]);
      expect((await seen.devices()).every(({ role, available }) => role === "MASTER" && available)).toBe(
        true,
      );
    },
    TEST_TIMEOUT_MS,
  );
});
