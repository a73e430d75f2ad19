/**
 * The checks of a start. They start nothing and create no file: the configuration with the files that it names, whether the
 * users and the certificate can be read, and whether the port and the data folder are in use. A port or folder in use is a note
 * and not a fault, because the other process is often the service itself.
 */

import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { openUsers } from "../api/auth/users.ts";
import { UsersError } from "../api/auth/users-file.ts";
import type { ConfigResult } from "../config/config.ts";
import { checkClusterFiles, checkMapFiles } from "../config/cross-checks.ts";
import { renderFault } from "../config/faults.ts";
import type { Config } from "../config/schema.ts";
import { findSetting } from "../config/settings.ts";
import { checkSourceContents } from "../config/sources.ts";
import { CertificateError } from "../lib/certificate-files.ts";
import { systemClock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import { silentLogger } from "../lib/logger.ts";
import { isLogInUse } from "../log/log-file.ts";
import { dataDirOf, LOG_FILE } from "./data-folder.ts";
import { openTlsFiles } from "./tls-files.ts";

/** Lines for the operator. With a fault, the service does not start, or a source cannot work. */
export interface Preflight {
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}

/** Checks a configuration, the files that it names, and `credentials`, the value of GAZETTEER_CREDENTIALS. */
export async function checkConfiguration(
  loaded: ConfigResult,
  credentials: string | undefined,
): Promise<Preflight> {
  const settingOf = (name: string) => findSetting(loaded.settings, name)?.value;
  const [users, data] = [settingOf("users"), settingOf("data")];
  const contents = await checkSourceContents(loaded.settings, { clock: systemClock, log: silentLogger });
  const files = [contents, await checkClusterFiles(loaded.settings), await checkMapFiles(loaded.settings)];
  const usersConfig = { data: String(data), ...(typeof users === "string" && { users }) };
  return {
    faults: [
      ...(loaded.ok ? [] : loaded.faults.map(renderFault)),
      ...files.flatMap(({ faults }) => faults.map(renderFault)),
      ...(await findUsersFaults(usersConfig, credentials)),
      ...(loaded.ok ? await findTlsFaults(loaded.config.tls) : []),
    ],
    warnings: [...loaded.warnings, ...files.flatMap(({ warnings }) => warnings)],
    notes: contents.notes,
  };
}

/** Finds the faults of the users file and of GAZETTEER_CREDENTIALS, one line each. */
async function findUsersFaults(
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
async function findTlsFaults(tls: Config["tls"]): Promise<readonly string[]> {
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
  const { host, port } = config;
  const obstacle = portObstacle(config);
  const dataDir = dataDirOf(config);
  const folderObstacle = dataDir === undefined ? undefined : dataObstacle(dataDir);
  return [
    ...(obstacle === undefined ? [] : [`${host}:${port} ${obstacle}`]),
    ...(folderObstacle === undefined ? [] : [`the data folder ${dataDir} ${folderObstacle}`]),
  ];
}

export const IN_USE = "is in use";

/** Why the service could not listen now; undefined if it could. */
export function portObstacle({ host, port }: Pick<Config, "host" | "port">): string | undefined {
  if (port === 0) return undefined;
  try {
    Bun.listen({ hostname: host, port, exclusive: true, socket: { data() {} } }).stop(true);
    return undefined;
  } catch (error) {
    const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    return inUse ? IN_USE : `cannot be listened on: ${errorMessage(error)}`;
  }
}

/** Why the service could not use the data folder now; undefined if it could. */
export function dataObstacle(dataDir: string): string | undefined {
  try {
    accessSync(nearestExisting(resolve(dataDir)), constants.W_OK | constants.X_OK);
  } catch (error) {
    return `cannot be written by this user: ${errorMessage(error)}`;
  }
  return isLogInUse(join(dataDir, LOG_FILE)) ? IN_USE : undefined;
}

function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path));
}
