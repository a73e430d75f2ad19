/**
 * A consumer that lists and streams with the client library, for the whole run: of one node, or of any node that accepts, as
 * behind a load balancer. What it was sent is compared with what others were, and that no connection goes back.
 */
import { createClient, LocalCache, type WatchChange } from "../../../src/client/client.ts";
import type { Observed } from "./observed.ts";

export interface ConsumerOptions {
  readonly name: string;
  /** Where the next connection goes to. */
  readonly url: () => string;
  readonly credentials: string;
  readonly observed: Observed;
}

export class Consumer {
  readonly cache = new LocalCache();
  readonly name: string;
  events = 0;
  connections = 0;
  resets = 0;
  readonly #options: ConsumerOptions;
  readonly #stopped = new AbortController();
  #connection = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(options: ConsumerOptions) {
    this.name = options.name;
    this.#options = options;
  }

  start(): void {
    this.#done = this.#run();
  }

  async #run(): Promise<void> {
    const { observed, credentials } = this.#options;
    const { signal } = this.#stopped;
    const url = this.#options.url();
    const client = createClient({
      url,
      credentials,
      fetch: (target, init) => this.#fetch(url, target, init),
    });
    let changes: WatchChange[] = [];
    while (!signal.aborted) {
      try {
        for await (const event of client.watch("topology", {}, { signal })) {
          this.events++;
          this.cache.apply(event);
          if (event.type === "reset") this.resets++;
          if (event.type === "reset" || event.type === "snapshot" || event.type === "synced") continue;
          changes.push(event);
          if (!event.last) continue;
          observed.onRevision(event.revision, changes, this.name);
          changes = [];
        }
      } catch (error) {
        observed.fault(`${this.name}: the watch failed: ${error}`);
        await Bun.sleep(1000);
      }
    }
  }

  /** As the library connects, with a look at the ids of the events. */
  async #fetch(base: string, target: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
    this.#connection = new AbortController();
    const signals = [this.#connection.signal, ...(init?.signal ? [init.signal] : [])];
    const next = String(target).replace(base, this.#options.url());
    const response = await fetch(next, { ...init, signal: AbortSignal.any(signals) });
    if (!response.ok || !response.body) return response;
    this.connections++;
    const { name } = this;
    const { observed } = this.#options;
    const decoder = new TextDecoder();
    let [rest, highest] = ["", 0];
    const looked = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
          rest = lines.pop() ?? "";
          for (const [, id] of lines.map((line) => /^id: ?.*\.(\d+)$/.exec(line) ?? [])) {
            if (id === undefined) continue;
            if (Number(id) < highest)
              observed.loss(`${name}: revision ${id} after ${highest} on a connection`);
            highest = Number(id);
          }
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(looked, response);
  }

  /** Ends the connection, so that the library connects again. */
  reconnect(): void {
    this.#connection.abort();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
  }
}
