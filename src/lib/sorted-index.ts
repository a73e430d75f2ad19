/**
 * A sorted multimap from text keys to ids, in blocks: an insert moves at most one block, a range read touches only
 * what it answers. Keys and ids stand in parallel arrays, and a key equal to its neighbour is stored once: a million
 * hosts on a thousand ports cost a thousand key strings.
 */
interface Block {
  readonly keys: string[];
  readonly ids: string[];
}

const BLOCK = 1024;

export class SortedIndex {
  readonly #blocks: Block[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(key: string, id: string): void {
    let at = this.#blockFor(key, id);
    let block = this.#blocks[at];
    if (!block) {
      block = { keys: [], ids: [] };
      this.#blocks.push(block);
    }
    const i = position(block, key, id);
    if (block.keys[i] === key && block.ids[i] === id) return;
    const shared =
      block.keys[i] === key ? block.keys[i] : block.keys[i - 1] === key ? block.keys[i - 1] : key;
    block.keys.splice(i, 0, shared ?? key);
    block.ids.splice(i, 0, id);
    this.#size++;
    if (block.keys.length <= BLOCK) return;
    // Appending in order fills blocks to the brim; anything else leaves both halves room.
    const cut = i === block.keys.length - 1 && at === this.#blocks.length - 1 ? BLOCK : BLOCK / 2;
    this.#blocks.splice(++at, 0, { keys: block.keys.splice(cut), ids: block.ids.splice(cut) });
  }

  delete(key: string, id: string): void {
    const at = this.#blockFor(key, id);
    const block = this.#blocks[at];
    if (!block) return;
    const i = position(block, key, id);
    if (block.keys[i] !== key || block.ids[i] !== id) return;
    block.keys.splice(i, 1);
    block.ids.splice(i, 1);
    this.#size--;
    if (block.keys.length === 0) this.#blocks.splice(at, 1);
  }

  /** The ids whose keys lie in [from, to], in order of key, then id. */
  *range(from: string, to: string): Generator<string> {
    for (let at = this.#blockFor(from, ""); at < this.#blocks.length; at++) {
      const block = this.#blocks[at];
      if (!block) return;
      for (let i = position(block, from, ""); i < block.keys.length; i++) {
        const key = block.keys[i];
        const id = block.ids[i];
        if (key === undefined || id === undefined || key > to) return;
        yield id;
      }
    }
  }

  get(key: string): Generator<string> {
    return this.range(key, key);
  }

  has(key: string): boolean {
    return !this.get(key).next().done;
  }

  /** How many entries [from, to] holds, counted up to `most`: what a planner asks before it chooses an index. */
  count(from: string, to: string, most: number): number {
    let n = 0;
    for (const _ of this.range(from, to)) if (++n >= most) break;
    return n;
  }

  /** Each different key once, in order. */
  *keys(): Generator<string> {
    let last: string | undefined;
    for (const block of this.#blocks) {
      for (const key of block.keys) {
        if (key !== last) yield key;
        last = key;
      }
    }
  }

  /** The block that holds, or would hold, (key, id): the last one that does not begin after it. */
  #blockFor(key: string, id: string): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const block = this.#blocks[middle];
      if (block && !follows(block, 0, key, id)) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Whether entry `i` of the block stands after (key, id). */
function follows(block: Block, i: number, key: string, id: string): boolean {
  const at = block.keys[i] ?? "";
  return at > key || (at === key && (block.ids[i] ?? "") > id);
}

function position(block: Block, key: string, id: string): number {
  let low = 0;
  let high = block.keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = block.keys[middle] ?? "";
    if (at < key || (at === key && (block.ids[middle] ?? "") < id)) low = middle + 1;
    else high = middle;
  }
  return low;
}
