/**
 * A consumer of a watch that keeps a local cache and the history of all changes, for a comparison with the service. It
 * records violations of what a watch guarantees: revisions in order, complete, each once.
 */
import type { Client } from "../../src/client/client.ts";
import { ClientError } from "../../src/client/client-error.ts";
import { LocalCache } from "../../src/client/local-cache.ts";
import { parseEntityRecord } from "../../src/client/stream-records.ts";
import { type CollectionName, idOf, type WatchEvent, type WatchTarget } from "../../src/client/types.ts";
import { KINDS, type Kind } from "../../src/model/ids.ts";

export class StreamChecker {
  readonly target: WatchTarget;
  readonly cache = new LocalCache();
  /** Every change after `firstRevision`, formatted like the changes that the service lists. */
  readonly history: string[] = [];
  readonly violations: string[] = [];
  firstRevision: number | undefined;

  constructor(target: WatchTarget) {
    this.target = target;
  }

  get kinds(): readonly Kind[] {
    return this.target === "topology" ? KINDS : [this.target];
  }

  /** Ends when the signal aborts. */
  async watch(client: Client, signal: AbortSignal): Promise<void> {
    const since = this.cache.revision;
    for await (const event of client.watch(this.target, {}, { signal, since })) this.#receive(event);
  }

  /** First the list, then the stream from its revision. */
  async listThenWatch(collection: CollectionName, client: Client, signal: AbortSignal): Promise<void> {
    const { items, revision } = await retryTransient(() => client.list(collection, {}, { signal }), signal);
    for (const value of items) {
      const data = JSON.stringify({ resource: collection, revision, value });
      const snapshot = parseEntityRecord({ event: "snapshot", data, lastEventId: "", hasId: false }, KINDS);
      if (snapshot) this.#receive(snapshot);
    }
    this.#receive({ type: "synced", revision });
    await this.watch(client, signal);
  }

  #receive(event: WatchEvent): void {
    const known = this.cache.revision;
    if (event.type === "reset" && known !== undefined) this.violations.push(`reset after revision ${known}`);
    if (event.type === "synced") this.firstRevision ??= event.revision;
    if (event.type === "added" || event.type === "updated" || event.type === "removed") {
      if (known === undefined || event.revision <= known) {
        this.violations.push(`revision ${event.revision} after ${known}`);
      }
      this.history.push(changeText(event.type, event));
    }
    this.cache.apply(event);
  }

  /** The body of a list of the kind with the entities of the cache. */
  listBody(kind: Kind): string {
    const values = [...this.cache.all(kind).values()];
    values.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    return JSON.stringify({ [kind]: values });
  }
}

interface ChangeFields {
  readonly resource: Kind;
  readonly revision: number;
  readonly time: number;
  readonly value: object;
  readonly changed?: readonly string[];
}

export function changeText(
  event: string,
  { resource, revision, time, value, changed }: ChangeFields,
): string {
  return JSON.stringify({ event, resource, revision, time, value, changed });
}

async function retryTransient<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (signal.aborted || !(error instanceof ClientError && error.transient)) throw error;
    }
    await Bun.sleep(20); // the service may be starting
  }
}
