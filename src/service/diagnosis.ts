/**
 * `gazetteer doctor`: checks of what goes wrong in practice with an installed service, each with its fix. They read and change
 * nothing, and work whether the service runs or not: what only the running service knows, such as the state of its sources, is
 * taken from it where it can be read. The configuration itself is checked by `checkConfiguration` (preflight.ts).
 */
import { X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { OWN_USERS_FILE } from "../api/auth/users.ts";
import { parseEntry, readUsersFile } from "../api/auth/users-file.ts";
import { isClustered } from "../config/cross-checks.ts";
import type { Config } from "../config/schema.ts";
import { systemClock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import { isRecord } from "../lib/is-record.ts";
import { silentLogger } from "../lib/logger.ts";
import { VERSION } from "../lib/version.ts";
import { lastTimeOf } from "../log/log-file.ts";
import type { ClusterOverview } from "../model/cluster-overview.ts";
import type { Readiness } from "../model/readiness.ts";
import { copyFile, dataDirOf, LOG_FILE } from "./data-folder.ts";
import { dataObstacle, IN_USE, portObstacle } from "./preflight.ts";
import { openTlsFiles } from "./tls-files.ts";

/** The result of one check. `fix` says what to do; it is absent where nothing must be done. */
export interface DoctorFinding {
  readonly check: string;
  readonly status: "ok" | "warn" | "fail";
  readonly text: string;
  readonly fix?: string;
}

/** What is known of the service at the address of the configuration. */
export interface ServiceProbe {
  readonly url: string;
  readonly isAlive: boolean;
  /** Its state; undefined if it does not run, or does not accept the credentials. */
  readonly readiness: Readiness | undefined;
}

const DAY_MS = 86_400_000;
const SOON_MS = 14 * DAY_MS;
const MIB = 1024 * 1024;
const MIN_FREE_BYTES = 256 * MIB;
const LOW_FREE_BYTES = 2048 * MIB;
const CONNECT_TIMEOUT_MS = 3000;
/** The difference that a time server leaves, and that nodes of a cluster accept. */
const MAX_CLOCK_DIFFERENCE_MS = 2000;

const finding =
  (status: DoctorFinding["status"]) =>
  (check: string, text: string, fix?: string): DoctorFinding => ({
    check,
    status,
    text,
    ...(fix !== undefined && { fix }),
  });
const ok = finding("ok");
const warn = finding("warn");
const fail = finding("fail");

export async function* diagnose(config: Config, service: ServiceProbe): AsyncGenerator<DoctorFinding> {
  yield checkVersion(service);
  yield checkPort(config, service);
  const dataDir = dataDirOf(config);
  if (dataDir !== undefined) {
    yield* checkFolder(dataDir, config, service);
    yield checkDisk(dataDir, config);
  }
  yield await checkClock(dataDir, config);
  yield* await checkCertificate(config);
  yield* await checkUsers(config, dataDir);
  yield* await checkSources(config, service);
  if (isClustered(config)) yield* await checkCluster(config);
}

function checkVersion({ readiness }: ServiceProbe): DoctorFinding {
  const own = `gazetteer ${VERSION}, Bun ${Bun.version}`;
  const running = readiness?.version;
  if (running === undefined || running === VERSION) return ok("version", own);
  return warn(
    "version",
    `${own}; the running service is ${running}`,
    "restart the service to use this version",
  );
}

function checkPort(config: Config, { url, isAlive, readiness }: ServiceProbe): DoctorFinding {
  if (isAlive) {
    const status = readiness?.status;
    const how = status === undefined ? "" : `, ${status}`;
    if (readiness?.log) {
      const fix = "make room or make the folder writable; changes that wait are stored then";
      return fail("service", `runs at ${url}, but cannot store changes: ${readiness.log.error}`, fix);
    }
    if (readiness !== undefined) return ok("service", `runs at ${url}${how}`);
    return ok(
      "service",
      `runs at ${url}; gazetteer login ${url} lets doctor see its version and sources too`,
    );
  }
  const obstacle = portObstacle(config);
  const address = `${config.host}:${config.port}`;
  if (obstacle === undefined) return ok("service", `does not run; ${address} is free`);
  if (obstacle === IN_USE)
    return fail(
      "service",
      `${address} is in use by another program`,
      `find it with ss -ltnp, or set another port`,
    );
  const fix =
    config.port < 1024
      ? "use a port from 1024, or give the service CAP_NET_BIND_SERVICE"
      : "set host to an address of this machine";
  return fail("service", `${address} ${obstacle}`, fix);
}

function* checkFolder(dataDir: string, config: Config, { isAlive }: ServiceProbe): Generator<DoctorFinding> {
  const obstacle = dataObstacle(dataDir);
  if (obstacle === IN_USE && !isAlive) {
    const fix = "stop the other service, or give each its own data folder";
    yield fail("data folder", `${dataDir} is in use by a service that does not respond at this address`, fix);
  } else if (obstacle !== undefined && obstacle !== IN_USE) {
    yield fail(
      "data folder",
      `${dataDir} ${obstacle}`,
      `chown it to the user of the service, or run doctor as that user`,
    );
  } else yield ok("data folder", existsSync(dataDir) ? dataDir : `${dataDir} does not exist yet`);
  if (!existsSync(dataDir)) return;
  const folder = statSync(dataDir);
  if ((folder.mode & 0o077) !== 0)
    yield warn("permissions", `other users can look into ${dataDir}`, `chmod 700 ${dataDir}`);
  const foreign = readdirSync(dataDir).filter((name) => ownerOf(join(dataDir, name)) !== folder.uid);
  if (foreign.length > 0) {
    const fix = `chown -R ${folder.uid}:${folder.gid} ${dataDir}`;
    yield fail(
      "permissions",
      `${foreign.join(", ")} in ${dataDir} belong to another user than the folder`,
      fix,
    );
  }
  const users = config.users ?? join(dataDir, OWN_USERS_FILE);
  if (existsSync(users) && (statSync(users).mode & 0o077) !== 0)
    yield warn("permissions", `other users can read the hashes in ${users}`, `chmod 600 ${users}`);
}

const ownerOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.uid;

function checkDisk(dataDir: string, { history }: Config): DoctorFinding {
  const folder = existingFolder(resolve(dataDir));
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${Math.floor(free / MIB)} MB free for ${dataDir}`;
  const fix = "make room, or lower history.maxBytes or history.keepDays";
  if (free < MIN_FREE_BYTES) return fail("disk", text, fix);
  const mayGrow = Math.max(0, history.maxBytes - sizeOfLogs(dataDir));
  if (free >= Math.min(mayGrow, LOW_FREE_BYTES)) return ok("disk", text);
  return warn("disk", `${text}; the history may grow by ${Math.floor(mayGrow / MIB)} MB`, fix);
}

const sizeOfLogs = (dataDir: string): number =>
  existsSync(dataDir)
    ? readdirSync(dataDir)
        .filter((name) => name.endsWith(".sqlite"))
        .reduce((sum, name) => sum + statSync(join(dataDir, name)).size, 0)
    : 0;

const existingFolder = (path: string): string =>
  existsSync(path) || path === dirname(path) ? path : existingFolder(dirname(path));

async function checkClock(dataDir: string | undefined, config: Config): Promise<DoctorFinding> {
  const behindMs = dataDir === undefined ? 0 : newestTimeIn(dataDir, config) - Date.now();
  const fix = "let NTP or chrony set the clock (timedatectl set-ntp true)";
  if (behindMs > MAX_CLOCK_DIFFERENCE_MS) {
    const text = `the clock is ${Math.round(behindMs / 1000)} s behind the last revision, whose time new revisions keep`;
    return fail("clock", text, fix);
  }
  const now = new Date().toISOString();
  return (await isSynchronized()) === false
    ? warn("clock", `${now}; the system says that it is not synchronised`, fix)
    : ok("clock", now);
}

function newestTimeIn(dataDir: string, config: Config): number {
  const log = join(dataDir, isClustered(config) ? copyFile(config.cluster.name) : LOG_FILE);
  try {
    return existsSync(log) ? lastTimeOf(log) : 0;
  } catch {
    // A log that cannot be read is reported by the check of the folder, or by the start.
    return 0;
  }
}

/** Whether systemd says that the clock is synchronised; undefined without systemd. */
async function isSynchronized(): Promise<boolean | undefined> {
  const program = Bun.which("timedatectl");
  if (program === null) return undefined;
  const child = Bun.spawn([program, "show", "-p", "NTPSynchronized", "--value"], { stderr: "ignore" });
  const answer = (await new Response(child.stdout).text()).trim();
  return answer === "yes" ? true : answer === "no" ? false : undefined;
}

async function checkCertificate({ tls, hosts }: Config): Promise<DoctorFinding[]> {
  if (tls.cert === undefined) return [];
  let expiresAt: number;
  try {
    expiresAt = (await openTlsFiles({ tls }, systemClock, silentLogger))?.expiresAt ?? 0;
  } catch {
    // The check of the configuration reports the reason.
    return [];
  }
  const leftMs = expiresAt - Date.now();
  const until = new Date(expiresAt).toISOString();
  const fix = "renew it; the service reads the new files by itself";
  const certificate = new X509Certificate(readFileSync(tls.cert));
  const others = hosts.filter((host) => !certificate.checkHost(host) && !certificate.checkIP(host));
  return [
    leftMs <= 0
      ? fail("certificate", `${tls.cert} expired ${until}`, fix)
      : leftMs < SOON_MS
        ? warn("certificate", `${tls.cert} expires ${until}`, fix)
        : ok("certificate", `${tls.cert} expires ${until}`),
    ...others.map((host) =>
      warn(
        "certificate",
        `${tls.cert} is not for ${host}, a name in hosts`,
        "get one that has all of these names",
      ),
    ),
  ];
}

async function checkUsers({ users }: Config, dataDir: string | undefined): Promise<DoctorFinding[]> {
  const file = users ?? (dataDir === undefined ? undefined : join(dataDir, OWN_USERS_FILE));
  if (file === undefined || !existsSync(file)) return [];
  const entries = [...(await readUsersFile(file).catch(() => new Map<string, string>()))];
  const ending = entries.flatMap(([name, text]) => {
    const parsed = parseEntry(text);
    const expiresAt = parsed.ok ? parsed.entry.expiresAt : undefined;
    return expiresAt !== undefined && expiresAt - Date.now() < SOON_MS ? [{ name, expiresAt }] : [];
  });
  if (ending.length === 0) return [ok("users", `${entries.length} in ${file}`)];
  return ending.map(({ name, expiresAt }) => {
    const verb = expiresAt <= Date.now() ? "expired" : "expires";
    const fix = `make another token, then gazetteer token revoke ${file} ${name}`;
    return warn("users", `${name} ${verb} ${new Date(expiresAt).toISOString()}`, fix);
  });
}

async function checkSources(config: Config, { readiness }: ServiceProbe): Promise<DoctorFinding[]> {
  const reported = readiness?.sources;
  if (!reported) return Promise.all(endpointsOf(config).map(checkEndpoint));
  return reported.map(({ name, status, error }) => {
    const check = `source ${name}`;
    if (error !== undefined) return fail(check, `${status}: ${error}`, "see its page in docs/sources");
    return status === "starting" ? warn(check, status, "wait until it has reported once") : ok(check, status);
  });
}

interface Endpoint {
  readonly check: string;
  readonly url: URL;
}

/** The addresses that the service reads from, of sources and of Prometheus. */
function endpointsOf({ sources, metrics }: Config): Endpoint[] {
  const endpoint = (check: string, entry: unknown): Endpoint[] => {
    const url = isRecord(entry) && typeof entry.url === "string" ? URL.parse(entry.url) : null;
    return url ? [{ check, url }] : [];
  };
  return [
    ...sources.flatMap((entry) => endpoint(`source ${String(entry.name ?? entry.type)}`, entry)),
    ...metrics.flatMap((entry) => endpoint("metrics", entry)),
  ];
}

async function checkEndpoint({
  check,
  url: { hostname, port, protocol, host },
}: Endpoint): Promise<DoctorFinding> {
  const address = {
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (protocol === "https:" ? 443 : 80),
  };
  const connected = Bun.connect({ ...address, socket: { data() {} } }).then((socket) => socket.end());
  const timeout = systemClock.sleep(CONNECT_TIMEOUT_MS).then(() => {
    throw new Error(`no answer in ${CONNECT_TIMEOUT_MS / 1000} s`);
  });
  try {
    await Promise.race([connected, timeout]);
    return ok(check, `${host} accepts connections`);
  } catch (error) {
    const fix = "start it, correct its url, or open the firewall";
    return fail(check, `${host} cannot be reached: ${errorMessage(error)}`, fix);
  }
}

async function checkCluster(config: Config): Promise<DoctorFinding[]> {
  const { readOverview } = await import("./cluster/cluster-commands.ts");
  try {
    return clusterFindings(await readOverview(config));
  } catch (error) {
    const fix = "start the NATS servers, or correct cluster in the configuration (docs/cluster.md)";
    return [fail("cluster", errorMessage(error), fix)];
  }
}

export function clusterFindings({ name, nodes, engine, errors = [] }: ClusterOverview): DoctorFinding[] {
  const live = nodes.filter(({ lostSince }) => lostSince === undefined);
  const versions = [...new Set(live.map(({ version }) => version))];
  const findings = [
    ...errors.map(({ part, message }) => fail("cluster", `${part}: ${message}`, "see docs/cluster.md")),
    ...nodes
      .filter(({ lostSince }) => lostSince !== undefined)
      .map((node) =>
        fail("cluster", `the node ${node.name} is lost`, "start it again, or remove its machine"),
      ),
    ...live.flatMap((node) =>
      node.trouble === undefined
        ? []
        : [fail("cluster", `the node ${node.name}: ${node.trouble}`, "see docs/cluster.md")],
    ),
    ...live
      .filter(({ clockOffsetSeconds = 0 }) => Math.abs(clockOffsetSeconds) * 1000 > MAX_CLOCK_DIFFERENCE_MS)
      .map((node) => {
        const text = `the clock of the node ${node.name} differs from NATS by ${node.clockOffsetSeconds} s`;
        return fail("cluster", text, "synchronise the clocks with NTP or chrony");
      }),
    ...(engine?.servers ?? [])
      .filter(({ state }) => state === "offline" || state === "behind")
      .map((server) => {
        const found = server.state === "offline" ? fail : warn;
        return found(
          "cluster",
          `the NATS server ${server.name} is ${server.state}`,
          "start it, or wait until it is current",
        );
      }),
    ...(versions.length > 1
      ? [
          warn(
            "cluster",
            `nodes have the versions ${versions.join(", ")}`,
            "complete the upgrade, one node at a time",
          ),
        ]
      : []),
  ];
  return findings.length > 0 ? findings : [ok("cluster", `${name}: ${live.length} nodes`)];
}
