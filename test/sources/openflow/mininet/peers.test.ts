/**
 * Real switches together with other peers: a second controller that programs them (`forwarding: none`), and TLS with
 * certificates checked on both sides.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createCertificates } from "../../../support/certificates.ts";
import { needs } from "../../../support/needs.ts";
import { until } from "../../../support/until.ts";
import { type Lab, TEST_TIMEOUT_MS, useLab } from "./lab.ts";
import { canRunMininet, SYSTEM_PYTHON } from "./mininet.ts";
import { ServiceUnderTest } from "./service-under-test.ts";

const OUR_COOKIE = "cookie=0x67617a6574746565";
const OUR_FLOWS = [
  "priority=64000,dl_dst=02:67:7a:74:00:01 actions=CONTROLLER:65535",
  "priority=65000,dl_type=0x88cc actions=CONTROLLER:65535",
  "priority=65000,dl_type=0x8942 actions=CONTROLLER:65535",
];

interface Flow {
  readonly isOurs: boolean;
  /** Table, priority, match and actions, without the age. */
  readonly rule: string;
  readonly seconds: number;
}

async function flowsOf(lab: Lab, name: string): Promise<Flow[]> {
  const dump = await lab.mininet.shell(`ovs-ofctl -O OpenFlow13 dump-flows ${name}`);
  return dump
    .split("\n")
    .filter((line) => line.includes("priority="))
    .map((line) => ({
      isOurs: line.includes(OUR_COOKIE),
      rule: /priority=.*/.exec(line)?.[0] ?? "",
      seconds: Number(/duration=([\d.]+)s/.exec(line)?.[1]),
    }));
}

const rules = (flows: readonly Flow[]): string[] => flows.map(({ rule }) => rule).sort();

/** Starts os-ken with the application in this folder, on a free port. */
async function startOsken(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const free = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  const { port } = free;
  free.stop(true);
  const application = join(import.meta.dir, "learning_switch.py");
  const child = Bun.spawn(
    [SYSTEM_PYTHON, "/usr/bin/osken-manager", "--ofp-tcp-listen-port", String(port), application],
    { stdout: "ignore", stderr: "ignore" },
  );
  return {
    port,
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

describe.skipIf(!canRunMininet() || !needs("osken-manager", "openssl"))("real switches and peers", () => {
  const use = useLab();
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  }, TEST_TIMEOUT_MS);

  test(
    "beside os-ken, which forwards, all entities are discovered and none of its flows is changed",
    async () => {
      const { lab } = use;
      const osken = await startOsken();
      cleanups.push(osken.stop);
      const [service, network] = await lab.startNetwork(
        "linear",
        { forwarding: "none" },
        { others: [osken.port] },
      );
      const switches = Object.keys(network.names);
      const dumps = () => Promise.all(switches.map((name) => flowsOf(lab, name)));
      const otherFlows = (flows: readonly Flow[]) => flows.filter(({ isOurs }) => !isOurs);

      await lab.waitForForwarding(network);
      // os-ken learns with each frame, and a frame that waits for it on a slow machine is lost.
      await until(async () => (await lab.mininet.pingAll()) === 0, {
        what: "every host to reach all others",
        deadlineMs: 120_000,
      });
      await service.waitForHosts(network);
      const [device] = await service.devices();
      expect(device).toMatchObject({ available: true, role: "NONE" });
      // Both controllers have the role EQUAL, which Open vSwitch calls "other".
      const bothEqual = switches.flatMap(() => ["other true", "other true"]).join(" ");
      await until(
        async () => {
          const list = await lab.mininet.shell(
            "ovs-vsctl --bare --columns=role,is_connected list controller",
          );
          return list.trim().split(/\s+/).join(" ") === bothEqual;
        },
        { what: "two equal controllers at every switch", deadlineMs: 60_000 },
      );

      const before = await dumps();
      for (const flows of before) {
        expect(rules(flows.filter(({ isOurs }) => isOurs))).toEqual(OUR_FLOWS);
        // The table-miss flow and at least one learned flow: they carried the pings.
        expect(otherFlows(flows).some(({ rule }) => rule.startsWith("priority=0 "))).toBe(true);
        expect(otherFlows(flows).some(({ rule }) => rule.startsWith("priority=1,"))).toBe(true);
      }

      // A restart deletes the flows of the first run and no others, then installs them again.
      await service.stop();
      const restarted = await ServiceUnderTest.start(lab.data, `127.0.0.1:${service.openflowPort}`, {
        forwarding: "none",
      });
      lab.serviceUnderTest = restarted;
      await until(() => (restarted.service.stderr().match(/openflow switch connected/g) ?? []).length === 4, {
        what: "all switches connected",
        deadlineMs: 60_000,
      });
      await restarted.waitForNetwork(network);
      const after = await dumps();
      for (const [i, flows] of after.entries()) {
        expect(rules(flows.filter(({ isOurs }) => isOurs))).toEqual(OUR_FLOWS);
        for (const { rule, seconds } of otherFlows(before[i] ?? [])) {
          // The same flow, not an equal new one: its age has increased.
          const same = otherFlows(flows).find((flow) => flow.rule === rule);
          expect(same?.seconds ?? 0).toBeGreaterThan(seconds);
        }
      }
      expect(await lab.mininet.pingAll()).toBe(0);
      await restarted.waitForHosts(network);
    },
    2 * TEST_TIMEOUT_MS,
  );

  test(
    "over TLS, switches with a certificate of the configured authority are accepted, others are rejected",
    async () => {
      const { lab } = use;
      createCertificates(lab.folder, ["server", "switch"]);
      createCertificates(lab.folder, ["otherSwitch"], "otherCa");
      const file = (name: string) => join(lab.folder, name);
      const identity = (name: string) =>
        lab.mininet.shell(
          `ovs-vsctl -- set-ssl ${file(`${name}.key`)} ${file(`${name}.pem`)} ${file("ca.pem")}`,
        );
      cleanups.push(() => lab.mininet.shell("ovs-vsctl del-ssl"));
      await identity("switch");
      const tls = { cert: file("server.pem"), key: file("server.key"), ca: file("ca.pem") };
      const [service, network] = await lab.startNetwork("ring", { tls }, { protocol: "ssl" });
      await lab.waitForForwarding(network);
      expect(await lab.mininet.pingAll()).toBe(0);
      await service.waitForHosts(network);
      const targets = await lab.mininet.shell("ovs-vsctl --bare --columns=target list controller");
      expect(new Set(targets.trim().split(/\s+/))).toEqual(
        new Set([`ssl:127.0.0.1:${service.openflowPort}`]),
      );

      // The same switches with a certificate of another authority are rejected and shown as unavailable.
      await identity("otherSwitch");
      for (const name of Object.keys(network.names))
        await lab.mininet.shell(`ovs-vsctl del-controller ${name}`);
      await until(async () => (await service.devices()).every(({ available }) => !available), {
        what: "the sessions closed",
      });
      const seenEvents = service.events.length;
      for (const name of Object.keys(network.names)) {
        await lab.mininet.shell(`ovs-vsctl set-controller ${name} ssl:127.0.0.1:${service.openflowPort}`);
      }
      await until(
        async () =>
          /connect|tls|ssl|alert/i.test(
            await lab.mininet.shell("ovs-vsctl --bare --columns=status list controller"),
          ),
        { what: "the rejection", deadlineMs: 60_000 },
      );
      expect((await service.devices()).every(({ available }) => !available)).toBe(true);
      expect(service.eventsSince(seenEvents).filter((line) => line.includes("updated devices"))).toEqual([]);

      await identity("switch");
      await service.waitForNetwork(network);
    },
    2 * TEST_TIMEOUT_MS,
  );
});
