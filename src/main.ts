/** The program: arguments in, exit status out. The only place that ends the process. */
import { runCommand } from "./cli/commands.ts";

async function write(to: Bun.BunFile, text: string | Uint8Array): Promise<void> {
  try {
    await Bun.write(to, text);
  } catch (error) {
    // Whoever read this has gone (`gazetteer get hosts | head`): that is their right, and no failure.
    if (error instanceof Error && "code" in error && error.code === "EPIPE") process.exit(0);
    throw error;
  }
}

try {
  const status = await runCommand(process.argv.slice(2), {
    env: process.env,
    out: (text) => write(Bun.stdout, text),
    err: (text) => write(Bun.stderr, text),
    exit: (status) => process.exit(status),
    terminal: process.stdout.isTTY === true,
  });
  process.exit(status);
} catch (error) {
  console.error("gazetteer: this is a fault of ours, please report it:", error);
  process.exit(1);
}
