/** Learning, moving, conflicts and expiry of hosts, with emulated switches and hosts. */
import { afterEach, describe, expect, test } from "bun:test";
import { ETHER, startFrame } from "../../../src/sources/openflow/codec/ethernet.ts";
import { until } from "../../support/until.ts";
import { addHostToEachSwitch, EmulatedHost, macOf } from "./emulated-host.ts";
import { deviceId } from "./emulator.ts";
import { type RunningSource, type startSource, TestResources } from "./harness.ts";
import { type BuiltNetwork, buildNetwork, line } from "./topologies.ts";

const resources = new TestResources();
afterEach(() => resources.close());

interface TestNetwork extends RunningSource {
  readonly network: BuiltNetwork;
  readonly hosts: EmulatedHost[];
  locationsOf(id: string): string[];
}

/** A line of three switches with a host on port 1 of each, after all ports were classified. */
async function startNetwork(options: Parameters<typeof startSource>[0] = {}): Promise<TestNetwork> {
  const network = buildNetwork(3, line(3));
  // An additional port on each switch, for hosts that move.
  for (const sw of network.net.switches.values()) {
    sw.ports.set(9, { number: 9, up: true, config: 0, wire: undefined, station: undefined });
  }
  const source = await resources.startSource(options);
  const hosts = addHostToEachSwitch(network.net);
  await resources.connect(network.net, source.port);
  const settled = () => [...network.net.switches.values()].every((sw) => sw.isOpen(1) && sw.isOpen(9));
  await until(settled, { what: "edge ports open" });
  return {
    ...source,
    network,
    hosts,
    locationsOf: (id) => source.sink.hosts.get(id)?.locations.map((at) => `${at.elementId}/${at.port}`) ?? [],
  };
}

const first = <T>(list: readonly T[]): T => {
  const [item] = list;
  if (item === undefined) throw new Error("empty");
  return item;
};
const ID = `${macOf(1)}/None`;

describe("hosts", () => {
  test("are learned at their port, and not on links", async () => {
    const { sink, hosts } = await startNetwork();
    for (const host of hosts) host.announce();
    await until(() => sink.hosts.size === 3, { what: "three hosts" });
    expect([...sink.hosts.values()].sort((a, b) => (a.mac < b.mac ? -1 : 1))).toEqual(
      [1, 2, 3].map((number) => ({
        mac: macOf(number),
        vlan: "None",
        ipAddresses: [`10.0.0.${number}`],
        locations: [{ elementId: deviceId(number), port: "1" }],
      })),
    );
    expect(sink.rejected).toEqual([]);
  });

  test("that announce themselves before their port is classified are learned afterwards", async () => {
    const { network, sink, hosts } = await startNetwork({ settleMs: 600 });
    network.net.get(1).setPort(1, false);
    network.net.get(1).setPort(1, true);
    first(hosts).announce();
    await until(() => sink.hosts.has(ID), { what: "the host" });
  });

  test("have a VLAN, and one MAC in two VLANs is two hosts", async () => {
    const { sink, hosts } = await startNetwork();
    first(hosts).announce(10);
    first(hosts).announce(20);
    await until(() => sink.hosts.size === 2, { what: "a host in two VLANs" });
    expect([...sink.hosts.keys()].sort()).toEqual([`${macOf(1)}/10`, `${macOf(1)}/20`]);
    expect(sink.hosts.get(`${macOf(1)}/10`)).toMatchObject({ vlan: "10", outerTpid: "0x8100" });
  });

  test("can have several addresses", async () => {
    const { network, sink, hosts } = await startNetwork();
    first(hosts).announce();
    new EmulatedHost(network.net, network.net.get(1), 1, macOf(1), "10.9.9.9").announce();
    await until(() => sink.hosts.get(ID)?.ipAddresses?.length === 2, { what: "two addresses" });
    expect(sink.hosts.get(ID)?.ipAddresses).toEqual(["10.0.0.1", "10.9.9.9"]);
  });

  test("are removed when their port goes down, and probed when it comes back", async () => {
    const { network, sink, hosts } = await startNetwork();
    first(hosts).announce();
    await until(() => sink.hosts.has(ID), { what: "the host" });
    network.net.get(1).setPort(1, false);
    await until(() => !sink.hosts.has(ID), { what: "no host" });
    network.net.get(1).setPort(1, true);
    await until(() => sink.hosts.get(ID)?.ipAddresses?.length === 1, {
      what: "the host again, without an announcement",
    });
  });

  test("that move are claimed at the new port when the old one does not reply", async () => {
    const { network, hosts, locationsOf, sink, metric } = await startNetwork();
    const host = first(hosts);
    host.announce();
    await until(() => sink.hosts.has(ID), { what: "the host" });
    host.moveTo(network.net.get(3), 9);
    host.announce();
    await until(() => locationsOf(ID)[0] === `${deviceId(3)}/9`, { what: "the host at its new place" });
    expect(locationsOf(ID)).toEqual([`${deviceId(3)}/9`]);
    expect(sink.hosts.get(ID)?.annotations).toBeUndefined();
    expect(metric("host_moves_total")).toBe(1);
  });

  test("at two ports that both reply are a conflict, not a move", async () => {
    const { network, hosts, locationsOf, sink } = await startNetwork();
    first(hosts).announce();
    await until(() => sink.hosts.has(ID), { what: "the host" });
    const duplicate = new EmulatedHost(network.net, network.net.get(3), 9, macOf(1), "10.0.0.1");
    duplicate.announce();
    await until(() => sink.hosts.get(ID)?.annotations?.conflict, { what: "the flag" });
    expect(locationsOf(ID).sort()).toEqual([`${deviceId(1)}/1`, `${deviceId(3)}/9`]);
    expect(sink.hosts.get(ID)?.annotations?.conflict).toContain("replies at");
  });

  test("that use the address of another host are a conflict when the owner replies", async () => {
    const { network, hosts, sink } = await startNetwork();
    first(hosts).announce();
    await until(() => sink.hosts.has(ID), { what: "the owner" });
    new EmulatedHost(network.net, network.net.get(3), 9, macOf(77), "10.0.0.1").announce();
    const duplicate = `${macOf(77)}/None`;
    await until(() => sink.hosts.get(duplicate)?.annotations?.conflict, { what: "the flag" });
    expect(sink.hosts.get(ID)?.annotations?.conflict).toContain("10.0.0.1");
    expect(sink.hosts.get(ID)?.ipAddresses).toEqual(["10.0.0.1"]);
  });

  test("take over an address whose owner does not reply", async () => {
    const { network, hosts, sink } = await startNetwork();
    const owner = first(hosts);
    owner.announce();
    await until(() => sink.hosts.has(ID), { what: "the owner" });
    owner.responds = false;
    new EmulatedHost(network.net, network.net.get(3), 9, macOf(77), "10.0.0.1").announce();
    await until(() => sink.hosts.get(`${macOf(77)}/None`)?.ipAddresses?.length === 1, {
      what: "the address",
    });
    expect(sink.hosts.get(ID)?.ipAddresses).toEqual([]);
  });

  test("are probed before they expire: those that reply stay, the others are removed", async () => {
    const { hosts, sink } = await startNetwork({ hostTimeoutMs: 3000 });
    const [one, two] = hosts;
    for (const host of hosts) host.announce();
    await until(() => sink.hosts.size === 3, { what: "three hosts" });
    if (two) two.responds = false;
    await until(() => !sink.hosts.has(`${macOf(2)}/None`), { what: "the silent host removed" });
    expect(sink.hosts.has(ID)).toBe(true);
    expect(one?.arpRequestsReceived).toBeGreaterThan(0);
    expect(two?.arpRequestsReceived).toBeGreaterThan(1);
  });

  test("of a disconnected switch are removed after the link timeout", async () => {
    const { network, hosts, sink } = await startNetwork();
    for (const host of hosts) host.announce();
    await until(() => sink.hosts.size === 3, { what: "three hosts" });
    network.net.get(1).disconnect();
    await until(() => sink.hosts.size === 2, { what: "one host removed" });
    expect(sink.devices.get(deviceId(1))?.available).toBe(false);
  });
});

describe("these are not learned as hosts", () => {
  test("group addresses, the probe source address, ports of the same switch, and ARP with another Ethernet source", async () => {
    const { network, hosts, sink, metric } = await startNetwork();
    const host = first(hosts);
    const before = metric("frames_malformed_total");
    for (const mac of ["01:00:5E:00:00:01", "02:67:7A:74:00:01", "02:EE:00:02:00:02"]) {
      new EmulatedHost(network.net, network.net.get(2), 9, mac, "10.6.6.6").announce();
    }
    const spoofed = startFrame("FF:FF:FF:FF:FF:FF", macOf(5), ETHER.arp)
      .u16(1)
      .u16(0x0800)
      .u8(6)
      .u8(4)
      .u16(1);
    spoofed
      .mac(macOf(6))
      .bytes(Uint8Array.of(10, 6, 6, 6))
      .zeros(10);
    host.send(spoofed.done());
    host.announce();
    await until(() => sink.hosts.has(ID), { what: "an honest host" });
    await until(() => metric("frames_malformed_total") === before + 1, { what: "the spoofed frame counted" });
    expect(sink.hosts.size).toBe(1);
  });

  test("hosts beyond the limit of a port", async () => {
    const { network, sink, metric } = await startNetwork({ maxHostsPerPort: 3 });
    for (let i = 0; i < 10; i++) {
      new EmulatedHost(network.net, network.net.get(2), 9, macOf(1000 + i), `10.1.0.${i + 1}`).announce();
    }
    await until(() => metric("hosts_refused_total") === 7, { what: "seven refused" });
    expect(sink.hosts.size).toBe(3);
  });
});
