/**
 * The complete service with real switches: Open vSwitch (userspace datapath) under Mininet. The API shows the network that
 * Mininet built, hosts can communicate also where there are loops, and each change is visible in the API and as an event.
 */
import { describe, expect, test } from "bun:test";
import { until } from "../../../support/until.ts";
import { TEST_TIMEOUT_MS, useLab } from "./lab.ts";
import { canRunMininet } from "./mininet.ts";
import { ServiceUnderTest } from "./service-under-test.ts";

describe.skipIf(!canRunMininet())("real switches", () => {
  const use = useLab();

  for (const topology of ["linear", "tree", "ring", "torus"]) {
    test(
      `${topology}: all entities are discovered, and pingall loses nothing`,
      async () => {
        const { lab } = use;
        const [service, network] = await lab.startNetwork(topology);
        await lab.waitForForwarding(network);
        expect(await lab.mininet.pingAll()).toBe(0);
        await service.waitForHosts(network);
        const ports = (await service.ports()).filter(({ port }) => port !== "local");
        const known = ports.map(({ element, port }) => `${element}/${port}`).sort();
        const real = Object.entries(network.ports).flatMap(([id, numbers]) =>
          numbers.map((port) => `${id}/${port}`),
        );
        expect(known).toEqual(real.sort());
        expect(ports.every(({ isEnabled }) => isEnabled)).toBe(true);
        const links = await service.links();
        expect(
          links.every(({ verified, bidirectional, type }) => verified && bidirectional && type === "DIRECT"),
        ).toBe(true);
        const [device] = await service.devices();
        expect(device).toMatchObject({ mfr: "Nicira, Inc.", hw: "Open vSwitch", role: "MASTER" });
        expect(device?.annotations).toMatchObject({
          name: expect.stringMatching(/^s\d+(x\d+)?$/),
          protocol: "OF_13",
          managementAddress: "127.0.0.1",
        });
        // There is no loop: a broadcast storm would be hundreds of thousands of frames per second.
        const before = await lab.mininet.frames();
        expect(await lab.mininet.pingAll()).toBe(0);
        const hosts = network.hosts.length;
        expect((await lab.mininet.frames()) - before).toBeLessThan(hosts * hosts * 40 + 4000);
      },
      TEST_TIMEOUT_MS,
    );
  }

  test(
    "a link of a ring goes down and up: the events are in order, and hosts can still communicate",
    async () => {
      const { lab } = use;
      const [service, network] = await lab.startNetwork("ring");
      await lab.waitForForwarding(network);
      await lab.mininet.pingAll();
      await service.waitForHosts(network);
      const [s1, s2] = [network.names.s1 ?? "", network.names.s2 ?? ""];
      const cut = network.links.find((pair) => pair.every(({ device }) => device === s1 || device === s2));
      const ids = cut ? [linkId(cut[0], cut[1]), linkId(cut[1], cut[0])] : [];

      let seenEvents = service.events.length;
      await lab.mininet.link("s1", "s2", "down");
      const remaining = { ...network, links: network.links.filter((pair) => pair !== cut) };
      await service.waitForNetwork(remaining);
      await until(() => ids.every((id) => service.eventsSince(seenEvents).includes(`removed links ${id}`)), {
        what: "the events",
      });
      expect(
        service
          .eventsSince(seenEvents)
          .filter((line) => line.startsWith("removed"))
          .sort(),
      ).toEqual(ids.map((id) => `removed links ${id}`).sort());
      await until(async () => (await lab.mininet.pingAll()) === 0, {
        what: "traffic over the other links of the ring",
        deadlineMs: 60_000,
      });
      await service.waitForHosts(network);

      seenEvents = service.events.length;
      await lab.mininet.link("s1", "s2", "up");
      await service.waitForNetwork(network);
      await until(() => ids.every((id) => service.eventsSince(seenEvents).includes(`added links ${id}`)), {
        what: "the events",
      });
      expect(service.eventsSince(seenEvents).filter((line) => line.startsWith("removed"))).toEqual([]);
      expect(await lab.mininet.pingAll()).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "a switch stops and starts: it is unavailable, its links and hosts are removed, and all return",
    async () => {
      const { lab } = use;
      const [service, network] = await lab.startNetwork("ring");
      await lab.waitForForwarding(network);
      await lab.mininet.pingAll();
      await service.waitForHosts(network);
      const s2 = network.names.s2 ?? "";

      let seenEvents = service.events.length;
      await lab.mininet.switch("s2", "stop");
      await service.waitForNetwork(network, [s2]);
      await service.waitForHosts(network, ["h2"]);
      const devices = await service.devices();
      expect(devices.find(({ id }) => id === s2)?.available).toBe(false);
      expect(devices.length).toBe(4);
      await until(async () => (await service.links()).length === 4, { what: "its links removed" });
      const events = service.eventsSince(seenEvents);
      expect(events.filter((line) => line.includes("devices"))).toEqual([`updated devices ${s2}`]);
      expect(events.filter((line) => line.startsWith("removed links")).length).toBe(4);
      // The others still reach each other over the rest of the ring.
      await until(() => lab.mininet.ping("h1", "h3"), { what: "h1 to h3", deadlineMs: 60_000 });

      seenEvents = service.events.length;
      await lab.mininet.switch("s2", "start");
      await service.waitForNetwork(network);
      await until(
        () => service.eventsSince(seenEvents).filter((line) => line.startsWith("added links")).length === 4,
        {
          what: "the events",
        },
      );
      const laterEvents = service.eventsSince(seenEvents);
      expect(laterEvents.indexOf(`updated devices ${s2}`)).toBeLessThan(
        laterEvents.findIndex((line) => line.startsWith("added links")),
      );
      await until(async () => (await lab.mininet.pingAll()) === 0, {
        what: "traffic between all hosts",
        deadlineMs: 60_000,
      });
      await service.waitForHosts(network);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "a host that moves is shown at its new port only",
    async () => {
      const { lab } = use;
      const [service, network] = await lab.startNetwork("linear");
      await lab.waitForForwarding(network);
      await lab.mininet.pingAll();
      await service.waitForHosts(network);
      const seenEvents = service.events.length;
      const newPort = await lab.mininet.move("h1", "s1", "s4");
      await until(
        async () => {
          await lab.mininet.ping("h1", "h2");
          const host = (await service.hosts()).find(({ mac }) => mac === "00:00:00:00:00:01");
          return host?.locations.map(({ elementId, port }) => `${elementId}/${port}`).join() === newPort;
        },
        { what: "the host at its new port", deadlineMs: 60_000 },
      );
      expect((await service.hosts()).length).toBe(4);
      const events = service
        .eventsSince(seenEvents)
        .filter((line) => line.includes("hosts 00:00:00:00:00:01"));
      expect(events[0]).toBe("removed hosts 00:00:00:00:00:01/None");
      expect(events).toContain("added hosts 00:00:00:00:00:01/None");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "a restart of the service removes nothing that still exists, and traffic continues",
    async () => {
      const { lab } = use;
      const graceMs = 8000;
      const [first, network] = await lab.startNetwork("ring", { graceMs });
      await lab.waitForForwarding(network);
      await lab.mininet.pingAll();
      await first.waitForHosts(network);
      await first.stop();
      expect(await lab.mininet.pingAll()).toBe(0);

      const second = await ServiceUnderTest.start(lab.data, `127.0.0.1:${first.openflowPort}`, { graceMs });
      lab.serviceUnderTest = second;
      const graceEnds = performance.now() + graceMs;
      expect((await second.devices()).length).toBe(4);
      expect((await second.links()).length).toBe(8);
      expect((await second.hosts()).length).toBe(4);
      await until(() => (second.service.stderr().match(/openflow switch connected/g) ?? []).length === 4, {
        what: "all switches connected",
        deadlineMs: 60_000,
      });
      await second.waitForNetwork(network);
      expect(await lab.mininet.pingAll()).toBe(0);
      await second.waitForHosts(network);
      // Also not after the grace period, when the bridge computes its rules again.
      await until(() => performance.now() > graceEnds + 1000, { what: "the end of the grace period" });
      await until(() => lab.mininet.ping("h1", "h3"), { what: "h1 to h3", deadlineMs: 60_000 });
      expect(await lab.mininet.pingAll()).toBe(0);
      await second.waitForNetwork(network);
      await second.waitForHosts(network);
      const removed = second.events.filter(({ what }) => what === "removed").map(({ id }) => id);
      expect(removed).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});

const linkId = (a: { device: string; port: string }, b: { device: string; port: string }): string =>
  `${a.device}/${a.port}-${b.device}/${b.port}`;
