/**
 * Real switches with somebody else in the room: a second controller that programs them, which is what `forwarding: none`
 * is for, and TLS on the way to us, with certificates checked on both sides.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { needs } from "../../../support/needs.ts";
import { until } from "../../../support/until.ts";
import { createCertificates } from "../certificates.ts";
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
  readonly ours: boolean;
  /** Table, priority, match and actions: what a flow is, without its age. */
  readonly rule: string;
  readonly seconds: number;
}

async function flowsOf(lab: Lab, name: string): Promise<Flow[]> {
  const dump = await lab.mininet.shell(`ovs-ofctl -O OpenFlow13 dump-flows ${name}`);
  return dump
    .split("\n")
    .filter((line) => line.includes("priority="))
    .map((line) => ({
      ours: line.includes(OUR_COOKIE),
      rule: /priority=.*/.exec(line)?.[0] ?? "",
      seconds: Number(/duration=([\d.]+)s/.exec(line)?.[1]),
    }));
}

const rules = (flows: readonly Flow[]): string[] => flows.map(({ rule }) => rule).sort();

/** os-ken with the application beside this file, on a port of its own. */
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

describe.skipIf(!canRunMininet() || !needs("osken-manager", "openssl"))("real switches, and others", () => {
  const use = useLab();
  const leaving: (() => unknown)[] = [];
  afterEach(async () => {
    for (const leave of leaving.splice(0).reverse()) await leave();
  }, TEST_TIMEOUT_MS);

  test(
    "beside os-ken, which forwards: all is seen, and not one of its flows is touched",
    async () => {
      const { lab } = use;
      const osken = await startOsken();
      leaving.push(osken.stop);
      const [shown, facts] = await lab.startNetwork("linear", { forwarding: "none" }, { other: osken.port });
      const switches = Object.keys(facts.names);
      const dumps = () => Promise.all(switches.map((name) => flowsOf(lab, name)));
      const theirs = (flows: readonly Flow[]) => flows.filter(({ ours }) => !ours);

      await lab.waitForForwarding(facts);
      expect(await lab.mininet.pingAll()).toBe(0);
      await shown.waitForHosts(facts);
      const [device] = await shown.devices();
      expect(device).toMatchObject({ available: true, role: "NONE" });
      // Two controllers, and neither is above the other ("other" is how Open vSwitch calls the role EQUAL).
      const equals = switches.flatMap(() => ["other true", "other true"]).join(" ");
      await until(
        async () => {
          const list = await lab.mininet.shell(
            "ovs-vsctl --bare --columns=role,is_connected list controller",
          );
          return list.trim().split(/\s+/).join(" ") === equals;
        },
        { what: "two equal controllers at every switch", deadlineMs: 60_000 },
      );

      const before = await dumps();
      for (const flows of before) {
        expect(rules(flows.filter(({ ours }) => ours))).toEqual(OUR_FLOWS);
        // The flow for all that is new, and at least one for a conversation: they carried the pings.
        expect(theirs(flows).some(({ rule }) => rule.startsWith("priority=0 "))).toBe(true);
        expect(theirs(flows).some(({ rule }) => rule.startsWith("priority=1,"))).toBe(true);
      }

      // Another start takes away what the first has installed, and nothing else; then it is all there again.
      await shown.stop();
      const again = await ServiceUnderTest.start(lab.data, `127.0.0.1:${shown.openflowPort}`, {
        forwarding: "none",
      });
      lab.serviceUnderTest = again;
      await until(() => (again.service.stderr().match(/openflow switch connected/g) ?? []).length === 4, {
        what: "all switches back",
        deadlineMs: 60_000,
      });
      await again.waitForNetwork(facts);
      const after = await dumps();
      for (const [i, flows] of after.entries()) {
        expect(rules(flows.filter(({ ours }) => ours))).toEqual(OUR_FLOWS);
        for (const { rule, seconds } of theirs(before[i] ?? [])) {
          // The same flow, not one of the same words: it has grown older.
          const same = theirs(flows).find((flow) => flow.rule === rule);
          expect(same?.seconds ?? 0).toBeGreaterThan(seconds);
        }
      }
      expect(await lab.mininet.pingAll()).toBe(0);
      await again.waitForHosts(facts);
    },
    2 * TEST_TIMEOUT_MS,
  );

  test(
    "over TLS: switches with a certificate of our authority are taken, others are not",
    async () => {
      const { lab } = use;
      createCertificates(lab.folder, ["server", "switch"]);
      createCertificates(lab.folder, ["stranger"], "nobody");
      const file = (name: string) => join(lab.folder, name);
      const identity = (name: string) =>
        lab.mininet.shell(
          `ovs-vsctl -- set-ssl ${file(`${name}.key`)} ${file(`${name}.pem`)} ${file("ca.pem")}`,
        );
      leaving.push(() => lab.mininet.shell("ovs-vsctl del-ssl"));
      await identity("switch");
      const tls = { cert: file("server.pem"), key: file("server.key"), ca: file("ca.pem") };
      const [shown, facts] = await lab.startNetwork("ring", { tls }, { protocol: "ssl" });
      await lab.waitForForwarding(facts);
      expect(await lab.mininet.pingAll()).toBe(0);
      await shown.waitForHosts(facts);
      const targets = await lab.mininet.shell("ovs-vsctl --bare --columns=target list controller");
      expect(new Set(targets.trim().split(/\s+/))).toEqual(new Set([`ssl:127.0.0.1:${shown.openflowPort}`]));

      // The same switches under a certificate that somebody else signed: turned away, and shown as away.
      await identity("stranger");
      for (const name of Object.keys(facts.names))
        await lab.mininet.shell(`ovs-vsctl del-controller ${name}`);
      await until(async () => (await shown.devices()).every(({ available }) => !available), {
        what: "the sessions' end",
      });
      const mark = shown.events.length;
      for (const name of Object.keys(facts.names)) {
        await lab.mininet.shell(`ovs-vsctl set-controller ${name} ssl:127.0.0.1:${shown.openflowPort}`);
      }
      await until(
        async () =>
          /connect|tls|ssl|alert/i.test(
            await lab.mininet.shell("ovs-vsctl --bare --columns=status list controller"),
          ),
        { what: "the refusal", deadlineMs: 60_000 },
      );
      expect((await shown.devices()).every(({ available }) => !available)).toBe(true);
      expect(shown.eventsSince(mark).filter((line) => line.includes("updated devices"))).toEqual([]);

      await identity("switch");
      await shown.waitForNetwork(facts);
    },
    2 * TEST_TIMEOUT_MS,
  );
});
