/**
 * `snmpsim`, a simulator of SNMP agents, from PyPI. It is installed once, in a folder that outlives the test run and that
 * the user `nobody` can read, because the simulator refuses to run as root. Where PyPI cannot be reached, the tests are
 * skipped with a SKIP line, also where CI=true.
 */
import { chmodSync, existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Daemon } from "../../sources/snmp/processes.ts";
import { needs, printSkip } from "../../support/needs.ts";
import { until } from "../../support/until.ts";

const PYTHON = "/usr/bin/python3";
const PACKAGES = ["snmpsim==1.2.2", "pysnmp==7.1.30", "pysmi==2.0.0", "cryptography"];
const FOLDER = `/var/tmp/gazetteer-snmpsim-1.2.2-${process.getuid?.() ?? "user"}`;
const READY = join(FOLDER, "ready");
const INSTALL_TIMEOUT_MS = 180_000;
const UNREACHABLE = /connection|resolve|timed out|could not find a version|temporary failure/i;

/** Whether the simulator is installed; installs it when it is not. */
export function hasSnmpsim(): boolean {
  if (!needs(PYTHON)) return false;
  if (isOurs() && existsSync(READY)) return true;
  if (existsSync(FOLDER) && !isOurs()) throw new Error(`${FOLDER} belongs to another user`);
  mkdirSync(FOLDER, { recursive: true, mode: 0o755 });
  chmodSync(FOLDER, 0o755);
  console.log(`installing ${PACKAGES.join(" ")} from PyPI …`);
  const failure =
    install([PYTHON, "-m", "venv", "--clear", join(FOLDER, "venv")]) ??
    install([
      join(FOLDER, "venv/bin/pip"),
      "install",
      "-q",
      "--retries",
      "1",
      "--timeout",
      "20",
      ...PACKAGES,
    ]);
  if (failure === undefined) {
    writeFileSync(READY, "");
    return true;
  }
  if (!UNREACHABLE.test(failure)) throw new Error(failure);
  printSkip(
    `snmpsim cannot be installed from PyPI, so recordings and the fleet are not tested:\n${failure.slice(-500)}`,
  );
  return false;
}

/** A folder that somebody else made could hold a program of theirs. */
function isOurs(): boolean {
  if (!existsSync(FOLDER)) return false;
  const { uid, mode } = lstatSync(FOLDER);
  return uid === process.getuid?.() && (mode & 0o022) === 0;
}

function install(command: string[]): string | undefined {
  const { success, stdout, stderr } = Bun.spawnSync(command, { timeout: INSTALL_TIMEOUT_MS });
  return success ? undefined : `${command[0]} failed: timed out or\n${stdout}${stderr}`;
}

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
    const command = [join(FOLDER, "venv/bin/python"), join(import.meta.dir, "snmpsim-fleet.py")];
    return Simulator.#start(folder, options, endpoints.at(-1) ?? "", command);
  }

  static async #start(
    folder: string,
    options: readonly string[],
    lastEndpoint: string,
    command: readonly string[] = [join(FOLDER, "venv/bin/snmpsim-command-responder")],
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
