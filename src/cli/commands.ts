/**
 * The table of commands, the function that runs one and returns its exit status, and the help, which is rendered from the
 * table. Commands of a few lines are here too.
 */
import { nearest } from "../lib/nearest.ts";
import { VERSION } from "../lib/version.ts";
import { READER_COMMAND } from "../service/reader-command.ts";
import { StartupError } from "../service/startup-error.ts";
import { HELP_FLAG, parseArguments, renderFlagUsage } from "./args.ts";
import { backupCommand, restoreCommand } from "./backup.ts";
import { checkCommand } from "./check.ts";
import { clusterCommand } from "./cluster.ts";
import {
  type Command,
  CommandFailure,
  type Context,
  EXIT_STATUS,
  EXIT_STATUS_MEANINGS,
  usageFailure,
} from "./command.ts";
import { completionCommand, createCompleteCommand } from "./completion.ts";
import { diffCommand } from "./diff.ts";
import { doctorCommand } from "./doctor.ts";
import { explainCommand } from "./explain.ts";
import { getCommand } from "./get.ts";
import { importCommand } from "./import.ts";
import { loginCommand } from "./login.ts";
import { mcpCommand } from "./mcp.ts";
import { passwdCommand } from "./passwd.ts";
import { pathCommand } from "./path.ts";
import { problemsCommand } from "./problems.ts";
import { serveCommand } from "./serve.ts";
import { serversCommand } from "./servers.ts";
import { catchServiceSignals } from "./signals.ts";
import { statusCommand } from "./status.ts";
import { escapeLines } from "./table.ts";
import { tokenCommand } from "./token.ts";
import { watchCommand } from "./watch.ts";

/** `gazetteer version`: the version of Gazetteer and of its runtime. */
const versionCommand: Command = {
  name: "version",
  operands: "",
  summary: "Show the version.",
  flags: [],
  async run(_args, context) {
    await context.out(`gazetteer ${VERSION} (Bun ${Bun.version}, ${process.platform} ${process.arch})\n`);
    return EXIT_STATUS.ok;
  },
};

/** `gazetteer reader-process`: `serve --readers N` starts it, not people, so the help does not list it. */
const readerCommand: Command = {
  name: READER_COMMAND,
  operands: "",
  summary: "Serve requests beside the service that started this process.",
  flags: [],
  async run(_args, context) {
    const { runReader } = await import("../service/reader-process.ts");
    const exitNow = () => context.exit(EXIT_STATUS.failed);
    // SIGHUP is ignored: when it is sent to all processes of the service, the writer reloads and sends the new settings.
    using stop = catchServiceSignals(exitNow, false);
    await runReader({
      input: Bun.stdin.stream(),
      write: (line) => context.out(line),
      signal: stop.signal,
      onWriterGone: exitNow,
    });
    return EXIT_STATUS.ok;
  },
};

/** `gazetteer help`. */
const helpCommand: Command = {
  name: "help",
  operands: "[COMMAND]",
  summary: "Show the commands, or the flags of one.",
  flags: [],
  async run({ positionals: [name, ...extra] }, context) {
    if (extra.length > 0) throw usageFailure("wants one COMMAND");
    const command = COMMANDS.find((candidate) => candidate.name === name);
    if (name !== undefined && !command) throw usageFailure(unknownCommand(name));
    await context.out(command ? renderCommandHelp(command) : renderOverview());
    return EXIT_STATUS.ok;
  },
};

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
  tokenCommand,
  checkCommand,
  doctorCommand,
  backupCommand,
  restoreCommand,
  importCommand,
  clusterCommand,
  mcpCommand,
  completionCommand,
  helpCommand,
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
    await context.err(renderOverview());
    return EXIT_STATUS.usage;
  }
  const name = COMMAND_ALIASES[first] ?? first;
  const command = [...COMMANDS, ...HIDDEN_COMMANDS].find((candidate) => candidate.name === name);
  if (!command) {
    await context.err(`gazetteer: ${unknownCommand(name)}\n`);
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

function unknownCommand(name: string): string {
  const near = nearest(
    name,
    COMMANDS.map((command) => command.name),
  );
  const hint = near === undefined ? "gazetteer help lists them" : `did you mean ${near}?`;
  return `there is no command ${JSON.stringify(name)}; ${hint}`;
}

function renderOverview(): string {
  const list = renderRows(COMMANDS.map(({ name, summary }) => [name, summary] as const));
  const statuses = renderRows(
    EXIT_STATUS_MEANINGS.map(([status, meaning]) => [String(status), meaning] as const),
  );
  return `Gazetteer: devices, links, hosts and the topology of a network, over HTTP.

usage: gazetteer COMMAND …

${list}
gazetteer help COMMAND shows the flags of a command. To try it: gazetteer serve --demo

Exit status:
${statuses}`;
}

function renderCommandHelp(command: Command): string {
  const flags = [...command.flags, HELP_FLAG];
  const flagRows = renderRows(flags.map((flag) => [renderFlagUsage(flag), flag.help] as const));
  const notes = command.notes === undefined ? "" : `\n${command.notes.trim()}\n`;
  return `${command.summary}\n\nusage: ${renderUsage(command)}\n\n${flagRows}${notes}`;
}

const renderUsage = ({ name, operands }: Command) =>
  `gazetteer ${name}${operands === "" ? "" : ` ${operands}`}`;

function renderRows(rows: readonly (readonly [left: string, right: string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join("");
}
