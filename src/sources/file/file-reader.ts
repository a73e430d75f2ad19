/**
 * Reads network files in a worker thread. The claims arrive as bytes and are parsed while they are iterated, a batch at a
 * time, so that a file of a million hosts neither holds the event loop nor is in memory as objects.
 *
 * To start the worker takes a few hundred milliseconds, so it stays for the next read. After a large file it is ended,
 * which returns its memory.
 */
import { errorMessage } from "../../lib/error-message.ts";
import type { Claims, ClaimTypes } from "../../model/claim.ts";
import type { Kind } from "../../model/ids.ts";
import type { NetworkFile } from "./read-network.ts";
import type { ReaderMessage } from "./reader-protocol.ts";

/** Of claims that one read has produced. */
const MAX_BYTES_TO_STAY = 4 * 1024 * 1024;

export class FileReader implements Disposable {
  #worker: Worker | undefined;

  /** One read at a time. Resolves to undefined when the signal aborts. */
  async read(path: string, signal: AbortSignal): Promise<NetworkFile | undefined> {
    if (signal.aborted) return undefined;
    const { promise, resolve } = Promise.withResolvers<NetworkFile | undefined>();
    const stop = () => resolve(undefined);
    signal.addEventListener("abort", stop, { once: true });
    const batches: Record<Kind, Uint8Array[]> = { devices: [], ports: [], links: [], hosts: [] };
    let bytes = 0;
    this.#worker ??= new Worker(new URL("./reader-worker.ts", import.meta.url));
    this.#worker.onmessage = ({ data }: MessageEvent<ReaderMessage>) => {
      if ("kind" in data) {
        batches[data.kind].push(data.json);
        bytes += data.json.length;
      } else resolve(data.ok ? { ok: true, claims: claimsIn(batches), count: data.count } : data);
    };
    this.#worker.onerror = (error) => {
      this[Symbol.dispose]();
      resolve({ ok: false, message: `cannot be read: ${errorMessage(error)}` });
    };
    this.#worker.postMessage(path);
    const content = await promise;
    signal.removeEventListener("abort", stop);
    // A fault may have been found by the parser with positions, which needs much memory.
    if (!content?.ok || bytes > MAX_BYTES_TO_STAY) this[Symbol.dispose]();
    return content;
  }

  [Symbol.dispose](): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}

const claimsIn = (batches: Readonly<Record<Kind, readonly Uint8Array[]>>): Claims => ({
  devices: parseBatches<"devices">(batches.devices),
  ports: parseBatches<"ports">(batches.ports),
  links: parseBatches<"links">(batches.links),
  hosts: parseBatches<"hosts">(batches.hosts),
});

/** Not validated here: the worker has validated them. */
function parseBatches<K extends Kind>(batches: readonly Uint8Array[]): Iterable<ClaimTypes[K]> {
  const decoder = new TextDecoder();
  return {
    *[Symbol.iterator]() {
      for (const json of batches) {
        const claims: readonly ClaimTypes[K][] = JSON.parse(decoder.decode(json));
        yield* claims;
      }
    },
  };
}
