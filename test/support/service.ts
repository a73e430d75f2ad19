/**
 * The real service as a child process, on a free port, for tests that talk to it as its users do. A failed start shows
 * what the service said. Whatever a test does, the process is gone when its file ends: `npm test` isolates files, so
 * the hook below is each file's own; where many files run in one `bun test`, add --isolate, or hold the service with
 * `await using`.
 */
import { afterAll } from "bun:test";
import { join } from "node:path";
import { until } from "./until.ts";

export const GAZETTEER = join(import.meta.dir, "..", "..", "bin", "gazetteer");
const LISTENING = /^listening on (http:\/\/\S+)\/controller\/v1$/m;
const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 20_000;

export interface ServiceOptions {
  /** A free one unless given. */
  readonly port?: number;
  /** After `serve --port …`; the default `["--data", ":memory:"]` keeps nothing. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** `NAME:PASSWORD`, passed as GAZETTEER_CREDENTIALS; null passes none. */
  readonly credentials?: string | null;
  readonly cwd?: string;
}

export interface Service extends AsyncDisposable {
  /** `http://HOST:PORT`, without a path. */
  readonly url: string;
  readonly credentials: string;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** A request to a path such as `/controller/v1/devices`, with Basic credentials unless the headers bring their own. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** SIGTERM; gives the exit status. */
  stop(): Promise<number>;
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

export function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials, "utf8").toString("base64")}`;
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { args = ["--data", ":memory:"], credentials = "reader:secret" } = options;
  const child = Bun.spawn([GAZETTEER, "serve", "--port", String(options.port ?? 0), ...args], {
    env: environment(options.env, credentials),
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  running.add(child);
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const exited = child.exited.then((status) => {
    running.delete(child);
    return status;
  });
  const url = await waitUntilListening(child, stdout).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw new Error(`the service did not start\n${stdout()}${stderr()}`, { cause: error });
  });
  const kill9 = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  return {
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
      const status = await Promise.race([exited, Bun.sleep(STOP_DEADLINE_MS)]);
      if (status === undefined) throw new Error(`the service did not stop\n${stderr()}`);
      return status;
    },
    kill: kill9,
    [Symbol.asyncDispose]: kill9,
  };
}

async function waitUntilListening(child: Bun.Subprocess, stdout: () => string): Promise<string> {
  const answered = () => LISTENING.test(stdout()) || child.exitCode !== null;
  await until(answered, { what: "the listening line", deadlineMs: START_DEADLINE_MS });
  const url = LISTENING.exec(stdout())?.[1];
  if (url === undefined) throw new Error(`exit status ${child.exitCode}`);
  return url;
}

/** Any command of `bin/gazetteer` that ends by itself. */
export async function runCommand(
  args: readonly string[],
  options: { env?: Readonly<Record<string, string | undefined>>; stdin?: string; cwd?: string } = {},
): Promise<CommandResult> {
  const child = Bun.spawn([GAZETTEER, ...args], {
    env: environment(options.env, null),
    stdin: new TextEncoder().encode(options.stdin ?? ""),
    stdout: "pipe",
    stderr: "pipe",
    timeout: START_DEADLINE_MS,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { status, stdout, stderr };
}

/** The tester's own environment, without what would configure the service behind the test's back. */
function environment(
  extra: Readonly<Record<string, string | undefined>> = {},
  credentials: string | null,
): Record<string, string | undefined> {
  const env: Record<string, string | undefined> = { ...process.env, NO_COLOR: "1" };
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
