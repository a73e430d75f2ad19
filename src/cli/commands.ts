/** The table of commands, and the way from arguments to an exit status. */
import { nearest } from "../lib/nearest.ts";
import { StartupError } from "../service/startup-error.ts";
import { parseArguments } from "./args.ts";
import { checkCommand } from "./check.ts";
import type { Command, Context } from "./command.ts";
import { diffCommand } from "./diff.ts";
import { CommandFailure, EXIT_STATUS } from "./failure.ts";
import { getCommand } from "./get.ts";
import { renderCommandHelp, renderOverview } from "./help.ts";
import { passwdCommand } from "./passwd.ts";
import { readerCommand } from "./reader.ts";
import { serveCommand } from "./serve.ts";
import { versionCommand } from "./version.ts";
import { watchCommand } from "./watch.ts";

export const COMMANDS: readonly Command[] = [
  serveCommand,
  getCommand,
  watchCommand,
  diffCommand,
  passwdCommand,
  checkCommand,
  versionCommand,
];

const HELP_ARGUMENTS = new Set(["help", "--help", "-h"]);
/** Common spellings in other programs. */
const COMMAND_ALIASES: Readonly<Record<string, string>> = {
  "--version": "version",
  "-v": "version",
  "-V": "version",
};

/** Runs the command that the arguments name. Throws only for bugs; what the user can fix is an exit status. */
export async function runCommand(argv: readonly string[], context: Context): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) {
    await context.err(renderOverview(COMMANDS));
    return EXIT_STATUS.usage;
  }
  const isHelp = HELP_ARGUMENTS.has(first);
  const name = isHelp ? rest[0] : (COMMAND_ALIASES[first] ?? first);
  if (name === undefined) {
    await context.out(renderOverview(COMMANDS));
    return EXIT_STATUS.ok;
  }
  const command = [...COMMANDS, readerCommand].find((candidate) => candidate.name === name);
  if (!command) {
    await context.err(unknownCommand(name));
    return EXIT_STATUS.usage;
  }
  try {
    const args = parseArguments(isHelp ? ["--help"] : rest, command.flags);
    if (!args.has("help")) return await command.run(args, context);
    await context.out(renderCommandHelp(command));
    return EXIT_STATUS.ok;
  } catch (error) {
    const status = exitStatusOf(error);
    if (status === undefined || !(error instanceof Error)) throw error;
    await context.err(`gazetteer ${command.name}: ${error.message}\n`);
    return status;
  }
}

/** Undefined for a bug. */
function exitStatusOf(error: unknown): number | undefined {
  if (error instanceof CommandFailure) return error.status;
  return error instanceof StartupError ? EXIT_STATUS.usage : undefined;
}

function unknownCommand(name: string): string {
  const near = nearest(
    name,
    COMMANDS.map((command) => command.name),
  );
  const hint = near === undefined ? "gazetteer help lists them" : `did you mean ${near}?`;
  return `gazetteer: there is no command ${JSON.stringify(name)}; ${hint}\n`;
}
