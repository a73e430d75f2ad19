/**
 * Five routers in a ring, each a network namespace with Net-SNMP's `snmpd` and `lldpd`, and a stub host at the first one.
 * The service runs in a namespace of its own, on a management network with all routers. Nothing of it is visible in the
 * namespace of the machine.
 */
import { chmod, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { Daemon, run } from "./processes.ts";

export const ROUTERS = 5;
export const HOST_MAC = "02:00:00:00:77:10";
export const V3 = {
  user: "ann",
  authProtocol: "sha256",
  authPassword: "correct horse",
  privProtocol: "aes",
  privPassword: "battery staple",
} as const;
export const V3_AES256 = {
  user: "bob",
  authProtocol: "sha512",
  authPassword: "correct horse",
  privProtocol: "aes256b",
  privPassword: "battery staple",
} as const;

interface Router {
  readonly number: number;
  readonly namespace: string;
  readonly folder: string;
  snmpd?: Daemon;
  lldpd?: Daemon;
}

export const managementAddress = (router: number): string => `198.51.100.${router}`;
const next = (router: number): number => (router % ROUTERS) + 1;

export class RouterLab {
  readonly #folder: string;
  readonly #prefix = `gz${process.pid}`;
  readonly #routers: readonly Router[];
  #services = 0;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#routers = Array.from({ length: ROUTERS }, (_, i) => ({
      number: i + 1,
      namespace: `${this.#prefix}r${i + 1}`,
      folder: join(folder, `r${i + 1}`),
    }));
  }

  static async start(folder: string): Promise<RouterLab> {
    // lldpd configures itself over its socket as a user of its own.
    await chmod(folder, 0o755);
    const lab = new RouterLab(folder);
    try {
      await lab.#buildNetwork();
      await Promise.all(lab.#routers.map((router) => lab.#startDaemons(router)));
    } catch (error) {
      await lab.close();
      throw error;
    }
    return lab;
  }

  get #management(): string {
    return `${this.#prefix}m`;
  }

  get #host(): string {
    return `${this.#prefix}h`;
  }

  #namespaceOf(router: number): string {
    return this.#router(router).namespace;
  }

  #router(number: number): Router {
    const router = this.#routers[number - 1];
    if (!router) throw new Error(`no router ${number}`);
    return router;
  }

  async #buildNetwork(): Promise<void> {
    const management = this.#management;
    const host = this.#host;
    const lines = [management, host, ...this.#routers.map(({ namespace }) => namespace)].map(
      (namespace) => `netns add ${namespace}`,
    );
    lines.push(`link add br0 netns ${management} type bridge`);
    for (const { number, namespace } of this.#routers) {
      const peer = this.#namespaceOf(next(number));
      lines.push(
        `link add to-r${next(number)} netns ${namespace} type veth peer name to-r${number} netns ${peer}`,
        `link add mgmt netns ${namespace} type veth peer name port${number} netns ${management}`,
      );
    }
    lines.push(`link add lan netns ${this.#namespaceOf(1)} type veth peer name eth0 netns ${host}`);
    await this.#batch([], lines);
    await this.#batch(
      ["-n", management],
      [
        "link set lo up",
        "link set br0 up",
        "address add 198.51.100.100/24 dev br0",
        ...this.#routers.flatMap(({ number }) => [
          `link set port${number} master br0`,
          `link set port${number} up`,
        ]),
      ],
    );
    for (const { number, namespace } of this.#routers) {
      const before = this.#routers.find((router) => next(router.number) === number)?.number ?? 0;
      await this.#batch(
        ["-n", namespace],
        [
          "link set lo up",
          "link set mgmt up",
          `address add ${managementAddress(number)}/24 dev mgmt`,
          `link set to-r${next(number)} up`,
          `link set to-r${before} up`,
          ...(number === 1 ? ["link set lan up", "address add 10.77.0.1/24 dev lan"] : []),
        ],
      );
    }
    await this.#batch(
      ["-n", host],
      [
        "link set lo up",
        `link set eth0 address ${HOST_MAC}`,
        "link set eth0 up",
        "address add 10.77.0.10/24 dev eth0",
      ],
    );
    await until(() => run("ip", "netns", "exec", host, "ping", "-c1", "-W1", "10.77.0.1"), {
      what: "the stub host to reach its router",
    });
  }

  async #batch(options: readonly string[], lines: readonly string[]): Promise<void> {
    const file = join(this.#folder, "batch");
    await Bun.write(file, `${lines.join("\n")}\n`);
    await run("ip", ...options, "-batch", file);
  }

  async #startDaemons(router: Router): Promise<void> {
    const { folder, number } = router;
    await mkdir(join(folder, "state"), { recursive: true });
    await this.#writeSnmpdConfig(router, "rack");
    await Bun.write(
      join(folder, "lldpd.conf"),
      `configure lldp tx-interval 2\nconfigure system hostname r${number}\nconfigure system interface pattern to-r*,lan\n`,
    );
    await this.startSnmpd(number);
    await this.startLldpd(number);
  }

  async #writeSnmpdConfig({ folder, number }: Router, location: string): Promise<void> {
    const user = (
      { user, authPassword, privPassword }: { user: string; authPassword: string; privPassword: string },
      auth: string,
      priv: string,
    ) => `createUser ${user} ${auth} "${authPassword}" ${priv} "${privPassword}"\nrouser ${user} priv`;
    await Bun.write(
      join(folder, "snmpd.conf"),
      [
        `agentAddress udp:${managementAddress(number)}:161`,
        "master agentx",
        `agentXSocket ${folder}/agentx`,
        "rocommunity public",
        `sysName r${number}`,
        `sysLocation ${location}`,
        `exactEngineID 0x80000000010203000${number}`,
        user(V3, "SHA-256", "AES"),
        user(V3_AES256, "SHA-512", "AES-256"),
        "",
      ].join("\n"),
    );
  }

  /** Restarts `snmpd` with another sysLocation, so that a test can see that it is read again. */
  async restartSnmpd(number: number, location: string, { forgetBoots = false } = {}): Promise<void> {
    const router = this.#router(number);
    await this.stopSnmpd(number);
    if (forgetBoots) await rm(join(router.folder, "state", "snmpd.conf"));
    await this.#writeSnmpdConfig(router, location);
    await this.startSnmpd(number);
  }

  async startSnmpd(number: number): Promise<void> {
    const router = this.#router(number);
    const { folder, namespace } = router;
    const state = join(folder, "state");
    router.snmpd = new Daemon(
      ["ip", "netns", "exec", namespace, "snmpd", "-f", "-Lo"],
      join(folder, "snmpd.log"),
      { SNMPCONFPATH: `${folder}:${state}`, SNMP_PERSISTENT_DIR: state, MIBS: "" },
    );
    await until(
      () =>
        Bun.file(join(folder, "snmpd.log"))
          .text()
          .then((text) => text.includes("NET-SNMP version")),
      {
        what: `snmpd of router ${number}`,
      },
    );
  }

  async startLldpd(number: number): Promise<void> {
    const router = this.#router(number);
    const { folder, namespace } = router;
    const [socket, agentx, config] = ["lldpd.socket", "agentx", "lldpd.conf"].map((name) =>
      join(folder, name),
    );
    router.lldpd = new Daemon(
      [
        "ip",
        "netns",
        "exec",
        namespace,
        "lldpd",
        "-d",
        "-x",
        "-X",
        agentx ?? "",
        "-u",
        socket ?? "",
        "-O",
        config ?? "",
      ],
      join(folder, "lldpd.log"),
    );
  }

  async stopSnmpd(number: number, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    await this.#router(number).snmpd?.stop(signal);
  }

  async stopLldpd(number: number): Promise<void> {
    await this.#router(number).lldpd?.stop();
  }

  /** The number of starts that `snmpd` has stored. */
  async engineBoots(number: number): Promise<number> {
    const text = await Bun.file(join(this.#router(number).folder, "state", "snmpd.conf")).text();
    return Number(/^engineBoots (\d+)$/m.exec(text)?.[1] ?? 0);
  }

  async setLink(router: number, state: "up" | "down"): Promise<void> {
    await run("ip", "-n", this.#namespaceOf(router), "link", "set", `to-r${next(router)}`, state);
  }

  /** A service on the management network. `data` is a name of a folder: the same one continues. */
  async startService(sources: readonly object[], data: string): Promise<LabService> {
    const config = join(this.#folder, `config${this.#services++}.yaml`);
    await Bun.write(
      config,
      `sources:\n${sources.map((source) => `  - ${JSON.stringify(source)}\n`).join("")}`,
    );
    const prefix = ["ip", "netns", "exec", this.#management];
    const service = await startService({
      prefix,
      args: ["--data", join(this.#folder, data), "--config", config],
    });
    return new LabService(service, prefix);
  }

  async close(): Promise<void> {
    await Promise.all(this.#routers.flatMap(({ snmpd, lldpd }) => [snmpd?.stop(), lldpd?.stop()]));
    const namespaces = [this.#management, this.#host, ...this.#routers.map(({ namespace }) => namespace)];
    for (const namespace of namespaces) await run("ip", "netns", "delete", namespace).catch(() => {});
  }
}

/** A service that only its namespace can reach: requests go through a program that runs there. */
export class LabService {
  readonly service: Service;
  readonly #prefix: readonly string[];

  constructor(service: Service, prefix: readonly string[]) {
    this.service = service;
    this.#prefix = prefix;
  }

  async text(path: string): Promise<string> {
    const { credentials, url } = this.service;
    return run(...this.#prefix, "curl", "-sS", "-m", "20", "-u", credentials, url + path);
  }

  async json(path: string): Promise<Record<string, unknown>> {
    return JSON.parse(await this.text(path));
  }

  /** Records of a collection, by id. */
  async list(collection: "devices" | "links" | "hosts"): Promise<Map<string, Record<string, unknown>>> {
    const { [collection]: records } = await this.json(`/controller/v1/${collection}`);
    if (!Array.isArray(records)) throw new Error(`no ${collection}`);
    return new Map(records.map((record) => [String(record.id), record]));
  }

  /** Like `until`; the error contains the log of the service. */
  async until(condition: () => Promise<boolean>, what: string): Promise<void> {
    await until(condition, { what, deadlineMs: 60_000, everyMs: 200 }).catch((error: unknown) => {
      throw new Error(`timeout: ${what}; log of the service:\n${this.service.stderr().slice(-4000)}`, {
        cause: error,
      });
    });
  }
}
