/**
 * A real OpenDaylight in a network namespace of its own, because it listens on every address. The switches and the
 * service are outside and reach it over one veth pair. What a killed run left behind is removed by its names.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SHARED_FOLDER } from "../../../scripts/test/shared.ts";
import { basic } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const SERVE = join(SHARED_FOLDER, "peers/opendaylight/serve");
const NAMESPACE = "gazetteer-odl";
const OUTSIDE = { name: "gzodl0", address: "169.254.77.1/30" };
const INSIDE = { name: "gzodl1", address: "169.254.77.2/30" };
const START_TIMEOUT_MS = 10 * 60_000;

export const OPENDAYLIGHT_ADDRESS = "169.254.77.2";
export const OPENDAYLIGHT_URL = `http://${OPENDAYLIGHT_ADDRESS}:8181`;
export const OPENDAYLIGHT_CREDENTIALS = "admin:admin";
export const OPENFLOW_PORT = 6653;

export class OpenDaylight {
  readonly #folder = mkdtempSync(join(tmpdir(), "gazetteer-odl-"));
  #child: Bun.Subprocess | undefined;

  /** Why it cannot run here, or undefined. */
  static obstacle(): string | undefined {
    if (!existsSync(SERVE)) return "../shared/peers/opendaylight does not exist";
    if (process.getuid?.() !== 0) return "network namespaces need root";
    const missing = ["mvn", "ip", "mn", "ovs-vsctl"].filter((command) => Bun.which(command) === null);
    return missing.length > 0 ? `${missing.join(", ")} not on the PATH` : undefined;
  }

  /** Downloads it, the first time, and makes the namespace. */
  async prepare(): Promise<void> {
    const fetched = Bun.spawn([SERVE, "--fetch"], { stdio: ["ignore", "inherit", "inherit"] });
    if ((await fetched.exited) !== 0) throw new Error("OpenDaylight could not be downloaded");
    await this.#removeNamespace();
    ip("netns", "add", NAMESPACE);
    ip("link", "add", OUTSIDE.name, "type", "veth", "peer", "name", INSIDE.name, "netns", NAMESPACE);
    ip("address", "add", OUTSIDE.address, "dev", OUTSIDE.name);
    ip("link", "set", OUTSIDE.name, "up");
    ip("-n", NAMESPACE, "address", "add", INSIDE.address, "dev", INSIDE.name);
    ip("-n", NAMESPACE, "link", "set", INSIDE.name, "up");
    ip("-n", NAMESPACE, "link", "set", "lo", "up");
  }

  /** Resolves when RESTCONF responds with the topology. */
  async start(): Promise<void> {
    const child = Bun.spawn(["ip", "netns", "exec", NAMESPACE, SERVE, this.#folder], {
      stdio: [
        "ignore",
        Bun.file(join(this.#folder, "stdout.log")),
        Bun.file(join(this.#folder, "stderr.log")),
      ],
    });
    this.#child = child;
    const isReady = async () => {
      if (child.exitCode !== null) throw new Error(`OpenDaylight ended with ${child.exitCode}`);
      return (await this.read("network-topology:network-topology")).ok;
    };
    await until(isReady, { what: "OpenDaylight", deadlineMs: START_TIMEOUT_MS, everyMs: 500 });
  }

  read(path: string): Promise<Response> {
    return fetch(`${OPENDAYLIGHT_URL}/rests/data/${path}`, {
      headers: { authorization: basic(OPENDAYLIGHT_CREDENTIALS) },
      signal: AbortSignal.timeout(5000),
    });
  }

  /** SIGKILL to all that runs in the namespace. */
  async kill(): Promise<void> {
    for (const pid of ip("netns", "pids", NAMESPACE).split("\n").filter(Boolean)) {
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {} // it has just ended
    }
    await this.#child?.exited;
  }

  async remove(): Promise<void> {
    await this.kill();
    await this.#removeNamespace();
    rmSync(this.#folder, { recursive: true });
  }

  async #removeNamespace(): Promise<void> {
    if (!ip("netns", "list").includes(NAMESPACE)) return;
    await this.kill();
    // Its end of the veth pair, and with it the other, is removed with the namespace.
    ip("netns", "delete", NAMESPACE);
    const isGone = () => !Bun.spawnSync(["ip", "link", "show", OUTSIDE.name]).success;
    await until(isGone, { what: "the end of the namespace" });
  }
}

function ip(...args: string[]): string {
  const done = Bun.spawnSync(["ip", ...args]);
  if (!done.success) throw new Error(`ip ${args.join(" ")}: ${done.stderr.toString().trim()}`);
  return done.stdout.toString();
}
