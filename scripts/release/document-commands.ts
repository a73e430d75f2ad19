/**
 * Runs the commands of a page of the documentation, as a reader would, on a machine to throw away: every block that is marked
 * `sh`, in order. A block after a comment `<!-- not run: REASON -->` is left out; blocks of other languages show output, files or
 * commands that need a terminal or a network.
 */
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bootMachine } from "./machine.ts";

const BLOCK = /(<!-- not run: [^>]*-->\n+)?^```sh\n(.*?)^```$/gms;

export const commandsOf = (page: string): string[] =>
  [...page.matchAll(BLOCK)].flatMap(([, mark, commands = ""]) => (mark === undefined ? [commands] : []));

/** Debian has it on every machine with people. */
const SUDO =
  '#!/bin/sh\n[ "$1" = -u ] && { user=$2; shift 2; exec runuser -u "$user" -- "$@"; }\nexec "$@"\n';
/** A command that runs until it is interrupted is interrupted. */
const interrupted = (program: string) =>
  `#!/bin/sh\nexec timeout --preserve-status --signal=INT 5 ${program} "$@"\n`;

export interface DocumentSetup {
  /** Files of this machine that the reader has in the folder where the commands are typed. */
  readonly files: readonly string[];
  /** The executable; given, it is `bin/gazetteer` of a checkout, and a service with a simulated network runs already. */
  readonly checkout?: string;
}

/** Returns what went wrong; undefined if all commands succeeded. */
export async function runDocument(
  page: string,
  { files, checkout }: DocumentSetup,
): Promise<string | undefined> {
  await using machine = await bootMachine();
  const put = (path: string, text: string) => {
    const target = join(machine.root, path);
    writeFileSync(target, text);
    chmodSync(target, 0o755);
  };
  for (const path of files) copyFileSync(path, join(machine.root, "root", basename(path)));
  if (Bun.which("sudo") === null) put("usr/local/bin/sudo", SUDO);
  const credentials = "reader:secret";
  if (checkout !== undefined) {
    mkdirSync(join(machine.root, "root/bin"));
    copyFileSync(checkout, join(machine.root, "usr/local/bin/gazetteer-program"));
    put("root/bin/gazetteer", interrupted("gazetteer-program"));
    // Switches are configured by somebody else's program, which is not tested here.
    put("usr/local/bin/ovs-vsctl", "#!/bin/sh\n");
    const serve = "gazetteer-program serve --demo --data :memory:";
    await machine.sh(`systemd-run --setenv=GAZETTEER_CREDENTIALS=${credentials} ${serve}`);
    await machine.sh("until curl --silent --fail http://127.0.0.1:8181/healthz; do sleep 0.1; done");
  }
  // Services that the page starts listen on other ports than the one that runs already.
  const environment = checkout === undefined ? "" : "export GAZETTEER_PORT=0 GAZETTEER_DATA=:memory:\n";
  const script = commandsOf(page).join("\n").replaceAll("<USERNAME>:<PASSWORD>", credentials);
  put("root/commands", `set -ex -o pipefail\n${environment}${script}`);
  const { status, output } = await machine.sh("bash commands");
  return status === 0 ? undefined : output;
}
