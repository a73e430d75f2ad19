/** Runs commands in this process, by the table of commands, with captured output. */
import { runCommand as runInContext } from "../../src/cli/commands.ts";
import { type CommandOptions, type CommandResult, environmentOf } from "./service.ts";

/** A command that exits on its own, with the same result as the program. `serve` needs a process of its own. */
export async function runCommand(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const stdout: Uint8Array[] = [];
  let stderr = "";
  const encoder = new TextEncoder();
  const status = await runInContext(args, {
    env: environmentOf(options.env, null),
    stdin: {
      isTerminal: false,
      async *stream() {
        yield encoder.encode(options.stdin ?? "");
      },
    },
    out: async (text) => void stdout.push(typeof text === "string" ? encoder.encode(text) : text.slice()),
    err: async (text) => {
      stderr += text;
    },
    exit: (exitStatus) => {
      throw new Error(`the command ended the process with status ${exitStatus}`);
    },
    terminal: false,
  });
  return { status, stdout: Buffer.concat(stdout).toString("utf8"), stderr };
}
