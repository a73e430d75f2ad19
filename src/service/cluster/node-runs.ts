/**
 * Names each run of a node. The name of the last one is kept in the data folder: what that run has left in NATS is of this node,
 * and it has ended, because the log in the folder is locked by one process at a time.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../lib/error-message.ts";
import type { Logger } from "../../lib/logger.ts";
import { replaceFile } from "../../lib/replace-file.ts";
import { runFile } from "../data-folder.ts";

export const newRun = (nodeName: string): string => `${nodeName}.${randomBytes(4).toString("hex")}`;

/** Keeps `run` as the last one, and returns the one before. To be called when this process has locked the log in the folder. */
export async function replaceRun(
  dataDir: string,
  cluster: string,
  run: string,
  logger: Logger,
): Promise<string | undefined> {
  const path = join(dataDir, runFile(cluster));
  const previous = await readFile(path, "utf8").catch(() => undefined);
  try {
    await replaceFile(path, run);
  } catch (error) {
    // The next start waits for the leases of this run.
    logger.warn("the name of this run was not stored", { path, why: errorMessage(error) });
  }
  return previous;
}
