/**
 * The `file` source: claims the network in a JSON or YAML file, and reads the file again when it changes.
 *
 * If the file is missing or faulty, the last valid content stays claimed, the fault is reported, and the file is read again at
 * its next change.
 */
import Type from "typebox";
import { FileWatcher } from "../../lib/file-watcher.ts";
import { pathText } from "../../lib/schema-values.ts";
import type { Source, SourceContext } from "../source.ts";
import { readNetwork } from "./network-file.ts";

export const FileOptions = Type.Object(
  {
    path: pathText({
      title: "the path of a file",
      description: "The JSON or YAML file to read and follow.",
    }),
  },
  { additionalProperties: false },
);
export type FileOptions = Type.Static<typeof FileOptions>;

export function createFileSource(
  { name, path }: FileOptions & { name: string },
  { clock }: SourceContext,
): Source {
  let reads = 0;
  let refused = 0;
  return {
    name,
    metrics: () => ({ reads_total: reads, refused_total: refused }),
    async check() {
      const content = await readNetwork(path);
      return content.ok ? { faults: [], claims: content.claims } : { faults: content.faults };
    },
    async run(sink, signal) {
      await new FileWatcher(path, clock).run(async () => {
        reads++;
        const content = await readNetwork(path);
        if (signal.aborted) return;
        if (content.ok) {
          await sink.replace(content.claims);
        } else {
          refused++;
          sink.markStale(content.message);
        }
      }, signal);
    },
  };
}
