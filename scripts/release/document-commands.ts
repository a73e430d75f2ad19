/**
 * Runs the commands of a page of the documentation, as a reader would, on a machine to throw away: every block that is
 * marked `sh`, in order. A block after a comment `<!-- not run: REASON -->` is left out; blocks of other languages show
 * output, files or commands that need a terminal or a network.
 */
import { chmodSync, copyFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bootMachine } from "./machine.ts";

const BLOCK = /(<!-- not run: [^>]*-->\n+)?^```sh\n(.*?)^```$/gms;

export const commandsOf = (page: string): string[] =>
  [...page.matchAll(BLOCK)].flatMap(([, mark, commands = ""]) => (mark === undefined ? [commands] : []));

/** Debian has it on every machine with people. */
const SUDO = `#!/bin/sh
[ "$1" = -u ] && { user=$2; shift 2; exec runuser -u "$user" -- "$@"; }
[ "$1" = -E ] && shift
exec "$@"
`;

export interface DocumentSetup {
  /** Files of this machine that the reader has in the folder where the commands are typed. */
  readonly files: readonly string[];
  /** Commands that make the machine what the page expects. Their variables and functions are there for those of the page. */
  readonly prepare?: string;
  /** Names of the page, such as an address of an example, and what stands for each here. */
  readonly replace?: Readonly<Record<string, string>>;
}

/** Returns what went wrong; undefined if all commands succeeded. */
export async function runDocument(
  page: string,
  { files, prepare = "", replace = {} }: DocumentSetup,
): Promise<string | undefined> {
  await using machine = await bootMachine();
  const put = (path: string, text: string) => {
    const target = join(machine.root, path);
    writeFileSync(target, text);
    chmodSync(target, 0o755);
  };
  for (const path of files) copyFileSync(path, join(machine.root, "root", basename(path)));
  if (Bun.which("sudo") === null) put("usr/local/bin/sudo", SUDO);
  let commands = commandsOf(page).join("\n");
  for (const [name, here] of Object.entries(replace)) commands = commands.replaceAll(name, here);
  put("root/commands", `set -ex -o pipefail\n${prepare}\n${commands}`);
  const { status, output } = await machine.sh("bash commands");
  return status === 0 ? undefined : output;
}
