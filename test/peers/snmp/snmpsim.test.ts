/**
 * The source against simulated agents: recordings of real devices as they are on the wire, every pair of protocols of
 * SNMPv3, and a fleet of a hundred agents in one process.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { V3Options } from "../../../src/sources/snmp/options.ts";
import { OID } from "../../../src/sources/snmp/tables/mib.ts";
import { RunningSource } from "../../sources/snmp/running-source.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { freePort } from "../../support/free-port.ts";
import { describeWithShared } from "../../support/shared.ts";
import { hasSnmpsim, Simulator, type SimulatorUser } from "./snmpsim.ts";

const TEST_TIMEOUT_MS = 180_000;
/** Twenty seconds of processor time, of which the simulator may get a tenth on a busy machine. */
const FLEET_TIMEOUT_MS = 300_000;
const FLEET_SIZE = 100;
const canRun = hasSnmpsim();
/** The simulator is slow: it is one Python process. A request that is sent again is more work for it. */
const PATIENT = { timeoutSeconds: 20, retries: 3, intervalSeconds: 30 };

function dataFolder(): { readonly folder: string; readonly data: string } {
  const folder = temporaryFolder();
  const data = join(folder, "data");
  mkdirSync(data);
  return { folder, data };
}

describe.skipIf(!canRun)("simulated agents", () => {
  // It starts while the other tests run.
  let fleet: Promise<{ readonly simulator: Simulator; readonly endpoints: readonly string[] }>;
  beforeAll(() => {
    fleet = startFleet();
    fleet.catch(() => {});
  });
  afterAll(async () => {
    await (await fleet).simulator.stop();
  });

  describeWithShared("recordings of real devices", "captures/snmp", (captures) => {
    test(
      "each gives a device with all its ports, and links to its neighbours",
      async () => {
        const { folder, data } = dataFolder();
        const names = readdirSync(captures).filter((name) => name.endsWith(".snmprec"));
        for (const name of names) copyFileSync(join(captures, name), join(data, name));
        const target = `127.0.0.1:${freePort()}`;
        await using _simulator = await Simulator.start(folder, target);
        for (const name of names) {
          const recording = readFileSync(join(captures, name), "latin1");
          const rows = (oid: string) =>
            recording.split("\n").filter((line) => line.startsWith(`${oid}.`)).length;
          await using source = new RunningSource([target], {
            community: name.replace(".snmprec", ""),
            ...PATIENT,
          });
          await source.reach("polls_total", 1);
          await source.until(() => source.sink.devices.size > 0, name);
          const [own] = [...source.sink.devices.values()].filter(
            (claim) => claim.annotations?.channelId === target,
          );
          const ports = [...source.sink.ports.values()].filter(({ element }) => element === own?.id);
          expect({
            name,
            ports: ports.length >= rows(OID.ifDescr),
            failing: source.metric("agents_failing"),
          }).toEqual({
            name,
            ports: true,
            failing: 0,
          });
          if (rows(OID.lldpRemChassisId) > 0) expect(source.sink.links.size).toBeGreaterThan(0);
        }
      },
      TEST_TIMEOUT_MS,
    );
  });

  test(
    "SNMPv3 with every protocol, in a context",
    async () => {
      const { folder, data } = dataFolder();
      writeFileSync(join(data, "lab.snmprec"), "1.3.6.1.2.1.1.1.0|4|a switch\n1.3.6.1.2.1.1.5.0|4|lab\n");
      const target = `127.0.0.1:${freePort()}`;
      await using _simulator = await Simulator.start(folder, target, PROTOCOLS.map(simulatorUser));
      for (const [i, [v3]] of PROTOCOLS.entries()) {
        const credentials: V3Options = {
          ...v3,
          user: `user${i}`,
          authPassword: "authpassword",
          context: "lab",
        };
        const privacy = v3.privProtocol ? { privPassword: "privpassword" } : {};
        await using source = new RunningSource([target], { v3: { ...credentials, ...privacy }, ...PATIENT });
        await source.until(
          () => source.sink.devices.has("snmp:lab") || source.sink.staleReasons.length > 0,
          "the switch",
        );
        expect({ v3, stale: source.sink.staleReasons }).toEqual({ v3, stale: [] });
      }
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "a fleet of a hundred agents in a ring",
    async () => {
      const { endpoints } = await fleet;
      // The simulator answers one request after another: with more at a time, each agent would take longer than it may.
      const limits = { ...PATIENT, concurrency: 4 };
      await using source = new RunningSource(endpoints, { community: "public", ...limits });
      await source.reach("polls_total", FLEET_SIZE, FLEET_TIMEOUT_MS);
      await source.until(() => source.sink.links.size === 2 * FLEET_SIZE, "the ring");
      expect(source.sink.devices.size).toBe(FLEET_SIZE);
      expect(source.sink.ports.size).toBe(2 * FLEET_SIZE);
      expect(source.sink.rejected).toEqual([]);
    },
    FLEET_TIMEOUT_MS,
  );
});

async function startFleet() {
  const { folder, data } = dataFolder();
  // The community is known by a recording of its name.
  writeFileSync(join(data, "public.snmprec"), ringSwitch(0, FLEET_SIZE));
  for (let i = 0; i < FLEET_SIZE; i++) writeFileSync(join(data, `${i}.snmprec`), ringSwitch(i, FLEET_SIZE));
  const first = 20_000 + (process.pid % 20_000);
  const endpoints = Array.from({ length: FLEET_SIZE }, (_, i) => `127.0.0.1:${first + i}`);
  return { simulator: await Simulator.startFleet(folder, endpoints), endpoints };
}

type Protocols = Pick<V3Options, "authProtocol" | "privProtocol">;

/** Ours, and the simulator's names for them: its AES256 extends keys as Reeder, its AES256BLMT as Blumenthal. */
const PROTOCOLS: readonly (readonly [ours: Protocols, auth: string, priv?: string])[] = [
  [{ authProtocol: "md5", privProtocol: "des" }, "MD5", "DES"],
  [{ authProtocol: "sha" }, "SHA"],
  [{ authProtocol: "sha", privProtocol: "aes" }, "SHA", "AES"],
  [{ authProtocol: "sha224", privProtocol: "aes" }, "SHA224", "AES"],
  [{ authProtocol: "sha", privProtocol: "aes256r" }, "SHA", "AES256"],
  [{ authProtocol: "sha256", privProtocol: "aes256b" }, "SHA256", "AES256BLMT"],
  [{ authProtocol: "sha384", privProtocol: "aes256r" }, "SHA384", "AES256"],
  [{ authProtocol: "sha512", privProtocol: "aes256b" }, "SHA512", "AES256BLMT"],
];

const simulatorUser = ([, auth, priv]: (typeof PROTOCOLS)[number], i: number): SimulatorUser => ({
  user: `user${i}`,
  authProtocol: auth,
  authPassword: "authpassword",
  ...(priv !== undefined && { privProtocol: priv, privPassword: "privpassword" }),
});

/** A switch whose port 1 leads to the one before and port 2 to the one after it. */
function ringSwitch(i: number, size: number): string {
  const chassis = (n: number) => `02000000${((n + size) % size).toString(16).padStart(4, "0")}`;
  const lines: [oid: string, type: string, value: string | number][] = [
    [`${OID.sysDescr}.0`, "4", "a switch"],
    [`${OID.sysName}.0`, "4", `s${i}`],
    [`${OID.lldpLocChassisIdSubtype}.0`, "2", 4],
    [`${OID.lldpLocChassisId}.0`, "4x", chassis(i)],
  ];
  for (const port of [1, 2]) {
    const [neighbour, theirPort] = port === 1 ? [i - 1, 2] : [i + 1, 1];
    lines.push(
      [`${OID.ifDescr}.${port}`, "4", `eth${port}`],
      [`${OID.ifType}.${port}`, "2", 6],
      [`${OID.ifAdminStatus}.${port}`, "2", 1],
      [`${OID.ifOperStatus}.${port}`, "2", 1],
      [`${OID.ifName}.${port}`, "4", `eth${port}`],
      [`${OID.lldpLocPortIdSubtype}.${port}`, "2", 5],
      [`${OID.lldpLocPortId}.${port}`, "4", `eth${port}`],
      [`${OID.lldpRemChassisIdSubtype}.1.${port}.1`, "2", 4],
      [`${OID.lldpRemChassisId}.1.${port}.1`, "4x", chassis(neighbour)],
      [`${OID.lldpRemPortIdSubtype}.1.${port}.1`, "2", 5],
      [`${OID.lldpRemPortId}.1.${port}.1`, "4", `eth${theirPort}`],
      [`${OID.lldpRemSysName}.1.${port}.1`, "4", `s${(neighbour + size) % size}`],
    );
  }
  const parts = (oid: string) => oid.split(".").map(Number);
  const compare = (a: readonly number[], b: readonly number[]): number => {
    const at = a.findIndex((part, k) => part !== b[k]);
    return at < 0 ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? -1);
  };
  return lines
    .sort(([a], [b]) => compare(parts(a), parts(b)))
    .map((line) => `${line.join("|")}\n`)
    .join("");
}
