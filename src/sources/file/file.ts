/**
 * The `file` source: a network written down in a JSON or YAML file, followed as the file changes.
 *
 * The folder is watched, so that a change is seen at once, and the file is looked at every second as well: watching
 * misses what happens on network file systems, behind symbolic links and in folders that come later. A change is
 * read once the file has kept still for a moment, since half a YAML file is often a valid one. A file that is gone
 * or broken changes nothing: the last good content stands, the fault is reported, and the next change is tried.
 */
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import Type from "typebox";
import { createPoll } from "../../lib/poll.ts";
import type { Source, SourceContext } from "../source.ts";
import { describeReadError, readNetwork } from "./read-network.ts";

export const FileOptions = Type.Object(
  { path: Type.String({ minLength: 1, description: "The JSON or YAML file to serve and follow." }) },
  { additionalProperties: false },
);
export type FileOptions = Type.Static<typeof FileOptions>;

const LOOK_EVERY_MS = 1000;
const STILL_FOR_MS = 100;
/** A file that never keeps still is read all the same. */
const MAX_WAITS = 20;

export function createFileSource(
  { name, path }: FileOptions & { name: string },
  { clock, log }: SourceContext,
): Source {
  let reads = 0;
  let refused = 0;
  return {
    name,
    metrics: () => ({ reads_total: reads, refused_total: refused }),
    async run(sink, signal) {
      const poll = createPoll({ intervalMs: LOOK_EVERY_MS, clock, signal });
      const watcher = watchFolder(path, poll.nudge);
      let last: string | undefined;
      try {
        await poll.run(async () => {
          let print = await fingerprint(path);
          if (print === last) return;
          for (let wait = 0; last !== undefined && wait < MAX_WAITS; wait++) {
            await clock.sleep(STILL_FOR_MS, signal);
            if (signal.aborted) return;
            const before = print;
            print = await fingerprint(path);
            if (print === before) break;
          }
          last = print;
          reads++;
          const content = await readNetwork(path);
          if (content.ok) {
            log.debug("file read", { source: name, records: content.count });
            await sink.replace(content.claims);
          } else {
            refused++;
            sink.markStale(content.message);
          }
        });
      } finally {
        watcher?.close();
      }
    },
  };
}

/** What tells one state of a file from another without reading it; a file that is not there has one too. */
async function fingerprint(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    return describeReadError(error);
  }
}

/** Undefined where nothing can be watched: looking every second then has to do. */
function watchFolder(path: string, changed: () => void): FSWatcher | undefined {
  const file = basename(path);
  try {
    const watcher = watch(dirname(path), (_event, name) => {
      // `..data` is the link that Kubernetes swaps when a mounted volume changes.
      if (name === null || name === file || name === "..data") changed();
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
