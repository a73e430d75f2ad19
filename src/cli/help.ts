/** The texts of `gazetteer help`, made from the commands themselves. */
import { flagUsage, HELP_FLAG } from "./args.ts";
import type { Command } from "./command.ts";

const usage = ({ name, operands }: Command) => `gazetteer ${name}${operands === "" ? "" : ` ${operands}`}`;

function rows(pairs: readonly (readonly [left: string, right: string])[]): string {
  const width = Math.max(...pairs.map(([left]) => left.length));
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join("");
}

export function overview(commands: readonly Command[]): string {
  const list = rows(commands.map((command) => [command.name, command.summary] as const));
  return `Gazetteer: devices, links, hosts and the topology of a network, over HTTP.

usage: gazetteer COMMAND …

${list}
gazetteer help COMMAND says more. To see it at once: gazetteer serve --demo
`;
}

export function commandHelp(command: Command): string {
  const flags = rows([...command.flags, HELP_FLAG].map((flag) => [flagUsage(flag), flag.help] as const));
  const notes = command.notes === undefined ? "" : `\n${command.notes.trim()}\n`;
  return `${command.summary}\n\nusage: ${usage(command)}\n\n${flags}${notes}`;
}
