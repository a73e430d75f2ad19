/**
 * The whole service with real switches: Open vSwitch (userspace datapath) under Mininet. What Mininet built is what
 * the API shows, hosts can talk also where there are loops, and every change is seen in the API and as events.
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
      `${topology}: everything is found, and pingall loses nothing`,
      async () => {
        const { lab } = use;
        const [shown, facts] = await lab.startNetwork(topology);
        await lab.waitForForwarding(facts);
        expect(await lab.mininet.pingAll()).toBe(0);
        await shown.waitForHosts(facts);
        const ports = (await shown.ports()).filter(({ port }) => port !== "local");
        const known = ports.map(({ element, port }) => `${element}/${port}`).sort();
        const real = Object.entries(facts.ports).flatMap(([id, numbers]) =>
          numbers.map((port) => `${id}/${port}`),
        );
        expect(known).toEqual(real.sort());
        expect(ports.every(({ isEnabled }) => isEnabled)).toBe(true);
        const links = await shown.links();
        expect(
          links.every(({ verified, bidirectional, type }) => verified && bidirectional && type === "DIRECT"),
        ).toBe(true);
        const [device] = await shown.devices();
        expect(device).toMatchObject({ mfr: "Nicira, Inc.", hw: "Open vSwitch", role: "MASTER" });
        expect(device?.annotations).toMatchObject({ protocol: "OF_13", managementAddress: "127.0.0.1" });
        // Nothing circles: a storm on these links would be hundreds of thousands of frames a second.
        const before = await lab.mininet.frames();
        expect(await lab.mininet.pingAll()).toBe(0);
        const hosts = facts.hosts.length;
        expect((await lab.mininet.frames()) - before).toBeLessThan(hosts * hosts * 40 + 4000);
      },
      TEST_TIMEOUT_MS,
    );
  }

  test(
    "a link that goes down and comes up, in a ring: seen, told in order, and hosts go on talking",
    async () => {
      const { lab } = use;
      const [shown, facts] = await lab.startNetwork("ring");
      await lab.waitForForwarding(facts);
      await lab.mininet.pingAll();
      await shown.waitForHosts(facts);
      const [s1, s2] = [facts.names.s1 ?? "", facts.names.s2 ?? ""];
      const between = facts.links.find((pair) => pair.every(({ device }) => device === s1 || device === s2));
      const ids = between ? [linkId(between[0], between[1]), linkId(between[1], between[0])] : [];

      let mark = shown.events.length;
      await lab.mininet.link("s1", "s2", "down");
      const without = { ...facts, links: facts.links.filter((pair) => pair !== between) };
      await shown.waitForNetwork(without);
      await until(() => ids.every((id) => shown.eventsSince(mark).includes(`removed links ${id}`)), {
        what: "the events",
      });
      expect(
        shown
          .eventsSince(mark)
          .filter((line) => line.startsWith("removed"))
          .sort(),
      ).toEqual(ids.map((id) => `removed links ${id}`).sort());
      await until(async () => (await lab.mininet.pingAll()) === 0, {
        what: "the way round",
        deadlineMs: 60_000,
      });
      await shown.waitForHosts(facts);

      mark = shown.events.length;
      await lab.mininet.link("s1", "s2", "up");
      await shown.waitForNetwork(facts);
      await until(() => ids.every((id) => shown.eventsSince(mark).includes(`added links ${id}`)), {
        what: "the events",
      });
      expect(shown.eventsSince(mark).filter((line) => line.startsWith("removed"))).toEqual([]);
      expect(await lab.mininet.pingAll()).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "a switch that stops and starts: unavailable, its links and hosts gone, and all of it back",
    async () => {
      const { lab } = use;
      const [shown, facts] = await lab.startNetwork("ring");
      await lab.waitForForwarding(facts);
      await lab.mininet.pingAll();
      await shown.waitForHosts(facts);
      const s2 = facts.names.s2 ?? "";

      let mark = shown.events.length;
      await lab.mininet.switch("s2", "stop");
      await shown.waitForNetwork(facts, [s2]);
      await shown.waitForHosts(facts, ["h2"]);
      const devices = await shown.devices();
      expect(devices.find(({ id }) => id === s2)?.available).toBe(false);
      expect(devices.length).toBe(4);
      await until(async () => (await shown.links()).length === 4, { what: "no link of it left" });
      const told = shown.eventsSince(mark);
      expect(told.filter((line) => line.includes("devices"))).toEqual([`updated devices ${s2}`]);
      expect(told.filter((line) => line.startsWith("removed links")).length).toBe(4);
      // The others still reach each other, the long way round.
      await until(() => lab.mininet.ping("h1", "h3"), { what: "h1 to h3", deadlineMs: 60_000 });

      mark = shown.events.length;
      await lab.mininet.switch("s2", "start");
      await shown.waitForNetwork(facts);
      await until(
        () => shown.eventsSince(mark).filter((line) => line.startsWith("added links")).length === 4,
        {
          what: "the events",
        },
      );
      const again = shown.eventsSince(mark);
      expect(again.indexOf(`updated devices ${s2}`)).toBeLessThan(
        again.findIndex((line) => line.startsWith("added links")),
      );
      await until(async () => (await lab.mininet.pingAll()) === 0, {
        what: "all hosts to talk",
        deadlineMs: 60_000,
      });
      await shown.waitForHosts(facts);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "a host that moves is where it is, and nowhere else",
    async () => {
      const { lab } = use;
      const [shown, facts] = await lab.startNetwork("linear");
      await lab.waitForForwarding(facts);
      await lab.mininet.pingAll();
      await shown.waitForHosts(facts);
      const mark = shown.events.length;
      const place = await lab.mininet.move("h1", "s1", "s4");
      await until(
        async () => {
          await lab.mininet.ping("h1", "h2");
          const host = (await shown.hosts()).find(({ mac }) => mac === "00:00:00:00:00:01");
          return host?.locations.map(({ elementId, port }) => `${elementId}/${port}`).join() === place;
        },
        { what: "the host at its new place", deadlineMs: 60_000 },
      );
      expect((await shown.hosts()).length).toBe(4);
      const told = shown.eventsSince(mark).filter((line) => line.includes("hosts 00:00:00:00:00:01"));
      expect(told[0]).toBe("removed hosts 00:00:00:00:00:01/None");
      expect(told).toContain("added hosts 00:00:00:00:00:01/None");
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "the service restarted: nothing vanishes meanwhile, traffic goes on, and what is gone is told",
    async () => {
      const { lab } = use;
      const graceMs = 8000;
      const [first, facts] = await lab.startNetwork("ring", { graceMs });
      await lab.waitForForwarding(facts);
      await lab.mininet.pingAll();
      await first.waitForHosts(facts);
      await first.stop();
      expect(await lab.mininet.pingAll()).toBe(0);

      const second = await ServiceUnderTest.start(lab.data, `127.0.0.1:${first.openflowPort}`, { graceMs });
      lab.serviceUnderTest = second;
      const graceEnds = performance.now() + graceMs;
      expect((await second.devices()).length).toBe(4);
      expect((await second.links()).length).toBe(8);
      expect((await second.hosts()).length).toBe(4);
      await until(() => (second.service.stderr().match(/openflow switch connected/g) ?? []).length === 4, {
        what: "all switches back",
        deadlineMs: 60_000,
      });
      await second.waitForNetwork(facts);
      expect(await lab.mininet.pingAll()).toBe(0);
      await second.waitForHosts(facts);
      // Nor when the grace is over and the bridge takes the switches in hand again.
      await until(() => performance.now() > graceEnds + 1000, { what: "the end of the grace" });
      await until(() => lab.mininet.ping("h1", "h3"), { what: "h1 to h3", deadlineMs: 60_000 });
      expect(await lab.mininet.pingAll()).toBe(0);
      await second.waitForNetwork(facts);
      await second.waitForHosts(facts);
      const removed = second.events.filter(({ what }) => what === "removed").map(({ id }) => id);
      expect(removed).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});

const linkId = (a: { device: string; port: string }, b: { device: string; port: string }): string =>
  `${a.device}/${a.port}-${b.device}/${b.port}`;
