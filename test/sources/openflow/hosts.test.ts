/** Hosts: learned, moved, contested, expired; against emulated switches and stations. */
import { afterEach, describe, expect, test } from "bun:test";
import { ETHER, startFrame } from "../../../src/sources/openflow/codec/ethernet.ts";
import { until } from "../../support/until.ts";
import { addHostToEachSwitch, EmulatedHost, macOf } from "./emulated-host.ts";
import { deviceId } from "./emulator.ts";
import { type RunningSource, type startSource, TestResources } from "./harness.ts";
import { type BuiltNetwork, buildNetwork, line } from "./topologies.ts";

const started = new TestResources();
afterEach(() => started.close());

interface Ready extends RunningSource {
  readonly built: BuiltNetwork;
  readonly hosts: EmulatedHost[];
  at(id: string): string[];
}

/** A line of three switches with a host on port 1 of each, all ports judged. */
async function network(options: Parameters<typeof startSource>[0] = {}): Promise<Ready> {
  const built = buildNetwork(3, line(3));
  // One more port on each switch, for hosts that move.
  for (const sw of built.net.switches.values()) {
    sw.ports.set(9, { number: 9, up: true, config: 0, wire: undefined, station: undefined });
  }
  const source = await started.startSource(options);
  const hosts = addHostToEachSwitch(built.net);
  await started.connect(built.net, source.port);
  const settled = () => [...built.net.switches.values()].every((sw) => sw.isOpen(1) && sw.isOpen(9));
  await until(settled, { what: "edge ports open" });
  return {
    ...source,
    built,
    hosts,
    at: (id) => source.sink.hosts.get(id)?.locations.map((at) => `${at.elementId}/${at.port}`) ?? [],
  };
}

const first = <T>(list: readonly T[]): T => {
  const [item] = list;
  if (item === undefined) throw new Error("empty");
  return item;
};
const ID = `${macOf(1)}/None`;

describe("hosts", () => {
  test("are found where they are, and not on links", async () => {
    const { sink, hosts } = await network();
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

  test("that speak while their port is still judged are heard afterwards", async () => {
    const { built, sink, hosts } = await network({ settleMs: 600 });
    built.net.get(1).setPort(1, false);
    built.net.get(1).setPort(1, true);
    first(hosts).announce();
    await until(() => sink.hosts.has(ID), { what: "the host" });
  });

  test("have their VLAN, and one host may be in several", async () => {
    const { sink, hosts } = await network();
    first(hosts).announce(10);
    first(hosts).announce(20);
    await until(() => sink.hosts.size === 2, { what: "a host in two VLANs" });
    expect([...sink.hosts.keys()].sort()).toEqual([`${macOf(1)}/10`, `${macOf(1)}/20`]);
    expect(sink.hosts.get(`${macOf(1)}/10`)).toMatchObject({ vlan: "10", outerTpid: "0x8100" });
  });

  test("have several addresses", async () => {
    const { built, sink, hosts } = await network();
    first(hosts).announce();
    new EmulatedHost(built.net, built.net.get(1), 1, macOf(1), "10.9.9.9").announce();
    await until(() => sink.hosts.get(ID)?.ipAddresses?.length === 2, { what: "two addresses" });
    expect(sink.hosts.get(ID)?.ipAddresses).toEqual(["10.0.0.1", "10.9.9.9"]);
  });

  test("go with their port at once, and are asked for when it comes back", async () => {
    const { built, sink, hosts } = await network();
    first(hosts).announce();
    await until(() => sink.hosts.has(ID), { what: "the host" });
    built.net.get(1).setPort(1, false);
    await until(() => !sink.hosts.has(ID), { what: "no host" });
    built.net.get(1).setPort(1, true);
    await until(() => sink.hosts.get(ID)?.ipAddresses?.length === 1, { what: "the host again, unasked" });
  });

  test("that move are followed, when the old place is silent", async () => {
    const { built, hosts, at, sink, metric } = await network();
    const host = first(hosts);
    host.announce();
    await until(() => sink.hosts.has(ID), { what: "the host" });
    host.moveTo(built.net.get(3), 9);
    host.announce();
    await until(() => at(ID)[0] === `${deviceId(3)}/9`, { what: "the host at its new place" });
    expect(at(ID)).toEqual([`${deviceId(3)}/9`]);
    expect(sink.hosts.get(ID)?.annotations).toBeUndefined();
    expect(metric("host_moves_total")).toBe(1);
  });

  test("in two places that both answer are a conflict, not a move", async () => {
    const { built, hosts, at, sink } = await network();
    first(hosts).announce();
    await until(() => sink.hosts.has(ID), { what: "the host" });
    const thief = new EmulatedHost(built.net, built.net.get(3), 9, macOf(1), "10.0.0.1");
    thief.announce();
    await until(() => sink.hosts.get(ID)?.annotations?.conflict, { what: "the flag" });
    expect(at(ID).sort()).toEqual([`${deviceId(1)}/1`, `${deviceId(3)}/9`]);
    expect(sink.hosts.get(ID)?.annotations?.conflict).toContain("replies at");
  });

  test("that claim another's address are a conflict when the owner answers", async () => {
    const { built, hosts, sink } = await network();
    first(hosts).announce();
    await until(() => sink.hosts.has(ID), { what: "the owner" });
    new EmulatedHost(built.net, built.net.get(3), 9, macOf(77), "10.0.0.1").announce();
    const thief = `${macOf(77)}/None`;
    await until(() => sink.hosts.get(thief)?.annotations?.conflict, { what: "the flag" });
    expect(sink.hosts.get(ID)?.annotations?.conflict).toContain("10.0.0.1");
    expect(sink.hosts.get(ID)?.ipAddresses).toEqual(["10.0.0.1"]);
  });

  test("inherit an address whose owner is silent", async () => {
    const { built, hosts, sink } = await network();
    const owner = first(hosts);
    owner.announce();
    await until(() => sink.hosts.has(ID), { what: "the owner" });
    owner.responds = false;
    new EmulatedHost(built.net, built.net.get(3), 9, macOf(77), "10.0.0.1").announce();
    await until(() => sink.hosts.get(`${macOf(77)}/None`)?.ipAddresses?.length === 1, {
      what: "the address",
    });
    expect(sink.hosts.get(ID)?.ipAddresses).toEqual([]);
  });

  test("are asked before they expire; who answers stays, who does not goes", async () => {
    const { hosts, sink } = await network({ hostTimeoutMs: 3000 });
    const [one, two] = hosts;
    for (const host of hosts) host.announce();
    await until(() => sink.hosts.size === 3, { what: "three hosts" });
    if (two) two.responds = false;
    await until(() => !sink.hosts.has(`${macOf(2)}/None`), { what: "the silent one gone" });
    expect(sink.hosts.has(ID)).toBe(true);
    expect(one?.arpRequestsReceived).toBeGreaterThan(0);
    expect(two?.arpRequestsReceived).toBeGreaterThan(1);
  });

  test("of a switch that is lost go when its links go", async () => {
    const { built, hosts, sink } = await network();
    for (const host of hosts) host.announce();
    await until(() => sink.hosts.size === 3, { what: "three hosts" });
    built.net.get(1).disconnect();
    await until(() => sink.hosts.size === 2, { what: "one host gone" });
    expect(sink.devices.get(deviceId(1))?.available).toBe(false);
  });
});

describe("what is not believed", () => {
  test("group addresses, our own, a switch's port, and foreign senders", async () => {
    const { built, hosts, sink, metric } = await network();
    const host = first(hosts);
    const before = metric("frames_malformed_total");
    for (const mac of ["01:00:5E:00:00:01", "02:67:7A:74:00:01", "02:EE:00:01:00:02"]) {
      new EmulatedHost(built.net, built.net.get(2), 9, mac, "10.6.6.6").announce();
    }
    const lie = startFrame("FF:FF:FF:FF:FF:FF", macOf(5), ETHER.arp).u16(1).u16(0x0800).u8(6).u8(4).u16(1);
    lie
      .mac(macOf(6))
      .bytes(Uint8Array.of(10, 6, 6, 6))
      .zeros(10);
    host.send(lie.done());
    host.announce();
    await until(() => sink.hosts.has(ID), { what: "an honest host" });
    await until(() => metric("frames_malformed_total") === before + 1, { what: "the lie counted" });
    expect(sink.hosts.size).toBe(1);
  });

  test("more hosts than a port may have", async () => {
    const { built, sink, metric } = await network({ maxHostsPerPort: 3 });
    for (let i = 0; i < 10; i++) {
      new EmulatedHost(built.net, built.net.get(2), 9, macOf(1000 + i), `10.1.0.${i + 1}`).announce();
    }
    await until(() => metric("hosts_refused_total") === 7, { what: "seven refused" });
    expect(sink.hosts.size).toBe(3);
  });
});
