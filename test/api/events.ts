/** A reader of event streams for tests: records one by one, the text as it came, and where to resume. */
import { EventStreamParser } from "../../src/client/event-stream.ts";
import type { Harness } from "./harness.ts";
import type { Thing } from "./reference-query.ts";

export interface Told {
  readonly event: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export class Events {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #parser = new EventStreamParser();
  readonly #decoder = new TextDecoder();
  #waiting: Told[] = [];
  #text = "";

  constructor(response: Response) {
    if (!response.body) throw new Error("a stream without a body");
    this.response = response;
    this.#reader = response.body.getReader();
  }

  /** All that came so far. */
  get text(): string {
    return this.#text;
  }

  get lastEventId(): string {
    return this.#parser.lastEventId;
  }

  get retryMs(): number | undefined {
    return this.#parser.retryMs;
  }

  /** The next record; undefined when the stream has ended. */
  async next(): Promise<Told | undefined> {
    while (this.#waiting.length === 0) if (!(await this.#read())) return undefined;
    return this.#waiting.shift();
  }

  /** Records up to and including the first that is such; the stream must not end before. */
  async until(isIt: (told: Told) => boolean): Promise<Told[]> {
    const all: Told[] = [];
    for (let told = await this.next(); told; told = await this.next()) {
      all.push(told);
      if (isIt(told)) return all;
    }
    throw new Error(`the stream ended after:\n${this.#text}`);
  }

  /** Whatever comes until the reader is told that it has reached this revision. */
  async reach(revision: number): Promise<Told[]> {
    const all: Told[] = [];
    for (;;) {
      all.push(...this.#waiting);
      this.#waiting = [];
      if (Number(this.lastEventId) >= revision) return all;
      if (!(await this.#read()))
        throw new Error(`the stream ended at ${this.lastEventId}, not at ${revision}`);
    }
  }

  async rest(): Promise<Told[]> {
    const all: Told[] = [];
    for (let told = await this.next(); told; told = await this.next()) all.push(told);
    return all;
  }

  close(): Promise<void> {
    return this.#reader.cancel();
  }

  async #read(): Promise<boolean> {
    const { value, done } = await this.#reader.read();
    if (done) return false;
    this.#text += this.#decoder.decode(value, { stream: true });
    for (const { event, data, lastEventId } of this.#parser.push(value))
      this.#waiting.push({ event, id: lastEventId, data: JSON.parse(data) });
    return true;
  }
}

export async function openEvents(
  h: Harness,
  path: string,
  headers: Record<string, string> = {},
): Promise<Events> {
  const response = await h.fetch(path, { headers: { accept: "text/event-stream", ...headers } });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return new Events(response);
}

/** What a reader of a stream knows, and the rules a stream keeps: nothing is added twice or changed unseen. */
export class Mirror {
  readonly #things = new Map<string, Thing>();

  take({ event, data }: Told): void {
    if (event === "synced") return;
    const { resource, value, changed } = data;
    const thing: Thing = Object(value);
    const key = `${resource} ${thing.id ?? `${thing.element}/${thing.port}`}`;
    const known = this.#things.get(key);
    if (event === "snapshot") {
      this.#things.set(key, thing);
      return;
    }
    if ((event === "added") === (known !== undefined)) throw new Error(`${event} ${key}`);
    const told = Array.isArray(changed) ? changed.toSorted() : [];
    if (event === "updated" && known && !Bun.deepEquals(told, differing(known, thing)))
      throw new Error(`${key} changed ${changed}, not ${differing(known, thing)}`);
    if (event === "removed" && !Bun.deepEquals(known, thing)) throw new Error(`the last ${key} was another`);
    if (event === "removed") this.#things.delete(key);
    else this.#things.set(key, thing);
  }

  forget(): void {
    this.#things.clear();
  }

  of(resource: string): Thing[] {
    const mine = [...this.#things].filter(([key]) => key.startsWith(`${resource} `));
    return mine.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, thing]) => thing);
  }
}

function differing(before: Thing, after: Thing): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter(
      (name) => name !== "revision" && name !== "lastChanged" && !Bun.deepEquals(before[name], after[name]),
    )
    .sort();
}
