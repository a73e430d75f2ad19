/** `gazetteer help`, and the texts of `--help`, rendered from the commands. */
import { nearest } from "../lib/nearest.ts";
import { HELP_FLAG, renderFlagUsage } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT_STATUS, EXIT_STATUS_MEANINGS, usageFailure } from "./failure.ts";

/** `commands` is called when the command runs, because the list of commands contains this one. */
export const createHelpCommand = (commands: () => readonly Command[]): Command => ({
  name: "help",
  operands: "[COMMAND]",
  summary: "Show the commands, or the flags of one.",
  flags: [],
  async run({ positionals: [name, ...extra] }, context) {
    if (extra.length > 0) throw usageFailure("wants one COMMAND");
    const command = commands().find((candidate) => candidate.name === name);
    if (name !== undefined && !command) throw usageFailure(unknownCommand(name, commands()));
    await context.out(command ? renderCommandHelp(command) : renderOverview(commands()));
    return EXIT_STATUS.ok;
  },
});

export function unknownCommand(name: string, commands: readonly Command[]): string {
  const near = nearest(
    name,
    commands.map((command) => command.name),
  );
  const hint = near === undefined ? "gazetteer help lists them" : `did you mean ${near}?`;
  return `there is no command ${JSON.stringify(name)}; ${hint}`;
}

export function renderOverview(commands: readonly Command[]): string {
  const list = renderRows(commands.map(({ name, summary }) => [name, summary] as const));
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

export function renderCommandHelp(command: Command): string {
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
