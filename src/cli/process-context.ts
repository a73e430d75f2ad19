/** The Context of a real process: its environment, its standard streams, its terminal. */
import type { Context } from "./command.ts";

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
    out: (text) => write(process.stdout, text),
    err: (text) => write(process.stderr, text),
    exit,
    terminal: process.stdout.isTTY === true,
  };
}

/**
 * Through the stream, not with `Bun.write`: once `process.stdout` has been accessed, pipes no longer block, and
 * `Bun.write` then sends parts of a large text twice.
 */
function write(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
