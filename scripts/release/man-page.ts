/** The manual page gazetteer(1), made from the table of commands, so that it says what `gazetteer help` says. */
import { HELP_FLAG, renderFlagUsage } from "../../src/cli/args.ts";
import { type Command, EXIT_STATUS_MEANINGS } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { VERSION } from "../../src/lib/version.ts";

/** `date` is shown at the foot of the page. */
export function renderManPage(date: Date): string {
  const day = date.toISOString().slice(0, 10);
  return [
    `.TH GAZETTEER 1 ${day} "Gazetteer ${VERSION}" "User Commands"`,
    ".SH NAME",
    "gazetteer \\- devices, links, hosts and the topology of a network, over HTTP",
    ".SH SYNOPSIS",
    ".B gazetteer",
    ".I COMMAND",
    "\\&...",
    ".SH DESCRIPTION",
    "Gazetteer reads networks from sources (OpenFlow switches, controllers, SNMP, files, scripts), merges them into one view, and",
    "serves that view over HTTP with filters, live changes, history and a map. The documentation is at",
    ".I /docs",
    "of a running service.",
    ".SH COMMANDS",
    ...COMMANDS.flatMap(renderCommand),
    ".SH EXIT STATUS",
    ...EXIT_STATUS_MEANINGS.flatMap(([status, meaning]) => [".TP", `.B ${status}`, escapeText(meaning)]),
    ".SH FILES",
    ...definition("/etc/gazetteer/gazetteer.yaml", "The configuration of the packaged service."),
    ...definition("/etc/default/gazetteer", "Its environment."),
    ...definition("/var/lib/gazetteer", "Its data folder: the log, the users file and the state of sources."),
    "",
  ].join("\n");
}

function renderCommand({ name, operands, summary, flags, notes }: Command): string[] {
  return [
    `.SS ${escapeText(`gazetteer ${name} ${operands}`.trim())}`,
    escapeText(summary),
    ...[...flags, HELP_FLAG].flatMap((flag) => definition(renderFlagUsage(flag).trim(), flag.help)),
    ...(notes === undefined ? [] : [".PP", ".nf", ...notes.trim().split("\n").map(escapeText), ".fi"]),
  ];
}

const definition = (term: string, text: string): string[] => [
  ".TP",
  `.B ${escapeText(term)}`,
  escapeText(text),
];

/** A full stop or apostrophe at the beginning of a line would be a request of roff, and a bare dash a hyphen. */
const escapeText = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/, "\\&");
