/**
 * Reads the four paths, again and again: of one node, whose reads must not fail while its process runs, whatever happens to
 * the engine; or of any node, with the revision of the last response as the least one, which must then be kept.
 */
import type { ChaosNode } from "./lab.ts";
import { type Observed, PATHS } from "./observed.ts";

/** Ends a hang. */
const TIMEOUT_MS = 120_000;
/** On a busy machine a node rejects what would wait too long; one that does nothing else is stuck. */
const MAX_OVERLOADED_MS = 30_000;
const PAUSE_MS = 100;

export class Reader {
  reads = 0;
  /** Reads that a node rejected because it had no time. */
  overloaded = 0;
  readonly #nodes: readonly ChaosNode[];
  readonly #observed: Observed;
  readonly #stopped = new AbortController();
  #done: Promise<void> = Promise.resolve();
  #revision = 0;
  #generation = "";
  /** Since when this run of this node rejects all. */
  #overloadedSince: { readonly generation: string; readonly at: number } | undefined;

  constructor(nodes: readonly ChaosNode[], observed: Observed) {
    this.#nodes = nodes;
    this.#observed = observed;
  }

  start(): void {
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    for (let n = 0; !this.#stopped.signal.aborted; n++) {
      const node = this.#nodes[n % this.#nodes.length];
      if (node?.isUp) await this.#read(node, n);
      await Bun.sleep(PAUSE_MS);
    }
  }

  async #read(node: ChaosNode, n: number): Promise<void> {
    const path = PATHS[n % PATHS.length] ?? "devices";
    const roams = this.#nodes.length > 1;
    const where = `${roams ? "a roaming reader at" : "a reader of"} ${node.name}`;
    const { generation } = node;
    const isSame = () => node.isUp && node.generation === generation;
    // On a node that starts again without data, a reader that does not roam may see less.
    if (!roams && this.#generation !== generation) this.#revision = 0;
    this.#generation = generation;
    try {
      const response = await node.fetch(`/controller/v1/${path}`, {
        headers: roams ? { "gazetteer-min-revision": String(this.#revision) } : {},
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const body = await response.text();
      if (response.status === 503 && body.includes("#overloaded"))
        return this.#onOverloaded(generation, where);
      this.#overloadedSince = undefined;
      // A node that is behind what this reader has seen.
      if (response.status === 503 && roams) return;
      if (response.status !== 200) {
        if (isSame())
          this.#observed.fault(`${where}: ${path}: status ${response.status} ${body.slice(0, 200)}`);
        return;
      }
      this.reads++;
      const revision = Number(response.headers.get("gazetteer-revision"));
      this.#observed.onBody(path, revision, body, where);
      if (revision < this.#revision)
        this.#observed.loss(`${where}: ${path}: revision ${revision} after ${this.#revision}`);
      this.#revision = revision;
    } catch (error) {
      if (isSame()) this.#observed.fault(`${where}: ${path}: ${error}`);
    }
  }

  #onOverloaded(generation: string, where: string): void {
    this.overloaded++;
    const now = performance.now();
    if (this.#overloadedSince?.generation !== generation) this.#overloadedSince = { generation, at: now };
    if (now - this.#overloadedSince.at > MAX_OVERLOADED_MS)
      this.#observed.fault(`${where}: overloaded for more than ${MAX_OVERLOADED_MS} ms`);
  }
}
