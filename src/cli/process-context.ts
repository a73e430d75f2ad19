/**
 * The Context of a real process: its environment, its standard streams and its terminal. Output to a terminal is filtered;
 * output to a pipe or a file is written unchanged.
 */
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
