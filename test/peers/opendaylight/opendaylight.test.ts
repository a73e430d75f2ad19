/**
 * `npm run test:peers -- opendaylight`: the service against a real OpenDaylight with Open vSwitch switches under Mininet. It
 * takes minutes and 800 MB, so it runs only when it is named. Prints what was seen and after how long.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Device, Link, Port } from "../../../src/model/entity.ts";
import { ensureOvs, Mininet, type MininetNetwork, stopOvs } from "../../sources/openflow/mininet/mininet.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import {
  OPENDAYLIGHT_ADDRESS,
  OPENDAYLIGHT_CREDENTIALS,
  OPENDAYLIGHT_URL,
  OPENFLOW_PORT,
  OpenDaylight,
} from "./opendaylight-peer.ts";

const API = "/controller/v1";
const DEADLINE_MS = 10 * 60_000;
const startedAt = performance.now();
const seen = (what: string) =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)} s  ${what}`);

const obstacle = OpenDaylight.obstacle();
if (obstacle !== undefined) throw new Error(`OpenDaylight cannot run here: ${obstacle}`);

describe("restconf against OpenDaylight", () => {
  const openDaylight = new OpenDaylight();
  const mininet = new Mininet();
  let startedOvs = false;
  let network: MininetNetwork;
  let service: Service;

  beforeAll(async () => {
    await openDaylight.prepare();
    await mininet.ready();
    startedOvs = ensureOvs();
    seen("OpenDaylight starts");
    await openDaylight.start();
    seen("RESTCONF responds");
    network = await mininet.start("ring", OPENFLOW_PORT, { address: OPENDAYLIGHT_ADDRESS });
    for (const name of Object.keys(network.names)) await puntLldp(name);
    seen(`Mininet: ${Object.keys(network.names).length} switches in a ring, LLDP goes to the controller`);
    service = await startGazetteer();
  }, DEADLINE_MS);

  afterAll(async () => {
    await service?.stop();
    await mininet.stop();
    if (startedOvs) stopOvs();
    await mininet.close();
    await openDaylight.remove();
  }, DEADLINE_MS);

  /** OpenDaylight discovers links only if switches send it the LLDP frames that they receive. */
  const puntLldp = (name: string) =>
    mininet.shell(`ovs-ofctl -O OpenFlow13 add-flow ${name} dl_type=0x88cc,actions=CONTROLLER:65535`);

  /** Without a path in the URL: the root is found by host-meta. */
  async function startGazetteer(): Promise<Service> {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "odl.credentials"), `${OPENDAYLIGHT_CREDENTIALS}\n`);
    const source = {
      type: "restconf",
      name: "odl",
      url: OPENDAYLIGHT_URL,
      credentialsFile: join(folder, "odl.credentials"),
      intervalSeconds: 5,
    };
    const config = join(folder, "gazetteer.yaml");
    writeFileSync(config, JSON.stringify({ sources: [source] }));
    return startService({ args: ["--config", config, "--data", ":memory:"] });
  }

  const list = async <T>(path: string, key: string): Promise<T[]> => {
    const body: Record<string, T[]> = await (await service.fetch(`${API}/${path}`)).json();
    return body[key] ?? [];
  };
  const devices = () => list<Device>("devices", "devices");
  const links = () => list<Link>("links", "links");
  const ports = (id: string) => list<Port>(`devices/${id}/ports`, "ports");

  /** As Mininet built it, without a cable between two switches or without a switch. */
  function expectedLinks(without: (ends: string) => boolean = () => false): string[] {
    const ids = network.links.flatMap(([a, b]) => [
      `${a.device}/${a.port}-${b.device}/${b.port}`,
      `${b.device}/${b.port}-${a.device}/${a.port}`,
    ]);
    return ids.filter((id) => !without(id)).sort();
  }

  async function waitForNetwork(deviceIds: readonly string[], linkIds: readonly string[]): Promise<void> {
    const isShown = async () => {
      const shown = [
        (await devices()).map(({ id }) => id).sort(),
        (await links()).map(({ id }) => id).sort(),
      ];
      if (JSON.stringify(shown) === JSON.stringify([deviceIds, linkIds])) return true;
      throw new Error(`shown: ${JSON.stringify(shown)}`);
    };
    await until(isShown, { what: "the network", deadlineMs: DEADLINE_MS, everyMs: 50 });
  }

  const metrics = async () => (await service.fetch("/metrics")).text();
  const sourceStatus = async (): Promise<{ status: string; error?: string }> => {
    const { sources } = await (await service.fetch("/readyz")).json();
    return sources[0];
  };
  const all = () => Object.values(network.names).sort();

  test(
    "switches, ports and links",
    async () => {
      await waitForNetwork(all(), expectedLinks());
      seen(`Gazetteer shows ${all().length} switches and ${expectedLinks().length} links`);
      for (const device of await devices()) {
        const name = Object.entries(network.names).find(([, id]) => id === device.id)?.[0] ?? "";
        expect(device).toMatchObject({
          mfr: "Nicira, Inc.",
          hw: "Open vSwitch",
          available: true,
          serial: "unknown",
        });
        expect(device.annotations.name).toBe(name);
        expect(device.aliases).toEqual([`openflow:${name.slice(1)}`]);
        const shown = await ports(device.id);
        expect(shown.map(({ port }) => port).sort()).toEqual(
          [...(network.ports[device.id] ?? []), "local"].sort(),
        );
        for (const { port, portSpeed, annotations } of shown) {
          expect(portSpeed).toBe(10_000);
          if (port !== "local") expect(annotations?.portName).toBe(`${name}-eth${port}`);
        }
      }
      for (const { state } of await links()) expect(state).toBe("ACTIVE");
      expect(await metrics()).toContain('gazetteer_records_refused_total{source="odl"} 0\n');
      // It is opened after the first list.
      const isOpen = async () =>
        (await metrics()).includes('gazetteer_restconf_stream_connected{source="odl"} 1\n');
      await until(isOpen, { what: "the stream of changes", deadlineMs: DEADLINE_MS });
      seen("names, ports, speeds and equipment are those of the switches; the stream of changes is open");
    },
    DEADLINE_MS,
  );

  test(
    "a link that is cut is removed, and its ports are down; it is back when it is up",
    async () => {
      const [s1 = "", s2 = ""] = [network.names.s1, network.names.s2];
      const isCut = (id: string) => id.includes(`${s1}/`) && id.includes(`${s2}/`);
      await mininet.link("s1", "s2", "down");
      seen("link s1–s2 cut");
      await waitForNetwork(all(), expectedLinks(isCut));
      seen("both directions are removed");
      const isDown = async () =>
        (await ports(s1)).some(({ port, isEnabled }) => port !== "local" && !isEnabled);
      await until(isDown, { what: "the port", deadlineMs: DEADLINE_MS });
      await mininet.link("s1", "s2", "up");
      seen("link s1–s2 up");
      await waitForNetwork(all(), expectedLinks());
      seen("both directions are back");
    },
    DEADLINE_MS,
  );

  test(
    "a switch that stops is removed with its links, and back when it starts",
    async () => {
      const s3 = network.names.s3 ?? "";
      await mininet.switch("s3", "stop");
      seen("switch s3 stopped");
      const others = all().filter((id) => id !== s3);
      await waitForNetwork(
        others,
        expectedLinks((id) => id.includes(`${s3}/`)),
      );
      seen("s3 and its 4 links are removed");
      await mininet.switch("s3", "start");
      await puntLldp("s3");
      seen("switch s3 started");
      await waitForNetwork(all(), expectedLinks());
      seen("s3 and its links are back");
    },
    DEADLINE_MS,
  );

  test(
    "OpenDaylight is killed: the network stays; restarted: nothing was removed and added again",
    async () => {
      const before = new Map(
        [...(await devices()), ...(await links())].map(({ id, firstSeen }) => [id, firstSeen]),
      );
      await openDaylight.kill();
      seen("OpenDaylight killed");
      await until(async () => (await sourceStatus()).status === "stale", {
        what: "stale",
        deadlineMs: DEADLINE_MS,
      });
      seen(`the source is stale: ${(await sourceStatus()).error}`);
      await waitForNetwork(all(), expectedLinks());
      await openDaylight.start();
      seen("RESTCONF responds again");
      await until(async () => (await sourceStatus()).status === "synced", {
        what: "synced",
        deadlineMs: DEADLINE_MS,
      });
      seen("the source is synced");
      await waitForNetwork(all(), expectedLinks());
      for (const { id, firstSeen } of [...(await devices()), ...(await links())]) {
        expect(firstSeen).toBe(before.get(id) ?? "");
      }
      seen("all switches and links have the firstSeen of before");
      await mininet.link("s1", "s2", "down");
      await until(async () => (await links()).length === before.size - all().length - 2, {
        what: "a cut after the restart",
        deadlineMs: DEADLINE_MS,
      });
      seen("a cut after the restart is seen");
    },
    2 * DEADLINE_MS,
  );
});
