/**
 * A consumer as anybody would write one: keeps a mirror of what a watch tells, and a diary of it for the judge. Notes
 * when the watch breaks its promises (order, whole revisions, each once).
 */

import type { Client } from "../../src/client/client.ts";
import { ClientError } from "../../src/client/client-error.ts";
import { LocalCache } from "../../src/client/local-cache.ts";
import { snapshotIn } from "../../src/client/stream-records.ts";
import { idOf, type Resource, type WatchEvent, type Watched } from "../../src/client/types.ts";
import { KINDS, type Kind } from "../../src/model/ids.ts";

export class Follower {
  readonly watched: Watched;
  readonly mirror = new LocalCache();
  /** Every change since `from`, as the service's own list of changes would put it. */
  readonly diary: string[] = [];
  readonly fouls: string[] = [];
  from: number | undefined;

  constructor(watched: Watched) {
    this.watched = watched;
  }

  get kinds(): readonly Kind[] {
    return this.watched === "topology" ? KINDS : [this.watched];
  }

  /** Ends when the signal aborts. */
  async follow(client: Client, signal: AbortSignal): Promise<void> {
    const since = this.mirror.revision;
    for await (const event of client.watch(this.watched, {}, { signal, since })) this.#take(event);
  }

  /** First the list, then the stream from its revision. */
  async listThenFollow(resource: Resource, client: Client, signal: AbortSignal): Promise<void> {
    const { items, revision } = await persistently(() => client.list(resource, {}, { signal }), signal);
    for (const value of items) {
      const data = JSON.stringify({ resource, revision, value });
      const snapshot = snapshotIn({ event: "snapshot", data, lastEventId: "" }, KINDS);
      if (snapshot) this.#take(snapshot);
    }
    this.#take({ type: "synced", revision });
    await this.follow(client, signal);
  }

  #take(event: WatchEvent): void {
    const known = this.mirror.revision;
    if (event.type === "reset" && known !== undefined) this.fouls.push(`reset after revision ${known}`);
    if (event.type === "synced") this.from ??= event.revision;
    if (event.type === "added" || event.type === "updated" || event.type === "removed") {
      if (known === undefined || event.revision <= known) {
        this.fouls.push(`revision ${event.revision} after ${known}`);
      }
      this.diary.push(changeText(event.type, event));
    }
    this.mirror.apply(event);
  }

  /** The body that a list of the kind has when it shows what the mirror shows. */
  body(kind: Kind): string {
    const values = [...this.mirror.all(kind).values()];
    values.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    return JSON.stringify({ [kind]: values });
  }
}

interface Told {
  readonly resource: Kind;
  readonly revision: number;
  readonly time: number;
  readonly value: object;
  readonly changed?: readonly string[];
}

export function changeText(event: string, { resource, revision, time, value, changed }: Told): string {
  return JSON.stringify({ event, resource, revision, time, value, changed });
}

async function persistently<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || !(error instanceof ClientError && error.transient)) throw error;
    }
    await Bun.sleep(20); // the service may be on its way up
  }
}
