/**
 * The checks of a start beyond those of the configuration. They start nothing and create no file: whether the users and the
 * certificate can be read, and whether the port and the data folder are in use. A port or folder in use is a note and not a
 * fault, because the other process is often the service itself.
 */

import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { openUsers } from "../api/auth/users.ts";
import { UsersError } from "../api/auth/users-file.ts";
import type { Config } from "../config/schema.ts";
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
