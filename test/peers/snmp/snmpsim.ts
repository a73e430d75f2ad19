/**
 * `snmpsim`, a simulator of SNMP agents, from PyPI. It runs as the user `nobody`, because it refuses to run as root.
 */
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Daemon } from "../../sources/snmp/processes.ts";
import { hasVenv, venvProgram } from "../../support/python-venv.ts";
import { until } from "../../support/until.ts";

const PACKAGES = ["snmpsim==1.2.2", "pysnmp==7.1.30", "pysmi==2.0.0", "cryptography"];
const VENV = "snmpsim-1.2.2";

/** Whether the simulator is installed; installs it when it is not. */
export const hasSnmpsim = (): boolean => hasVenv(VENV, PACKAGES);

export interface SimulatorUser {
  readonly user: string;
  readonly authProtocol: string;
  readonly authPassword: string;
  readonly privProtocol?: string;
  readonly privPassword?: string;
}

export class Simulator {
  readonly #daemon: Daemon;

  private constructor(daemon: Daemon) {
    this.#daemon = daemon;
  }

  /** Serves the recordings in `data`: the community or the context is the name of a file. */
  static start(folder: string, endpoint: string, users: readonly SimulatorUser[] = []): Promise<Simulator> {
    const options = [`--data-dir=${join(folder, "data")}`, `--agent-udpv4-endpoint=${endpoint}`];
    return Simulator.#start(folder, [...options, ...users.flatMap(userOptions)], endpoint);
  }

  /** One agent an endpoint: the name of its recording is its number, from 0 on. */
  static startFleet(folder: string, endpoints: readonly string[]): Promise<Simulator> {
    const options = [`--data-dir=${join(folder, "data")}`].concat(
      endpoints.map((endpoint) => `--agent-udpv4-endpoint=${endpoint}`),
    );
    const command = [venvProgram(VENV, "python"), join(import.meta.dir, "snmpsim-fleet.py")];
    return Simulator.#start(folder, options, endpoints.at(-1) ?? "", command);
  }

  static async #start(
    folder: string,
    options: readonly string[],
    lastEndpoint: string,
    command: readonly string[] = [venvProgram(VENV, "snmpsim-command-responder")],
  ): Promise<Simulator> {
    chmodSync(folder, 0o755);
    const [cache, log] = [join(folder, "cache"), join(folder, "log")];
    mkdirSync(cache, { recursive: true });
    chmodSync(cache, 0o777);
    const asNobody = process.getuid?.() === 0 ? ["--process-user=nobody", "--process-group=nogroup"] : [];
    const daemon = new Daemon(
      [...command, `--cache-dir=${cache}`, "--log-level=error", ...asNobody, ...options],
      log,
    );
    const simulator = new Simulator(daemon);
    const [, lastPort = ""] = lastEndpoint.split(":");
    const isBound = async () => {
      if (!daemon.isRunning) throw new Error(`the simulator ended:\n${await Bun.file(log).text()}`);
      const hex = Number(lastPort).toString(16).toUpperCase().padStart(4, "0");
      return (await Bun.file("/proc/net/udp").text()).includes(`:${hex} `);
    };
    await until(isBound, { what: "the simulator", deadlineMs: 120_000, everyMs: 100 });
    return simulator;
  }

  stop(): Promise<void> {
    return this.#daemon.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

function userOptions({
  user,
  authProtocol,
  authPassword,
  privProtocol,
  privPassword,
}: SimulatorUser): string[] {
  return [
    `--v3-user=${user}`,
    `--v3-auth-key=${authPassword}`,
    `--v3-auth-proto=${authProtocol}`,
    ...(privProtocol ? [`--v3-priv-key=${privPassword}`, `--v3-priv-proto=${privProtocol}`] : []),
  ];
}
