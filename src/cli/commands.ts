/** The commands there are, one row each, and the way from arguments to an exit status. */
import { nearest } from "../lib/nearest.ts";
import { parseArguments } from "./args.ts";
import { checkCommand } from "./check.ts";
import type { Command, Context } from "./command.ts";
import { diffCommand } from "./diff.ts";
import { CommandFailure, STATUS } from "./failure.ts";
import { getCommand } from "./get.ts";
import { commandHelp, overview } from "./help.ts";
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

const OVERVIEW_WORDS = new Set(["help", "--help", "-h"]);
/** What people type everywhere. */
const SYNONYMS: Readonly<Record<string, string>> = {
  "--version": "version",
  "-v": "version",
  "-V": "version",
};

/** Runs what the arguments say; never throws for a fault of the person's. */
export async function runCommand(argv: readonly string[], context: Context): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) {
    await context.err(overview(COMMANDS));
    return STATUS.usage;
  }
  const asked = OVERVIEW_WORDS.has(first) ? rest[0] : (SYNONYMS[first] ?? first);
  if (asked === undefined) {
    await context.out(overview(COMMANDS));
    return STATUS.ok;
  }
  const command = [...COMMANDS, readerCommand].find((candidate) => candidate.name === asked);
  if (!command) {
    const near = nearest(
      asked,
      COMMANDS.map((candidate) => candidate.name),
    );
    const hint = near === undefined ? "gazetteer help lists them" : `did you mean ${near}?`;
    await context.err(`gazetteer: there is no command ${JSON.stringify(asked)}; ${hint}\n`);
    return STATUS.usage;
  }
  try {
    const args = parseArguments(OVERVIEW_WORDS.has(first) ? ["--help"] : rest, command.flags);
    if (!args.has("help")) return await command.run(args, context);
    await context.out(commandHelp(command));
    return STATUS.ok;
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    await context.err(`gazetteer ${command.name}: ${error.message}\n`);
    return error.status;
  }
}
