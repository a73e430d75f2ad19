/**
 * Stream followers: each keeps a local cache with the client library's `watch`, from its first event until it is
 * stopped. Some close their stream now and then and resume from the revision they have reached.
 */
import { type Client, idOf, LocalCache } from "../../src/client/client.ts";
import type { WatchTarget } from "../../src/client/types.ts";
import { KINDS, type Kind } from "../../src/model/ids.ts";

/** Kinds that a list of the interface has by this name. */
const LISTED = ["devices", "links", "hosts"] as const;
type ListedKind = (typeof LISTED)[number];

export class Follower {
  readonly target: WatchTarget;
  readonly cache = new LocalCache();
  events = 0;
  resets = 0;
  resumes = 0;
  readonly #client: Client;
  readonly #resumeEveryMs: number | undefined;
  #stopped = false;
  #connection = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(client: Client, target: WatchTarget, resumeEveryMs?: number) {
    this.#client = client;
    this.target = target;
    this.#resumeEveryMs = resumeEveryMs;
  }

  start(): void {
    this.#done = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#connection = new AbortController();
      const { signal } = this.#connection;
      const timer =
        this.#resumeEveryMs === undefined
          ? undefined
          : setTimeout(() => this.#connection.abort(), this.#resumeEveryMs);
      try {
        const options = { signal, since: this.cache.revision };
        for await (const event of this.#client.watch(this.target, {}, options)) {
          this.events++;
          if (event.type === "reset") this.resets++;
          this.cache.apply(event);
        }
      } finally {
        clearTimeout(timer);
      }
      this.resumes++;
    }
  }

  get #kinds(): readonly ListedKind[] {
    return LISTED.filter((kind) => this.target === "topology" || this.target === kind);
  }

  /** What differs between the cache and the lists of the service now; empty when they are equal. */
  async differences(): Promise<string[]> {
    const found: string[] = [];
    for (const kind of this.#kinds) {
      const { items } = await this.#client.list(kind);
      const theirs = new Map(items.map((item) => [idOf(item), JSON.stringify(item)]));
      const ours = this.cache.all<Kind>(kind);
      const differing = [...theirs].filter(([id, text]) => JSON.stringify(ours.get(id)) !== text);
      const extra = [...ours.keys()].filter((id) => !theirs.has(id));
      for (const [id] of differing.slice(0, 3)) found.push(`${this.target}: ${kind} ${id} differs`);
      for (const id of extra.slice(0, 3)) found.push(`${this.target}: ${kind} ${id} no longer exists`);
    }
    return found;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#connection.abort();
    await this.#done;
  }
}

export const FOLLOWED: readonly WatchTarget[] = ["topology", ...KINDS.filter((kind) => kind !== "ports")];
