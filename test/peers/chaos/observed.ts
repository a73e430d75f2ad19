/**
 * What readers and consumers of all nodes were shown, put together: a revision has the same content wherever and whenever it
 * is shown. Faults are collected with their time, and the run ends with all of them.
 */
import type { WatchChange } from "../../../src/client/client.ts";
import { idOf } from "../../../src/client/types.ts";

/** The four reads of the interface. */
export const PATHS = ["devices", "links", "hosts", "topology"] as const;
export type Path = (typeof PATHS)[number];

const MAX_FAULTS = 40;

export class Observed {
  readonly faults: string[] = [];
  /** The bodies of reads, as hashes, by `PATH@REVISION`. */
  readonly bodies = new Map<string, bigint>();
  /** The changes of revisions, as hashes. */
  readonly changes = new Map<number, bigint>();
  highestRevision = 0;
  readonly #isEngineLossy: boolean;
  readonly #began = performance.now();

  /** `isEngineLossy`: whether the engine loses what it has delivered. */
  constructor(isEngineLossy = false) {
    this.#isEngineLossy = isEngineLossy;
  }

  fault(text: string): void {
    if (this.faults.length >= MAX_FAULTS) return;
    this.faults.push(`${this.elapsed} ${text}`);
    console.log(`${this.elapsed} FAULT: ${text}`);
  }

  /** What was shown is no longer so: a fault, unless the engine may have lost it. */
  loss(text: string): void {
    if (this.#isEngineLossy) console.log(`${this.elapsed} lost by the engine: ${text}`);
    else this.fault(text);
  }

  get elapsed(): string {
    return `${((performance.now() - this.#began) / 1000).toFixed(1)}s`;
  }

  onBody(path: Path, revision: number, body: string, where: string): void {
    this.#expectSame(this.bodies, `${path}@${revision}`, body, where);
    this.highestRevision = Math.max(this.highestRevision, revision);
  }

  /** All changes of a revision. */
  onRevision(revision: number, changes: readonly WatchChange[], where: string): void {
    this.#expectSame(this.changes, revision, contentOf(changes), where);
    this.highestRevision = Math.max(this.highestRevision, revision);
  }

  #expectSame<Key>(known: Map<Key, bigint>, key: Key, content: string, where: string): void {
    const hash = Bun.hash.wyhash(content);
    const before = known.get(key);
    if (before === undefined) known.set(key, hash);
    else if (before !== hash) this.loss(`${where}: the content of ${key} differs from what was shown before`);
  }
}

interface ShownChange {
  readonly type: string;
  readonly resource: string;
  readonly value: WatchChange["value"];
}

/** Text of the changes of one revision, whatever their order. */
export const contentOf = (changes: readonly ShownChange[]): string =>
  changes
    .map(({ type, resource, value }) => `${type} ${resource} ${idOf(value)} ${JSON.stringify(value)}`)
    .sort()
    .join("\n");
