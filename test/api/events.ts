/** A client of event streams for tests: reads events one by one, and keeps the raw text and the last event id. */
import { EventStreamParser } from "../../src/client/event-stream.ts";
import type { Harness } from "./harness.ts";
import type { JsonEntity } from "./reference-query.ts";

export interface StreamEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An id is the id of the log, a dot, and the revision. */
export const revisionOf = (id: string): number => Number(id.slice(id.lastIndexOf(".") + 1));

export class EventReader {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #parser = new EventStreamParser();
  readonly #decoder = new TextDecoder();
  #buffered: StreamEvent[] = [];
  #text = "";

  constructor(response: Response) {
    if (!response.body) throw new Error("a stream without a body");
    this.response = response;
    this.#reader = response.body.getReader();
  }

  /** Everything received so far. */
  get text(): string {
    return this.#text;
  }

  get lastEventId(): string {
    return this.#parser.lastEventId;
  }

  get retryMs(): number | undefined {
    return this.#parser.retryMs;
  }

  /** The next event; undefined when the stream has ended. */
  async next(): Promise<StreamEvent | undefined> {
    while (this.#buffered.length === 0) if (!(await this.#read())) return undefined;
    return this.#buffered.shift();
  }

  /** Events up to and including the first for which `isLast` is true; the stream must not end before. */
  async readUntil(isLast: (event: StreamEvent) => boolean): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for (let event = await this.next(); event; event = await this.next()) {
      events.push(event);
      if (isLast(event)) return events;
    }
    throw new Error(`the stream ended after:\n${this.#text}`);
  }

  /** All events until the last event id reaches this revision. */
  async readToRevision(revision: number): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for (;;) {
      events.push(...this.#buffered);
      this.#buffered = [];
      if (revisionOf(this.lastEventId) >= revision) return events;
      if (!(await this.#read()))
        throw new Error(`the stream ended at ${this.lastEventId}, not at ${revision}`);
    }
  }

  async readRest(): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for (let event = await this.next(); event; event = await this.next()) events.push(event);
    return events;
  }

  close(): Promise<void> {
    return this.#reader.cancel();
  }

  async #read(): Promise<boolean> {
    const { value, done } = await this.#reader.read();
    if (done) return false;
    this.#text += this.#decoder.decode(value, { stream: true });
    for (const { event, data, lastEventId } of this.#parser.push(value))
      this.#buffered.push({ event, id: lastEventId, data: JSON.parse(data) });
    return true;
  }
}

export async function openEventReader(
  h: Harness,
  path: string,
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const response = await h.fetch(path, { headers: { accept: "text/event-stream", ...headers } });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return new EventReader(response);
}

/**
 * The entities that a client of a stream holds. Throws when an event breaks the contract of streams: nothing is added
 * twice, and an update or removal is of what the client holds.
 */
export class LocalCopy {
  readonly #entities = new Map<string, JsonEntity>();

  apply({ event, data }: StreamEvent): void {
    if (event === "synced") return;
    const { resource, value, changed } = data;
    const entity: JsonEntity = Object(value);
    const key = `${resource} ${entity.id ?? `${entity.element}/${entity.port}`}`;
    const known = this.#entities.get(key);
    if (event === "snapshot") {
      this.#entities.set(key, entity);
      return;
    }
    if ((event === "added") === (known !== undefined)) throw new Error(`${event} ${key}`);
    const changedNames = Array.isArray(changed) ? changed.toSorted() : [];
    if (event === "updated" && known && !Bun.deepEquals(changedNames, differingFields(known, entity)))
      throw new Error(`${key} changed ${changed}, not ${differingFields(known, entity)}`);
    if (event === "removed" && !Bun.deepEquals(known, entity))
      throw new Error(`the removed ${key} differs from the one held`);
    if (event === "removed") this.#entities.delete(key);
    else this.#entities.set(key, entity);
  }

  clear(): void {
    this.#entities.clear();
  }

  list(resource: string): JsonEntity[] {
    const entities = [...this.#entities].filter(([key]) => key.startsWith(`${resource} `));
    return entities.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entity]) => entity);
  }
}

function differingFields(before: JsonEntity, after: JsonEntity): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter(
      (name) => name !== "revision" && name !== "lastChanged" && !Bun.deepEquals(before[name], after[name]),
    )
    .sort();
}
