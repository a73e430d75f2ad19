/** The table of commands, and the function that runs one and returns its exit status. */
import { StartupError } from "../service/startup-error.ts";
import { parseArguments } from "./args.ts";
import { checkCommand } from "./check.ts";
import { clusterCommand } from "./cluster.ts";
import type { Command, Context } from "./command.ts";
import { completionCommand, createCompleteCommand } from "./completion.ts";
import { diffCommand } from "./diff.ts";
import { explainCommand } from "./explain.ts";
import { CommandFailure, EXIT_STATUS } from "./failure.ts";
import { getCommand } from "./get.ts";
import { createHelpCommand, renderCommandHelp, renderOverview, unknownCommand } from "./help.ts";
import { importCommand } from "./import.ts";
import { loginCommand } from "./login.ts";
import { passwdCommand } from "./passwd.ts";
import { pathCommand } from "./path.ts";
import { problemsCommand } from "./problems.ts";
import { readerCommand } from "./reader.ts";
import { serveCommand } from "./serve.ts";
import { serversCommand } from "./servers.ts";
import { statusCommand } from "./status.ts";
import { escapeLines } from "./table.ts";
import { versionCommand } from "./version.ts";
import { watchCommand } from "./watch.ts";

export const COMMANDS: readonly Command[] = [
  serveCommand,
  getCommand,
  watchCommand,
  diffCommand,
  explainCommand,
  problemsCommand,
  pathCommand,
  statusCommand,
  loginCommand,
  serversCommand,
  passwdCommand,
  checkCommand,
  importCommand,
  clusterCommand,
  completionCommand,
  createHelpCommand(() => COMMANDS),
  versionCommand,
];

/** Commands that programs run, not people. The help does not list them. */
const HIDDEN_COMMANDS: readonly Command[] = [readerCommand, createCompleteCommand(() => COMMANDS)];

/** Flags that other programs have for these commands. */
const COMMAND_ALIASES: Readonly<Record<string, string>> = {
  "--help": "help",
  "-h": "help",
  "--version": "version",
  "-v": "version",
  "-V": "version",
};

/** Runs the command that the arguments name. Throws only bugs; a failure that the user can fix is an exit status. */
export async function runCommand(argv: readonly string[], context: Context): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) {
    await context.err(renderOverview(COMMANDS));
    return EXIT_STATUS.usage;
  }
  const name = COMMAND_ALIASES[first] ?? first;
  const command = [...COMMANDS, ...HIDDEN_COMMANDS].find((candidate) => candidate.name === name);
  if (!command) {
    await context.err(`gazetteer: ${unknownCommand(name, COMMANDS)}\n`);
    return EXIT_STATUS.usage;
  }
  try {
    const args = parseArguments(rest, command.flags);
    if (!args.has("help")) return await command.run(args, context);
    await context.out(renderCommandHelp(command));
    return EXIT_STATUS.ok;
  } catch (error) {
    const status = exitStatusOf(error);
    if (status === undefined || !(error instanceof Error)) throw error;
    await context.err(`gazetteer ${command.name}: ${escapeLines(error.message)}\n`);
    return status;
  }
}

/** Returns undefined for an error that is a bug. */
function exitStatusOf(error: unknown): number | undefined {
  if (error instanceof CommandFailure) return error.status;
  return error instanceof StartupError ? EXIT_STATUS.usage : undefined;
}
