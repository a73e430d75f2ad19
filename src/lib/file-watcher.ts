/**
 * Watches one file and reports a change once the file has settled.
 *
 * The folder is watched, so that a change is seen at once. The file's signature is also read every second, because folder
 * watches miss changes on network file systems, behind symbolic links and in folders that appear later. A change is
 * reported only when the file has not changed for a moment, because half of a file is often a valid one.
 */
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Clock } from "./clock.ts";
import { errorMessage } from "./error-message.ts";
import { createPoll } from "./poll.ts";

const POLL_INTERVAL_MS = 1000;
const SETTLE_MS = 100;
/** After this many waits, a file that never settles is reported all the same. */
const MAX_SETTLE_WAITS = 20;
/** Kubernetes swaps this link when a mounted volume changes. */
const KUBERNETES_DATA_LINK = "..data";

export class FileWatcher {
  readonly #path: string;
  readonly #clock: Clock;
  #signature: string | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Records the current content as known to the caller, so that it is not reported. */
  async acknowledge(): Promise<void> {
    this.#signature = await signatureOf(this.#path);
  }

  /**
   * Calls `onChange` whenever the file was written, replaced, created or removed, and at once when the file was never
   * acknowledged. Returns when the signal aborts. An error that `onChange` throws ends it.
   */
  async run(onChange: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const poll = createPoll({ intervalMs: POLL_INTERVAL_MS, clock: this.#clock, signal });
    const folderWatch = watchFolder(this.#path, poll.nudge);
    try {
      await poll.run(async () => {
        if ((await this.#settledChange(signal)) && !signal.aborted) await onChange();
      });
    } finally {
      folderWatch?.close();
    }
  }

  async #settledChange(signal: AbortSignal): Promise<boolean> {
    let seen = await signatureOf(this.#path);
    if (seen === this.#signature) return false;
    // The first content is reported without delay: there is no sign that the file is being written.
    for (let waits = 0; this.#signature !== undefined && waits < MAX_SETTLE_WAITS; waits++) {
      await this.#clock.sleep(SETTLE_MS, signal);
      if (signal.aborted) return false;
      const before = seen;
      seen = await signatureOf(this.#path);
      if (seen === before) break;
    }
    // The caller may have acknowledged this content while it settled.
    if (seen === this.#signature) return false;
    this.#signature = seen;
    return true;
  }
}

/** A text that differs when the file was changed or replaced. A file that cannot be read has a signature too. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Watches the folder, because a watch on a file does not follow its replacement. Undefined where that is not possible. */
function watchFolder(path: string, changed: () => void): FSWatcher | undefined {
  const file = basename(path);
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      if (name === null || name === file || name === KUBERNETES_DATA_LINK) changed();
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
