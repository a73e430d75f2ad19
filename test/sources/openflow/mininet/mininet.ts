/** Real switches: Open vSwitch with its userspace datapath under Mininet, controlled through `driver.py`. */
import { join } from "node:path";
import { needs, reportMissing } from "../../../support/needs.ts";

export interface ConnectPoint {
  readonly device: string;
  readonly port: string;
}

/** The network as Mininet built it. */
export interface MininetNetwork {
  readonly links: readonly (readonly [ConnectPoint, ConnectPoint])[];
  readonly hosts: readonly {
    readonly name: string;
    readonly mac: string;
    readonly ip: string;
    readonly at: ConnectPoint;
  }[];
  readonly ports: Readonly<Record<string, readonly string[]>>;
  readonly names: Readonly<Record<string, string>>;
}

export interface StartOptions {
  /** How the switches connect to the service. */
  readonly protocol?: "tcp" | "ssl";
  /** The ports of other controllers. */
  readonly others?: readonly number[];
  /** Where the controller listens. Default: 127.0.0.1. */
  readonly address?: string;
}

export const SYSTEM_PYTHON = "/usr/bin/python3"; // Debian's packages are available to Debian's Python only.
const OVS_DEADLINE_MS = 60_000;

/** Whether Mininet can run here. Prints what is missing, and throws when CI=true. */
export function canRunMininet(): boolean {
  if (!needs("mn", "ovs-vsctl", "ovs-vswitchd", "ping", "ip")) return false;
  if (process.getuid?.() === 0) return true;
  reportMissing("Mininet needs root");
  return false;
}

function run(...command: string[]): { ok: boolean; text: string } {
  const done = Bun.spawnSync(command, { timeout: OVS_DEADLINE_MS });
  return { ok: done.exitCode === 0, text: done.stdout.toString() + done.stderr.toString() };
}

/** Starts Open vSwitch unless it runs. Returns true when it was started here; then the caller stops it. */
export function ensureOvs(): boolean {
  if (run("ovs-appctl", "-T", "5", "version").ok) return false;
  const started = run(
    "/usr/share/openvswitch/scripts/ovs-ctl",
    "start",
    "--system-id=random",
    "--no-ovs-vswitchd-ulimit",
  );
  if (!run("ovs-appctl", "-T", "5", "version").ok)
    throw new Error(`Open vSwitch does not start: ${started.text}`);
  return true;
}

export function stopOvs(): void {
  run("/usr/share/openvswitch/scripts/ovs-ctl", "stop");
}

export class Mininet {
  readonly #child = Bun.spawn([SYSTEM_PYTHON, join(import.meta.dir, "driver.py")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  readonly #replies = lines(this.#child.stdout);
  readonly #errors = new Response(this.#child.stderr).text();

  async #command(command: object): Promise<Record<string, unknown>> {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    // Before any pause: replies come in the order of the commands, also of those that are sent at the same time.
    const reading = this.#replies.next();
    await this.#child.stdin.flush();
    const { value, done } = await reading;
    if (done) throw new Error(`the driver ended: ${await this.#errors}`);
    const reply: Record<string, unknown> = JSON.parse(value);
    if (reply.error !== undefined) throw new Error(`driver: ${reply.error}`);
    return reply;
  }

  /** Resolves when this driver holds the lock: only one runs on a machine at a time. */
  async ready(): Promise<void> {
    await this.#command({ do: "ready" });
  }

  async start(topology: string, port: number, options: StartOptions = {}): Promise<MininetNetwork> {
    const network: unknown = await this.#command({ do: "start", topology, port, ...options });
    return network as MininetNetwork; // The driver is part of these tests.
  }

  /** Returns the percentage of pings lost. */
  async pingAll(): Promise<number> {
    return Number((await this.#command({ do: "pingall" })).lost);
  }

  async ping(source: string, target: string): Promise<boolean> {
    return (await this.#command({ do: "ping", source, target })).ok === true;
  }

  /** Pings five times a second until `stopPings`. */
  async startPings(source: string, target: string): Promise<void> {
    await this.#command({ do: "start_pings", source, target });
  }

  /** Returns how many pings were lost. */
  async stopPings(): Promise<number> {
    return Number((await this.#command({ do: "stop_pings" })).lost);
  }

  async link(a: string, b: string, state: "up" | "down"): Promise<void> {
    await this.#command({ do: "link", a, b, state });
  }

  async switch(name: string, action: "start" | "stop"): Promise<void> {
    await this.#command({ do: "switch", name, action });
  }

  async move(host: string, source: string, target: string): Promise<string> {
    const at = await this.#command({ do: "move", host, source, target });
    return `${at.device}/${at.port}`;
  }

  async frames(): Promise<number> {
    return Number((await this.#command({ do: "frames" })).frames);
  }

  async shell(command: string): Promise<string> {
    return String((await this.#command({ do: "shell", command })).out);
  }

  async stop(): Promise<void> {
    await this.#command({ do: "stop" });
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#child.exited;
  }
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
  return undefined;
}
