/** The texts of `gazetteer help`, rendered from the commands. */
import { HELP_FLAG, renderFlagUsage } from "./args.ts";
import type { Command } from "./command.ts";

export function renderOverview(commands: readonly Command[]): string {
  const list = renderRows(commands.map(({ name, summary }) => [name, summary] as const));
  return `Gazetteer: devices, links, hosts and the topology of a network, over HTTP.

usage: gazetteer COMMAND …

${list}
gazetteer help COMMAND shows the flags of a command. To try it: gazetteer serve --demo
`;
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
