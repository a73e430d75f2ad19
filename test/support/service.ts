/**
 * Starts the real service as a child process on a free port, for tests over HTTP. The error of a failed start contains
 * the output of the service. Every process is killed when the test file ends: `npm test` isolates files, so that each
 * file has its own hook; where files share a process (scripts/test/suites.ts), use `await using`.
 */
import { afterAll } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { endWithRunner } from "../../scripts/end-with-runner.ts";
import { until } from "./until.ts";

/** The executable that `npm test` has built, which starts in a third of the time; otherwise the program from its sources. */
export const GAZETTEER = process.env.TEST_EXECUTABLE ?? join(import.meta.dir, "..", "..", "bin", "gazetteer");
const LISTENING = /^listening on (https?:\/\/\S+)\/controller\/v1$/m;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
/** Large demo networks are loaded for a minute on a busy machine. */
const LOAD_TIMEOUT_MS = 300_000;

export interface ServiceOptions {
  /** The program. Default: `GAZETTEER`. */
  readonly program?: readonly string[];
  /** Default: a free port. */
  readonly port?: number;
  /** Arguments after `serve --port …`. Default: `["--data", ":memory:"]`, which stores nothing. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** `NAME:PASSWORD`, passed as GAZETTEER_CREDENTIALS; null passes none. */
  readonly credentials?: string | null;
  readonly cwd?: string;
  /** A command that runs the service as its arguments say, such as `ip netns exec NAME`. */
  readonly prefix?: readonly string[];
  /** `ulimit -n` of the process. */
  readonly maxOpenFiles?: number;
  readonly startTimeoutMs?: number;
}

export interface Service extends AsyncDisposable {
  /** `http://HOST:PORT` or `https://…`, without a path. */
  readonly url: string;
  readonly credentials: string;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Requests a path such as `/controller/v1/devices`, with Basic credentials unless the headers have their own. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Sends SIGTERM. Resolves with the exit status. */
  stop(): Promise<number>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  readonly exited: Promise<number>;
}

export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

const running = new Set<Bun.Subprocess>();
afterAll(async () => {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all([...running].map((child) => child.exited));
});

/** `NAME:PASSWORD` of the user that a first start has generated, from the file that it names. */
export function generatedCredentials({ stdout }: Pick<Service, "stdout">): string {
  const [, name = ""] = /^ {2}user {6}(.+)$/m.exec(stdout()) ?? [];
  const [, path = ""] = /^ {2}password {2}in (.+)$/m.exec(stdout()) ?? [];
  return `${name}:${readFileSync(path, "utf8").trimEnd()}`;
}

export function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials, "utf8").toString("base64")}`;
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { args = ["--data", ":memory:"], credentials = "reader:secret" } = options;
  const limit = options.maxOpenFiles;
  const limited = limit === undefined ? [] : ["sh", "-c", `ulimit -n ${limit}; exec "$@"`, "sh"];
  const command = [
    ...(options.prefix ?? []),
    ...limited,
    ...(options.program ?? [GAZETTEER]),
    "serve",
    "--port",
    String(options.port ?? 0),
    ...args,
  ];
  const child = Bun.spawn(command, {
    env: environmentOf(options.env, credentials),
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  endWithRunner(child);
  running.add(child);
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const exited = child.exited.then((status) => {
    running.delete(child);
    return status;
  });
  const url = await waitUntilListening(child, stdout, options.startTimeoutMs).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw new Error(`the service did not start\n${stdout()}${stderr()}`, { cause: error });
  });
  const kill = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  const service: Service = {
    url,
    credentials: credentials ?? "",
    pid: child.pid,
    stdout,
    stderr,
    exited,
    fetch(path, init = {}) {
      const headers = new Headers(init.headers);
      if (!headers.has("authorization") && credentials) headers.set("authorization", basic(credentials));
      return fetch(url + path, { ...init, headers });
    },
    async stop() {
      child.kill("SIGTERM");
      const status = await Promise.race([exited, Bun.sleep(STOP_TIMEOUT_MS)]);
      if (status === undefined) throw new Error(`the service did not stop\n${stderr()}`);
      return status;
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
  const networks = countLocalNetworks(args, options.cwd);
  await until(() => settledSources(stderr()).size >= networks || child.exitCode !== null, {
    what: "the network",
    deadlineMs: LOAD_TIMEOUT_MS,
  });
  return service;
}

/**
 * The number of sources in the arguments or in the configuration whose network is complete after their first read. On a
 * busy machine the service listens before that. In a cluster another node may read them.
 */
function countLocalNetworks(args: readonly string[], cwd = "."): number {
  const file = args[args.indexOf("--config") + 1];
  const config =
    args.includes("--config") && file !== undefined ? readFileSync(resolve(cwd, file), "utf8") : "";
  if (/(^|[{,])"?cluster"?:/m.test(config)) return 0;
  const inConfig = config.match(/\btype"?: ?"?(file|demo)\b/g) ?? [];
  return args.filter((arg) => /^--(file|demo)(=|$)/.test(arg)).length + inConfig.length;
}

/** The names of the sources that have synced or failed. */
const settledSources = (log: string): ReadonlySet<string> =>
  new Set(log.matchAll(/ source (?:synced|starting|stale) source=(\S+)/g).map(([, name = ""]) => name));

async function waitUntilListening(
  child: Bun.Subprocess,
  stdout: () => string,
  deadlineMs = START_TIMEOUT_MS,
): Promise<string> {
  const settled = () => LISTENING.test(stdout()) || child.exitCode !== null;
  await until(settled, { what: "the listening line", deadlineMs });
  const url = LISTENING.exec(stdout())?.[1];
  if (url === undefined) throw new Error(`exit status ${child.exitCode}`);
  return url;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
}

/**
 * Runs a command of `bin/gazetteer` that exits on its own, as a process. That takes a third of a second of processor time:
 * only where the process matters. `runCommand` of command.ts runs it in this process.
 */
export async function spawnCommand(
  args: readonly string[],
  options: CommandOptions & { readonly cwd?: string } = {},
): Promise<CommandResult> {
  const child = Bun.spawn([GAZETTEER, ...args], {
    env: environmentOf(options.env, null),
    stdin: new TextEncoder().encode(options.stdin ?? ""),
    stdout: "pipe",
    stderr: "pipe",
    timeout: START_TIMEOUT_MS,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { status, stdout, stderr };
}

/** A folder that does not exist, so that no test reads the servers that the user of this machine has stored. */
const NO_CONFIG_HOME = "/nonexistent/config";

/** The environment of the test run, without variables that would configure the service. */
export function environmentOf(
  extra: Readonly<Record<string, string | undefined>> = {},
  credentials: string | null,
): Record<string, string | undefined> {
  const env: Record<string, string | undefined> = {
    ...process.env,
    NO_COLOR: "1",
    XDG_CONFIG_HOME: NO_CONFIG_HOME,
  };
  for (const name of Object.keys(env)) if (name.startsWith("GAZETTEER_")) delete env[name];
  if (credentials !== null) env.GAZETTEER_CREDENTIALS = credentials;
  return { ...env, ...extra };
}

function collect(stream: ReadableStream<Uint8Array>): () => string {
  let text = "";
  const decoder = new TextDecoder();
  void (async () => {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  })();
  return () => text;
}
