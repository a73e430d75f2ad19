/**
 * The complete service with real agents: five routers in a ring, each a network namespace with Net-SNMP's `snmpd` and
 * `lldpd`. The API shows the ring; what is cut, killed and restarted there is visible here.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { temporaryFolder } from "../../support/folder.ts";
import { needs } from "../../support/needs.ts";
import {
  HOST_MAC,
  type LabService,
  managementAddress,
  ROUTERS,
  RouterLab,
  V3,
  V3_AES256,
} from "./router-lab.ts";

const TEST_TIMEOUT_MS = 120_000;
const canRun = () => process.getuid?.() === 0 && needs("snmpd", "lldpd", "ip", "curl", "ping");
const FAST = { intervalSeconds: 1, timeoutSeconds: 0.5, retries: 1 };
const NUMBERS = Array.from({ length: ROUTERS }, (_, i) => i + 1);

interface DeviceRecord {
  readonly id: string;
  readonly available: boolean;
  readonly annotations: Readonly<Record<string, string>>;
}

interface LinkRecord {
  readonly src: { readonly device: string };
  readonly dst: { readonly device: string };
  readonly sources: readonly string[];
}

/** Devices by their sysName. */
async function devices(service: LabService): Promise<Map<string, DeviceRecord>> {
  const { devices: records } = await service.json("/controller/v1/devices");
  const list: readonly DeviceRecord[] = Array.isArray(records) ? records : [];
  return new Map(list.map((record) => [record.annotations.name ?? record.id, record]));
}

/** Of the sources that poll all routers. A source that polls one router does not know the port numbers of the others. */
async function activeLinks(service: LabService): Promise<string[]> {
  const names = new Map([...(await devices(service))].map(([name, { id }]) => [id, name]));
  const { links } = await service.json("/controller/v1/links?state=ACTIVE");
  const list: readonly LinkRecord[] = Array.isArray(links) ? links : [];
  return list
    .filter(({ sources }) => sources.some((source) => source === "campus" || source === "core"))
    .map(({ src, dst }) => `${names.get(src.device)}-${names.get(dst.device)}`)
    .sort();
}

const RING = NUMBERS.flatMap((n) => [`r${n}-r${(n % ROUTERS) + 1}`, `r${(n % ROUTERS) + 1}-r${n}`]).sort();
const withoutCable = (a: string, b: string) =>
  RING.filter((link) => link !== `${a}-${b}` && link !== `${b}-${a}`);

async function waitForLinks(service: LabService, links: readonly string[], what: string): Promise<void> {
  await service.until(async () => (await activeLinks(service)).join() === links.join(), what);
}

async function metric(service: LabService, name: string, source: string): Promise<number> {
  const line = `gazetteer_snmp_${name}{source="${source}"} `;
  const found = (await service.text("/metrics")).split("\n").find((text) => text.startsWith(line));
  return Number(found?.slice(line.length));
}

async function status(service: LabService, source: string): Promise<Record<string, unknown>> {
  const { sources } = await service.json("/readyz");
  const list: readonly Record<string, unknown>[] = Array.isArray(sources) ? sources : [];
  return list.find(({ name }) => name === source) ?? {};
}

describe.skipIf(!canRun())("real routers", () => {
  let lab: RouterLab;
  beforeAll(async () => {
    lab = await RouterLab.start(temporaryFolder());
  }, TEST_TIMEOUT_MS);
  afterAll(() => lab?.close(), TEST_TIMEOUT_MS);

  test(
    "v2c over a block: the ring, a cable cut, a daemon killed, restarts of both sides",
    async () => {
      const sources = [
        {
          type: "snmp",
          name: "campus",
          targets: ["198.51.100.0/29"],
          community: "public",
          scanSeconds: 2,
          ...FAST,
        },
      ];
      const service = await lab.startService(sources, "campus");
      await waitForLinks(service, RING, "the ring");
      // Of the six addresses of the block one has no agent. It is no device.
      expect([...(await devices(service)).keys()].sort()).toEqual(NUMBERS.map((n) => `r${n}`));
      expect(await metric(service, "addresses", "campus")).toBe(6);
      expect(await metric(service, "agents", "campus")).toBe(ROUTERS);

      // The stub host: a router has it in its ARP table only.
      const host = (await service.list("hosts")).get(`${HOST_MAC}/None`);
      const r1 = (await devices(service)).get("r1")?.id;
      expect(host).toMatchObject({
        ipAddresses: expect.arrayContaining(["10.77.0.10"]),
        location: { elementId: r1 },
      });

      await lab.setLink(2, "down");
      await waitForLinks(service, withoutCable("r2", "r3"), "the cut");
      await lab.setLink(2, "up");
      await waitForLinks(service, RING, "the cable to be back");

      // While its neighbours receive its LLDP, a device whose agent is dead is available.
      await lab.stopSnmpd(4, "SIGKILL");
      await service.until(async () => (await metric(service, "agents_silent", "campus")) === 1, "silence");
      expect((await devices(service)).get("r4")?.available).toBe(true);
      expect(await activeLinks(service)).toEqual(RING);
      await lab.stopLldpd(4);
      await service.until(
        async () => (await devices(service)).get("r4")?.available === false,
        "unavailability",
      );
      const silent = (await devices(service)).get("r4");
      expect(silent?.annotations.unansweredSince).toMatch(/^2\d{3}-\d\d-\d\dT[\d:.]+Z$/);
      const { ports } = await service.json(
        `/controller/v1/devices/${encodeURIComponent(silent?.id ?? "")}/ports`,
      );
      expect(Array.isArray(ports) && ports.length).toBeGreaterThan(3);
      await service.service.stop();

      // The service restarts while the agent is silent: its device stays, with the time from before.
      const again = await lab.startService(sources, "campus");
      await again.until(async () => (await metric(again, "agents_silent", "campus")) === 1, "silence");
      await again.until(async () => (await status(again, "campus")).status === "synced", "the source");
      expect((await devices(again)).get("r4")).toMatchObject({
        id: silent?.id ?? "",
        available: false,
        annotations: { unansweredSince: silent?.annotations.unansweredSince ?? "" },
      });
      await lab.startSnmpd(4);
      await lab.startLldpd(4);
      await waitForLinks(again, RING, "the router to be back");
      const back = (await devices(again)).get("r4");
      expect(back).toMatchObject({ id: silent?.id ?? "", available: true });
      expect(back?.annotations).not.toHaveProperty("unansweredSince");
      await again.service.stop();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "v3 authPriv: SHA-2 and AES, wrong credentials, restarts of agents and of the service",
    async () => {
      const targets = NUMBERS.map(managementAddress);
      const wrong = (name: string, router: number, change: object) => ({
        type: "snmp",
        name,
        targets: [managementAddress(router)],
        v3: { ...V3, ...change },
        ...FAST,
      });
      const sources = [
        { type: "snmp", name: "core", targets, v3: V3, ...FAST },
        { type: "snmp", name: "aes256", targets: [managementAddress(5)], v3: V3_AES256, ...FAST },
        wrong("password", 1, { authPassword: "wrong password" }),
        wrong("user", 2, { user: "eve" }),
        wrong("privacy", 3, { privPassword: "wrong password" }),
        wrong("level", 4, { authProtocol: "md5" }),
      ];
      const service = await lab.startService(sources, "core");
      await waitForLinks(service, RING, "the ring");
      const waitForError = (source: string, text: string) =>
        service.until(
          async () => String((await status(service, source)).error).includes(text),
          `${text} as the error of ${source}`,
        );
      await waitForError("password", "198.51.100.1:161: wrongDigest: authPassword or authProtocol is not");
      await waitForError("user", "198.51.100.2:161: unknownUserName: the agent does not know this user");
      await waitForError(
        "privacy",
        "198.51.100.3:161: the agent replies to the discovery of its engine, but",
      );
      await waitForError("level", "198.51.100.4:161: wrongDigest");
      expect((await status(service, "user")).status).toBe("starting");
      expect((await status(service, "aes256")).status).toBe("synced");

      const location = async (name: string) => (await devices(service)).get(name)?.annotations.location;
      const boots = await lab.engineBoots(1);
      await lab.restartSnmpd(1, "attic");
      await service.until(async () => (await location("r1")) === "attic", "r1 after its restart");
      expect(await lab.engineBoots(1)).toBeGreaterThan(boots);
      expect(await metric(service, "engine_resyncs_total", "core")).toBe(0);

      // An engine whose boots went back is refused, and learned anew only after several polls.
      await lab.restartSnmpd(1, "cellar", { forgetBoots: true });
      await service.until(async () => (await location("r1")) === "cellar", "r1 with boots that went back");
      expect(await metric(service, "engine_resyncs_total", "core")).toBe(1);
      expect(await metric(service, "agents_failed_security_total", "core")).toBeGreaterThanOrEqual(3);

      await service.service.stop();
      for (const secret of [V3.authPassword, V3.privPassword, "wrong password"]) {
        expect(service.service.stderr()).not.toContain(secret);
      }
      const again = await lab.startService(sources, "core");
      await again.until(async () => (await status(again, "core")).status === "synced", "the source");
      expect(await metric(again, "agents_silent", "core")).toBe(0);
      await waitForLinks(again, RING, "the ring after a restart");
      await again.service.stop();
    },
    TEST_TIMEOUT_MS,
  );
});
