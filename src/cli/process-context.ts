/**
 * The Context of a real process: its environment, its standard streams and its terminal. Output to a terminal is filtered;
 * output to a pipe or a file is written unchanged.
 */
import { readFileSync } from "node:fs";
import type { Context } from "./command.ts";
import { createTerminalFilter } from "./table.ts";

export function createProcessContext(exit: (status: number) => void): Context {
  // A reader that closes the pipe early (`gazetteer get hosts | head`) is not a failure.
  const onStreamError = (error: Error) => {
    if ("code" in error && error.code === "EPIPE") exit(0);
    throw error;
  };
  process.stdout.on("error", onStreamError);
  process.stderr.on("error", onStreamError);
  return {
    env: process.env,
    out: writerTo(process.stdout),
    err: writerTo(process.stderr),
    stdin: { isTerminal: process.stdin.isTTY === true, stream: () => Bun.stdin.stream() },
    exit,
    terminal: process.stdout.isTTY === true,
  };
}

function writerTo(stream: NodeJS.WriteStream): (text: string | Uint8Array) => Promise<void> {
  if (stream.isTTY !== true) return (text) => write(stream, text);
  const filter = createTerminalFilter();
  return (text) => write(stream, filter(text));
}

/**
 * Writes with the stream and not with `Bun.write`: after `process.stdout` was accessed, pipes no longer block, and
 * `Bun.write` then writes parts of a large text twice.
 */
function write(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

const STANDARD_STREAMS = [0, 1, 2];
const F_SETFL = 4;
const O_NONBLOCK = 0o4000;

/**
 * Call before `createProcessContext`, and the result before the process ends. Access to `process.stdout` makes a pipe or
 * file non-blocking for all programs that share it: those that a script runs next too, and Ansible refuses to run so.
 */
export function rememberBlocking(): () => Promise<void> {
  const isBlocking = (fd: number) => (statusFlags(fd) & O_NONBLOCK) === 0;
  const blocking = STANDARD_STREAMS.filter(isBlocking);
  return async () => {
    const changed = blocking.filter((fd) => !isBlocking(fd));
    if (changed.length === 0) return;
    const { dlopen } = await import("bun:ffi");
    try {
      const { fcntl } = dlopen("libc.so.6", {
        fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
      }).symbols;
      for (const fd of changed) fcntl(fd, F_SETFL, statusFlags(fd) & ~O_NONBLOCK);
    } catch {
      // A system with another C library: the command itself has done its work.
    }
  };
}

/** The flags of an open file on Linux; 0 elsewhere, and for a closed one. */
function statusFlags(fd: number): number {
  try {
    const [, flags = "0"] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
    return Number.parseInt(flags, 8);
  } catch {
    return 0;
  }
}
