/** The program: arguments in, exit status out. The only place that ends the process. */
import { runCommand } from "./cli/commands.ts";

/**
 * Through the stream, not `Bun.write`: once anything has looked at `process.stdout` a pipe no longer blocks, and
 * `Bun.write` then sends parts of a large text twice.
 */
function write(to: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Whoever read this has gone (`gazetteer get hosts | head`): that is their right, and no failure. */
function onBrokenPipe(error: Error): void {
  if ("code" in error && error.code === "EPIPE") process.exit(0);
  throw error;
}
process.stdout.on("error", onBrokenPipe);
process.stderr.on("error", onBrokenPipe);

try {
  const status = await runCommand(process.argv.slice(2), {
    env: process.env,
    out: (text) => write(process.stdout, text),
    err: (text) => write(process.stderr, text),
    exit: (status) => process.exit(status),
    terminal: process.stdout.isTTY === true,
  });
  process.exit(status);
} catch (error) {
  console.error("gazetteer: this is a fault of ours, please report it:", error);
  process.exit(1);
}
