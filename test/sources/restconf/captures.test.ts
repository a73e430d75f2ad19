/** Bodies and streams that a real OpenDaylight has sent, through the fake server and the source. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeWithShared } from "../../support/shared.ts";
import { FakeRestconf, INVENTORY, NETWORKS, TOPOLOGY } from "./fake-restconf.ts";
import { SourceUnderTest } from "./source-under-test.ts";

const A = "of:0000000000000001";
const B = "of:0000000000000002";
const C = "of:0000000000000003";
const LINKS = [`${A}/2-${B}/2`, `${B}/2-${A}/2`, `${B}/3-${C}/2`, `${C}/2-${B}/3`];

type Body = Record<string, unknown>;

describeWithShared("captures of OpenDaylight", "captures/opendaylight", (folder) => {
  const text = (name: string) => readFileSync(join(folder, name), "utf8");
  const json = (name: string): Body => JSON.parse(text(name));
  const topologiesOf = (body: Body): object[] => {
    const list = body["network-topology:topology"];
    return Array.isArray(list) ? list : [];
  };
  /** The events of a stream, as the server sent them. */
  const eventsOf = (name: string): string[] => {
    const body = text(name);
    return body.slice(body.indexOf("data: ")).split(/(?<=\n\n)/);
  };

  function startServer(): FakeRestconf {
    const server = FakeRestconf.start();
    server.data.set(TOPOLOGY, { topology: topologiesOf(json("topology-flow1.json")) });
    const inventory = json("inventory-fields.json")[INVENTORY];
    server.data.set(INVENTORY, inventory as object);
    return server;
  }

  test("switches with their ports, names, speeds and equipment", async () => {
    await using server = startServer();
    await using source = new SourceUnderTest(server);
    await source.until(() => source.replaces > 0, "a list");
    expect(source.ids()).toEqual({ devices: [A, B, C], links: [], hosts: [] });
    expect(source.sink.rejected).toEqual([]);
    expect(source.sink.devices.get(C)).toEqual({
      id: C,
      aliases: ["openflow:3"],
      type: "SWITCH",
      available: true,
      mfr: "Nicira, Inc.",
      hw: "Open vSwitch",
      sw: "3.1.0",
      chassisId: "3",
      annotations: { name: "s3", managementAddress: "127.0.0.1", channelId: "127.0.0.1:60954" },
    });
    expect([...source.sink.ports.keys()].filter((id) => id.startsWith(C)).sort()).toEqual([
      `${C}/1`,
      `${C}/2`,
      `${C}/local`,
    ]);
    expect(source.sink.ports.get(`${C}/2`)).toEqual({
      element: C,
      port: "2",
      isEnabled: true,
      portSpeed: 10_000,
      type: "copper",
      annotations: { portName: "s3-eth2", portMac: "6E:A6:D0:47:A2:EE" },
    });
    expect(source.sink.ports.get(`${C}/local`)?.isEnabled).toBe(false);
  });

  test("configured topologies and networks of RFC 8345 beside the discovered ones", async () => {
    await using server = startServer();
    const discovered = topologiesOf(json("topology-flow1.json"));
    const configured = topologiesOf(json("network-topology-config.json"));
    server.data.set(TOPOLOGY, { topology: [...discovered, ...configured] });
    server.data.set(NETWORKS, json("ietf-network.json")[NETWORKS] as object);
    await using source = new SourceUnderTest(server);
    await source.until(() => source.replaces > 0, "a list");
    expect(source.ids()).toEqual({
      devices: [A, B, C, "s1", "s2", "s3"],
      links: ["s1/1-s2/1", "s2/1-s1/1"],
      hosts: [],
    });
    expect(source.sink.rejected).toEqual([]);
  });

  test.each(["stream-link-down-up.txt", "stream-changed-leaf-nodes-only.txt", "stream-snapshot.txt"])(
    "every event of %s causes a list",
    async (name) => {
      await using server = startServer();
      await using source = new SourceUnderTest(server, { intervalSeconds: 3600 });
      await source.until(() => server.openStreams === 1 && source.replaces >= 2, "the stream");
      for (const event of eventsOf(name)) {
        const [replaces, events] = [source.replaces, source.count("stream_events_total")];
        server.send(event);
        // The capture ends in the middle of an event.
        if (!event.startsWith("data: ")) continue;
        await source.until(() => source.count("stream_events_total") === events + 1, "the event", 0);
        await source.until(() => source.replaces > replaces, "a list");
      }
    },
  );

  test("the network of each event of the stream, as the lists would have it", async () => {
    await using server = startServer();
    await using source = new SourceUnderTest(server, { intervalSeconds: 3600 });
    await source.until(() => server.openStreams === 1 && source.replaces >= 2, "the stream");
    const counts: number[] = [];
    for (const topology of snapshotsOf(eventsOf("stream-link-down-up.txt"))) {
      const before = source.replaces;
      server.data.set(TOPOLOGY, { topology: [topology] });
      server.sendChange();
      await source.until(() => source.replaces > before, "a list");
      expect(source.ids().devices).toEqual([A, B, C]);
      for (const link of source.ids().links) expect(LINKS).toContain(link);
      counts.push(source.sink.links.size);
    }
    // Discovered one after the other, one cable lost, and back.
    expect(Math.max(...counts)).toBe(4);
    expect(counts.slice(counts.indexOf(4)).some((count) => count < 4)).toBe(true);
  });
});

/** The topology `flow:1` in each whole event. */
function snapshotsOf(events: readonly string[]): object[] {
  return events.flatMap((event) => {
    try {
      const notification: Body = JSON.parse(event.slice("data: ".length))["ietf-restconf:notification"];
      const changed = notification["sal-remote:data-changed-notification"] as Body;
      const [change] = changed["data-change-event"] as { data?: Body }[];
      const [topology] = (change?.data?.["network-topology:topology"] ?? []) as object[];
      return topology === undefined ? [] : [topology];
    } catch {
      return [];
    }
  });
}
