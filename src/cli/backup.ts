/**
 * `gazetteer backup` and `gazetteer restore`: a copy of the data folder while the service runs, and the way back. The copy is
 * made in the process of the command; the service is not involved, and is not held up.
 */
import type { Backup } from "../service/backup.ts";
import { bytesText } from "./cluster-text.ts";
import { type Arguments, type Command, CommandFailure, EXIT_STATUS, usageFailure } from "./command.ts";
import { CONFIG_FLAGS } from "./config-flags.ts";
import { escapeControlCharacters } from "./table.ts";

/** A part of the flags: those of the network and the listener mean nothing here. */
const FLAGS = CONFIG_FLAGS.filter(({ name }) => ["config", "data", "users", "set"].includes(name));

export const backupCommand: Command = {
  name: "backup",
  operands: "DIR [FLAGS]",
  summary: "Copy the data folder while the service runs.",
  flags: FLAGS,
  notes: `
DIR is a new or an empty folder. It gets the logs with their history, the users file and the state of sources, readable by
you alone. The configuration and the files that it names (certificates, secrets, network files) are not in it.

  gazetteer backup /var/backups/gazetteer-2026-11-17 --config /etc/gazetteer/gazetteer.yaml
  gazetteer backup /tmp/copy --data ./data`,
  async run(args, context) {
    const folder = onlyOperand(args);
    const { readConfig } = await import("./serve-config.ts");
    const { backUp } = await import("../service/backup.ts");
    const backup = await orFailure(() => backUp(readConfig(args, context), folder));
    await context.out(`${folder}: ${describe(backup)}\n`);
    await context.err(
      "gazetteer backup: the configuration, certificates and secrets are not in it; keep them as well\n",
    );
    return EXIT_STATUS.ok;
  },
};

export const restoreCommand: Command = {
  name: "restore",
  operands: "DIR [FLAGS]",
  summary: "Restore a backup into an empty data folder.",
  flags: FLAGS,
  notes: `
DIR is a folder that gazetteer backup wrote; its files are compared with their checksums first. The data folder, that of
--config or --data, must be new or empty, and the service must not run. Run it as the user of the service.

A configured users file that exists already stays. The log of a single node gets a new id (Gazetteer-Log), because revisions
after the backup are lost: clients list again by themselves.

  gazetteer restore /var/backups/gazetteer-2026-11-17 --config /etc/gazetteer/gazetteer.yaml`,
  async run(args, context) {
    const folder = onlyOperand(args);
    const { readConfig } = await import("./serve-config.ts");
    const { restore } = await import("../service/backup.ts");
    const { backup, dataDir, keptUsers } = await orFailure(() => restore(folder, readConfig(args, context)));
    await context.out(`${dataDir}: ${describe(backup)}, of ${backup.time}\n`);
    if (keptUsers !== undefined)
      await context.err(
        `gazetteer restore: ${keptUsers} exists and was not changed; users of the backup are in ${folder}\n`,
      );
    return EXIT_STATUS.ok;
  },
};

function onlyOperand({ positionals: [folder, ...extra] }: Arguments): string {
  if (folder === undefined || extra.length > 0) throw usageFailure("wants one DIR");
  return folder;
}

function describe({ revisions, files }: Backup): string {
  const logs = Object.entries(revisions).map(([name, revision]) => `${name} up to revision ${revision}`);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return `${logs.join(", ")}; ${files.length} files, ${bytesText(bytes)}`;
}

async function orFailure<T>(work: () => Promise<T>): Promise<T> {
  const { BackupError } = await import("../service/backup.ts");
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    throw new CommandFailure(escapeControlCharacters(error.message), EXIT_STATUS.failed, { cause: error });
  }
}
