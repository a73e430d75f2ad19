/**
 * The checks of a start beyond those of the configuration. They start nothing and create no file: whether the users and the
 * certificate can be read, whether the log is in another folder, and whether the port and the data folder are in use. A port
 * or folder in use is a note and not a fault, because the other process is often the service itself.
 */

import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { openUsers } from "../api/auth/users.ts";
import { UsersError } from "../api/auth/users-file.ts";
import type { ConfigFault } from "../config/faults.ts";
import type { Config } from "../config/schema.ts";
import type { Setting } from "../config/settings.ts";
import { CertificateError } from "../lib/certificate-files.ts";
import { systemClock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import { silentLogger } from "../lib/logger.ts";
import { isLogInUse } from "../log/log-file.ts";
import { dataDirOf, LOG_FILE } from "./data-folder.ts";
import { openTlsFiles } from "./tls-files.ts";

/** Finds the faults of the users file and of GAZETTEER_CREDENTIALS, one line each. */
export async function findUsersFaults(
  config: Pick<Config, "users" | "data">,
  credentials: string | undefined,
): Promise<readonly string[]> {
  try {
    await openUsers({
      environment: credentials,
      file: config.users,
      dataDir: dataDirOf(config),
      clock: systemClock,
      logger: silentLogger,
    });
    return [];
  } catch (error) {
    if (error instanceof UsersError) return error.faults;
    throw error;
  }
}

/** Finds the fault of the certificate and its key, if there is one. */
export async function findTlsFaults(tls: Config["tls"]): Promise<readonly string[]> {
  try {
    await openTlsFiles({ tls }, systemClock, silentLogger);
    return [];
  } catch (error) {
    if (error instanceof CertificateError) return [error.message];
    throw error;
  }
}

/**
 * Finds the fault of a relative `data` in a configuration file if the log is still relative to the working folder, where earlier
 * versions looked for it. An empty log begun in the new folder would hide the old one.
 */
export function findMovedData(settings: readonly Setting[]): ConfigFault | undefined {
  const setting = settings.find(({ key }) => key.name === "data");
  if (setting?.origin.kind !== "file") return undefined;
  const [formerly, now] = [resolve(String(setting.written)), resolve(String(setting.value))];
  if (formerly === now || !hasLog(formerly)) return undefined;
  const message =
    `the log is in ${formerly}, but a relative path in a configuration file is relative to that file: ${now}. ` +
    `Move the folder there, or write data: ${formerly}`;
  return { origin: setting.origin, path: [], message };
}

/** Whether the folder has the log of a single node, or a copy of a cluster's log. */
function hasLog(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => name.endsWith(".sqlite"));
  } catch {
    return false;
  }
}

/** Finds the conditions that would keep the service from starting right now, one line each. */
export function findNotes(config: Pick<Config, "host" | "port" | "data">): string[] {
  return [portNote(config), dataNote(dataDirOf(config))].filter((note) => note !== undefined);
}

function portNote({ host, port }: Pick<Config, "host" | "port">): string | undefined {
  if (port === 0) return undefined;
  try {
    Bun.listen({ hostname: host, port, exclusive: true, socket: { data() {} } }).stop(true);
    return undefined;
  } catch (error) {
    const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    return `${host}:${port} ${inUse ? "is in use" : `cannot be listened on: ${errorMessage(error)}`}`;
  }
}

function dataNote(dataDir: string | undefined): string | undefined {
  if (dataDir === undefined) return undefined;
  try {
    accessSync(nearestExisting(resolve(dataDir)), constants.W_OK | constants.X_OK);
  } catch (error) {
    return `the data folder ${dataDir} cannot be written by this user: ${errorMessage(error)}`;
  }
  const log = join(dataDir, LOG_FILE);
  return isLogInUse(log) ? `the data folder ${dataDir} is in use` : undefined;
}

function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path));
}
