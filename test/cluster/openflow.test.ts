/**
 * OpenFlow on three nodes: each accepts switches, and one of them decides for the whole network. Switches are emulated, and
 * spread over the nodes; some know several.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ROLE } from "../../src/sources/openflow/codec/messages.ts";
import { addHostToEachSwitch, type EmulatedHost } from "../sources/openflow/emulated-host.ts";
import { type BuiltNetwork, buildNetwork, ring } from "../sources/openflow/topologies.ts";
import { EventLog } from "../support/event-log.ts";
import { type NatsServers, startNatsServers } from "../support/nats-servers.ts";
import { until } from "../support/until.ts";
import { keepConnected, OpenflowNode, SOURCE, untilLinks } from "./openflow-nodes.ts";
import { shortenLeases, type TestCluster } from "./service-nodes.ts";

/** Links outlast the time until a killed node is noticed. */
const OPTIONS = { probeIntervalMs: 2000, settleMs: 200, graceMs: 3000, echoIntervalMs: 1000 };
const LEASE_MS = 4_000;

let nats: NatsServers;
beforeAll(async () => {
  nats = await startNatsServers();
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
});

async function startNodes(name: string, names: readonly string[]): Promise<OpenflowNode[]> {
  const cluster: TestCluster = { nats, name, replicas: 1 };
  await shortenLeases(cluster, LEASE_MS);
  const nodes: OpenflowNode[] = [];
  // The first one runs the source.
  for (const node of names) nodes.push(await OpenflowNode.start(cluster, node, OPTIONS));
  return nodes;
}

const linkIds = ({ wires }: BuiltNetwork, except: number[] = []): string[] =>
  wires
    .filter(({ a, b }) => !except.includes(a.dpid) && !except.includes(b.dpid))
    .flatMap(({ a, portA, b, portB }) => [
      `${a.id}/${portA}-${b.id}/${portB}`,
      `${b.id}/${portB}-${a.id}/${portA}`,
    ]);

/** How often each of these hosts receives a broadcast of each other one. */
function countBroadcasts(network: BuiltNetwork, hosts: readonly EmulatedHost[]): number[] {
  for (const host of hosts) host.broadcastsReceived.clear();
  network.net.deliveries = 0;
  for (const host of hosts) host.announce();
  return hosts.flatMap((host) =>
    hosts.filter((other) => other !== host).map((other) => host.broadcastsReceived.get(other.mac) ?? 0),
  );
}

describe("switches on three nodes", () => {
  test("are one network with one master each; a node that only relays and then the one that decides are killed", async () => {
    const [a, b, c] = await startNodes("ring", ["a", "b", "c"]);
    if (!a || !b || !c) throw new Error("three nodes");
    await using _a = a;
    await using _b = b;
    await using _c = c;
    const end = new AbortController();
    const network = buildNetwork(7, ring(7));
    const hosts = addHostToEachSwitch(network.net);
    const connect = (dpid: number, ...nodes: OpenflowNode[]) =>
      void keepConnected(network.net.get(dpid), nodes, end.signal);
    // The first session of 1 and 2 goes through b, which is killed first.
    connect(1, b);
    connect(2, b);
    await until(async () => (await a.devices()).length === 2, { what: "the switches of b" });
    connect(1, c);
    connect(2, c);
    connect(3, c);
    connect(4, c);
    connect(5, a, b, c);
    connect(6, a, b, c);
    connect(7, a);
    try {
      await untilLinks(c, linkIds(network));
      await until(async () => (await a.metric("standby_sessions")) === 6, {
        what: "the sessions that stand by",
      });
      const switches = [...network.net.switches.values()];
      const oneMasterEach = () => switches.every((sw) => sw.masters.length === 1);
      expect(oneMasterEach()).toBe(true);
      const devices = await c.devices();
      expect(devices.map(({ available, role }) => `${available} ${role}`)).toEqual(
        Array(7).fill("true MASTER"),
      );
      expect(devices.some(({ annotations }) => "conflict" in annotations)).toBe(false);
      const first = switches[0]?.roleChanges[0]?.generation ?? 0n;
      expect(first).toBeGreaterThan(0n);
      await until(() => countBroadcasts(network, hosts).every((count) => count === 1), { what: "a tree" });

      // A node that relays: its switches go on through another one.
      const events = await EventLog.open(c.service);
      await b.kill();
      await until(async () => (await a.metric("masters_replaced_total")) >= 2, { what: "other masters" });
      await until(oneMasterEach, { what: "one master each" });
      await untilLinks(c, linkIds(network));
      expect(events.events.filter(({ value }) => value.available === false)).toEqual([]);
      expect(switches.flatMap((sw) => sw.roleChanges).every(({ generation }) => generation === first)).toBe(
        true,
      );

      // The node that decides: another one takes over, with what the log has.
      await a.kill();
      await c.untilSource(SOURCE, "synced");
      // Only known there, so it is unavailable once the grace period ends.
      const lost = network.net.get(7).id;
      await until(async () => (await c.devices()).find(({ id }) => id === lost)?.available === false, {
        what: "the end of the grace period",
      });
      const kept = switches.filter(({ dpid }) => dpid !== 7);
      await untilLinks(c, linkIds(network, [7]));
      await until(() => countBroadcasts(network, hosts.slice(0, 6)).every((count) => count === 1), {
        what: "a tree of the rest",
      });
      expect((await c.devices()).filter(({ available }) => available).map(({ role }) => role)).toEqual(
        Array(6).fill("MASTER"),
      );
      expect(
        events.events.filter(({ what, resource }) => what === "removed" && resource === "devices"),
      ).toEqual([]);
      const lostLinks = events.events.filter(
        ({ what, resource }) => what === "removed" && resource === "links",
      );
      expect(lostLinks.map(({ id }) => id).filter((id) => linkIds(network, [7]).includes(id))).toEqual([]);
      expect(await c.metric("probes_accepted_total")).toBeGreaterThan(0);
      for (const sw of kept) {
        const masters = sw.roleChanges.filter(({ role }) => role === ROLE.master);
        expect(masters.at(-1)?.generation).toBeGreaterThan(first);
        expect(sw.masters.length).toBe(1);
        // Nobody but the master has tried to change anything.
        expect(sw.refusedChanges).toBe(0);
      }
      events.close();
    } finally {
      end.abort();
      network.net.disconnect();
    }
  });

  test("wait while no node may decide; when a node is paused, they obey the one that took over", async () => {
    await using own = await startNatsServers();
    const cluster: TestCluster = { nats: own, name: "pauses", replicas: 1 };
    await shortenLeases(cluster, LEASE_MS);
    await using a = await OpenflowNode.start(cluster, "a", OPTIONS);
    await using b = await OpenflowNode.start(cluster, "b", OPTIONS);
    const end = new AbortController();
    const network = buildNetwork(3, ring(3));
    const [one, two, three] = [network.net.get(1), network.net.get(2), network.net.get(3)];
    void keepConnected(one, [a], end.signal);
    void keepConnected(two, [b], end.signal);
    void keepConnected(three, [a, b], end.signal);
    const received = () => [one, two, three].map((sw) => sw.received.get("featuresRequest"));
    try {
      await untilLinks(b, linkIds(network));
      const first = three.roleChanges.at(-1)?.generation ?? 0n;

      // Without NATS no node has the lease: each accepts its switches and decides nothing.
      own.servers[0]?.pause();
      await Promise.all([a, b].map((node) => node.untilSource(SOURCE, "standby")));
      const before = received();
      await until(async () => (await a.metric("waiting_sessions")) === 2, {
        what: "switches that wait on a",
      });
      await until(async () => (await b.metric("waiting_sessions")) === 2, {
        what: "switches that wait on b",
      });
      expect(received()).toEqual(before);
      own.servers[0]?.resume();
      await untilLinks(b, linkIds(network));
      await until(() => (three.roleChanges.at(-1)?.generation ?? 0n) > first, { what: "a new generation" });
      const [holder, other] = (await a.source(SOURCE))?.status === "synced" ? [a, b] : [b, a];

      // The paused node still has its connections, and the switch obeys the new one.
      holder.pause();
      await other.untilSource(SOURCE, "synced");
      await until(() => three.masters.some(({ port }) => port === other.openflowPort), {
        what: "the new master",
      });
      const second = three.roleChanges.at(-1)?.generation ?? 0n;
      expect(three.masters.length).toBe(1);
      holder.resume();
      await holder.untilSource(SOURCE, "standby");
      await untilLinks(other, linkIds(network));
      expect(three.roleChanges.at(-1)?.generation).toBe(second);
      // The switch that knows only the paused node is relayed again after a while; nothing was removed meanwhile.
      await until(async () => (await other.devices()).filter(({ available }) => available).length === 3, {
        what: "all devices available",
      });
    } finally {
      end.abort();
      network.net.disconnect();
    }
  });
});
