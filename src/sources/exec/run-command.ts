/**
 * Runs a program to its end and returns its output. The program gets a process group of its own, and the whole group is ended
 * when the program exits, takes too long, prints too much or is no longer needed: first with SIGTERM, then with SIGKILL for
 * processes that ignore it. A process that moved to another group may keep the output open, and is not awaited.
 *
 * The program gets no input. Of the environment of the service it gets only PATH, HOME and LANG.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { inheritedEnvironment } from "../../lib/inherited-environment.ts";

export interface CommandOptions {
  readonly command: readonly string[];
  /** The working folder of the program. A program with a `/` in its name is relative to it. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The result of a run. The message is one line, which begins with the name of the program. */
type CommandResult =
  | { readonly ok: true; readonly output: Uint8Array }
  | { readonly ok: false; readonly message: string };

const INHERITED_VARIABLES = ["PATH", "HOME", "LANG"];
/** Time between SIGTERM and SIGKILL. */
const TERMINATION_TIMEOUT_MS = 1000;
/** Maximum wait for the rest of the output after the program has exited. Its output is in the pipe by then. */
const DRAIN_TIMEOUT_MS = 250;
const GROUP_CHECK_INTERVAL_MS = 20;
const NO_DIRECTORY = "the folder of the option directory does not exist";

type Child = Bun.Subprocess<"ignore", "pipe", "pipe">;

export const programOf = ({ command }: Pick<CommandOptions, "command">): string => basename(command[0] ?? "");

/** Finds, for `gazetteer check`, the reason why the program could not be run, in one line. */
export function findProgramFault(
  options: Pick<CommandOptions, "command" | "directory" | "environment">,
): string | undefined {
  const { PATH = "" } = environmentOf(options);
  if (!existsSync(options.directory)) return `${programOf(options)}: ${NO_DIRECTORY}`;
  const isFound = Bun.which(options.command[0] ?? "", { PATH, cwd: options.directory }) !== null;
  return isFound ? undefined : `${programOf(options)}: there is no such program that can be run`;
}

export async function runCommand(options: CommandOptions): Promise<CommandResult> {
  const { clock, signal, timeoutMs, maxOutputBytes } = options;
  const fail = (message: string) => ({ ok: false, message: `${programOf(options)}: ${message}` }) as const;
  let child: Child;
  try {
    child = spawn(options);
  } catch (error) {
    return fail(existsSync(options.directory) ? describeSpawnError(error) : NO_DIRECTORY);
  }
  const done = new AbortController();
  const stdout = readStream(child.stdout, maxOutputBytes, done.signal);
  const stderr = tailOf(child.stderr, done.signal);
  try {
    const event = await Promise.race([
      child.exited.then(() => "exit" as const),
      stdout.exceeded.then(() => "too-large" as const),
      clock.sleep(timeoutMs, AbortSignal.any([done.signal, signal])).then(() => "timeout" as const),
    ]);
    if (signal.aborted) return fail("was stopped");
    if (event === "too-large") return fail(`printed more than ${maxOutputBytes} bytes`);
    if (event === "timeout") return fail(`did not end within ${timeoutMs / 1000} seconds`);
    await Promise.race([
      Promise.all([stdout.ended, stderr.ended]),
      clock.sleep(DRAIN_TIMEOUT_MS, AbortSignal.any([done.signal, signal])),
    ]);
    const { exitCode, signalCode } = child;
    const lastLine = stderr.lastLine();
    const reason = lastLine === "" ? "" : `: ${lastLine}`;
    if (signalCode !== null) return fail(`was ended by ${signalCode}${reason}`);
    if (exitCode !== 0) return fail(`exit status ${exitCode}${reason}`);
    // The limit may have been exceeded by output that arrived after the exit.
    return stdout.isTooLarge()
      ? fail(`printed more than ${maxOutputBytes} bytes`)
      : { ok: true, output: stdout.bytes() };
  } finally {
    await endGroup(child, clock);
    done.abort();
  }
}

const environmentOf = ({ environment }: Pick<CommandOptions, "environment">): Record<string, string> => ({
  ...inheritedEnvironment(INHERITED_VARIABLES),
  ...environment,
});

function spawn(options: CommandOptions): Child {
  return Bun.spawn([...options.command], {
    cwd: options.directory,
    env: environmentOf(options),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    // Starts a new session, and therefore a new process group, whose id is that of the process.
    detached: true,
  });
}

function describeSpawnError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return "does not exist";
  if (code === "EACCES" || code === "EPERM") return "cannot be run: permission denied";
  return code === "" ? "cannot be run" : `cannot be run (${code})`;
}

/** Ends the process group. Returns when the program has ended and SIGKILL was sent to remaining processes, or after a timeout. */
async function endGroup(child: Child, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + TERMINATION_TIMEOUT_MS;
  let isAlive = signalGroup(child, "SIGTERM");
  while (isAlive && clock.monotonic() < deadline) {
    await clock.sleep(GROUP_CHECK_INTERVAL_MS);
    isAlive = signalGroup(child, 0);
  }
  if (isAlive) signalGroup(child, "SIGKILL");
  // A process that waits for a device, such as a network file system, may not end, so the wait is limited.
  const exited = new AbortController();
  await Promise.race([child.exited, clock.sleep(TERMINATION_TIMEOUT_MS, exited.signal)]);
  exited.abort();
}

/** Sends a signal to the group. Returns whether the group has processes. */
function signalGroup({ pid }: Child, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

// The output of a program is read within limits: all of standard output up to a maximum, and only the end of standard error.
// An abort ends the reading, even while another process holds the stream open.

interface BoundedOutput {
  /** Resolves at the end of the stream, at the maximum and on abort. */
  readonly ended: Promise<void>;
  /** Resolves once the stream has more bytes than the maximum; never otherwise. */
  readonly exceeded: Promise<void>;
  isTooLarge(): boolean;
  bytes(): Uint8Array;
}

function readStream(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): BoundedOutput {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const exceeded = Promise.withResolvers<void>();
  const ended = forEachChunk(stream, signal, (chunk) => {
    length += chunk.length;
    if (length <= maxBytes) {
      chunks.push(chunk);
      return true;
    }
    chunks.length = 0;
    exceeded.resolve();
    return false;
  });
  return {
    ended,
    exceeded: exceeded.promise,
    isTooLarge: () => length > maxBytes,
    bytes: () => Bun.concatArrayBuffers(chunks, Number.POSITIVE_INFINITY, true),
  };
}

const TAIL_BYTES = 4096;
const MAX_LINE_CHARS = 200;

/** Reads a stream and keeps only its end. */
function tailOf(stream: ReadableStream<Uint8Array>, signal: AbortSignal) {
  let tail = new Uint8Array();
  const ended = forEachChunk(stream, signal, (chunk) => {
    tail = Buffer.concat([tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    return true;
  });
  return { ended, lastLine: () => lastLineOf(new TextDecoder().decode(tail)) };
}

/** The last line that is not empty, for the operator: without control characters and limited in length. */
function lastLineOf(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.replace(/\p{C}+/gu, " ").trim());
  const last = lines.findLast((line) => line !== "") ?? "";
  return last.length > MAX_LINE_CHARS ? `${last.slice(0, MAX_LINE_CHARS)}…` : last;
}

/** Reads a stream until its end, an abort, or until `onChunk` returns false. */
async function forEachChunk(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  onChunk: (chunk: Uint8Array) => boolean,
): Promise<void> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !onChunk(value)) break;
    }
  } catch {
    // A stream that fails counts as ended.
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
