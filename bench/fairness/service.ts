/**
 * The service under attack: the real one, of any checkout, with a demo network, two (empty) file sources, an OpenFlow
 * port and users for the reader, the attacker and the first logins.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Credentials } from "../../src/client/client.ts";
import type { Target } from "../../test/support/attacks/attack.ts";
import { until } from "../../test/support/until.ts";
import { startAnywhere } from "../lib/process.ts";

export interface ServiceShape {
  /** The checkout whose code runs. */
  readonly root: string;
  readonly readers: number;
  readonly devices: number;
  readonly hosts: number;
  readonly changesPerSecond: number;
  /** Whether `liveBytes` can be called. */
  readonly reportsLiveBytes?: boolean;
}

export interface ServiceUnderAttack {
  readonly target: Target;
  readonly readerAuthorization: string;
  readonly credentials: Credentials;
  /** Resident memory of all its processes now. */
  residentBytes(): number;
  /** What its main process needs after a complete garbage collection. */
  liveBytes(): Promise<number>;
  /** What responses of the attacking user hold, as the service counts it. */
  heldBytes(): Promise<number>;
  /** The largest resident memory since the last call, and starts anew. */
  peakBytes(): number;
  /** Whether it answers a reader quickly, time after time, within the deadline. */
  settles(deadlineMs: number): Promise<boolean>;
  /** Has the service read its first configuration again, but with a demo network that does not change. */
  pauseChanges(): void;
  stop(): Promise<void>;
}

const NEWCOMERS = 60;
const PASSWORD = "measured";
const LOAD_DEADLINE_MS = 15 * 60_000;
const QUICK_MS = 30;
const QUICK_ANSWERS = 20;
const hash = Bun.password.hash(PASSWORD, { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 });
const authorizationOf = (user: string): string => `Basic ${btoa(`${user}:${PASSWORD}`)}`;

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

export async function startUnderAttack(folder: string, shape: ServiceShape): Promise<ServiceUnderAttack> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [configFile, users] = [join(folder, "config.json"), join(folder, "users")];
  // Without an extension: a file that begins with { is JSON, any other YAML.
  const files = [join(folder, "first"), join(folder, "second")] as const;
  for (const file of files) writeFileSync(file, "{}");
  const names = ["reader", "attacker", ...Array.from({ length: NEWCOMERS }, (_, n) => `newcomer${n}`)];
  const passwordHash = await hash;
  writeFileSync(users, names.map((name) => `${name}:${passwordHash}\n`).join(""));
  const openflowPort = await freePort();
  const { devices, hosts } = shape;
  const configWith = (churn: number) => ({
    data: join(folder, "data"),
    users,
    port: 0,
    aliases: ["onos"],
    readers: shape.readers,
    sources: [
      { type: "demo", name: "demo", devices, hosts, churn },
      ...files.map((path, n) => ({ type: "file", name: `file${n}`, path })),
      { type: "openflow", name: "openflow", listen: `127.0.0.1:${openflowPort}`, forwarding: "bridge" },
    ],
  });
  writeFileSync(configFile, JSON.stringify(configWith(shape.changesPerSecond)));
  const bun = join(shape.root, "node_modules/.bin/bun");
  const main = join(shape.root, "src/main.ts");
  const preload = shape.reportsLiveBytes
    ? ["--preload", join(import.meta.dir, "../soak/live-memory.ts")]
    : [];
  const command = [bun, "--config=/dev/null", ...preload, main, "serve", "--config", configFile];
  const service = startAnywhere(command);
  const readerAuthorization = authorizationOf("reader");
  let url = "";
  const get = (path: string) =>
    fetch(`${url}/controller/v1/${path}`, { headers: { Authorization: readerAuthorization } });
  const loaded = async () => {
    url = (await service.line(/^listening on (\S+)\/controller\/v1$/))[1] ?? "";
    // The service listens before a large network is loaded, and refuses requests while it is busy with that.
    const waiting = { deadlineMs: LOAD_DEADLINE_MS, everyMs: 200 };
    await until(async () => (await fetch(`${url}/readyz`)).ok, { what: "the network", ...waiting });
    return until(
      async (): Promise<{ devices: { id: string }[] } | undefined> => {
        const response = await get("devices?limit=200");
        return response.ok ? response.json() : undefined;
      },
      { what: "the list of devices", ...waiting },
    );
  };
  const list = await loaded().catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
  const target: Target = {
    url,
    pid: service.pid,
    authorization: authorizationOf("attacker"),
    newcomers: names.slice(2).map(authorizationOf),
    openflowPort,
    configFile,
    files,
    devices: list.devices.map(({ id }) => id),
  };
  return {
    target,
    readerAuthorization,
    credentials: { user: "reader", password: PASSWORD },
    residentBytes: () => sumOf(service.pid, "VmRSS"),
    async liveBytes() {
      process.kill(service.pid, "SIGUSR2");
      const [, bytes] = await service.line(/^live (\d+)$/);
      return Number(bytes);
    },
    async heldBytes() {
      const response = await fetch(`${url}/metrics`, { headers: { Authorization: readerAuthorization } });
      const held = /^gazetteer_user_bytes_held\{user="attacker"\} (\S+)$/m.exec(await response.text());
      return Number(held?.[1] ?? 0);
    },
    peakBytes() {
      const peak = sumOf(service.pid, "VmHWM");
      for (const pid of processesOf(service.pid)) writeFileSync(`/proc/${pid}/clear_refs`, "5");
      return peak;
    },
    async settles(deadlineMs) {
      const end = performance.now() + deadlineMs;
      for (let quick = 0; performance.now() < end; ) {
        const began = performance.now();
        const ok = await get("topology").then(
          async (response) => (await response.text()) !== "" && response.ok,
          () => false,
        );
        quick = ok && performance.now() - began < QUICK_MS ? quick + 1 : 0;
        if (quick === QUICK_ANSWERS) return true;
        await Bun.sleep(20);
      }
      return false;
    },
    pauseChanges() {
      writeFileSync(configFile, JSON.stringify(configWith(0)));
      process.kill(service.pid, "SIGHUP");
    },
    async stop() {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The process and those it started. */
function processesOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return [pid, ...children.split(" ").filter(Boolean).map(Number)];
}

function sumOf(pid: number, field: "VmRSS" | "VmHWM"): number {
  const bytes = processesOf(pid).map((each) => {
    const status = readFileSync(`/proc/${each}/status`, "utf8");
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024;
  });
  return bytes.reduce((sum, each) => sum + each, 0);
}
