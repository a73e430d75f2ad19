/** A set of texts that grows to millions without a long pause, because its table grows in parts. */
import { TextTable } from "./text-table.ts";

export class ShardedSet implements Iterable<string> {
  readonly #members = new TextTable();

  constructor(members: Iterable<string> = []) {
    for (const member of members) this.add(member);
  }

  get size(): number {
    return this.#members.size;
  }

  add(member: string): this {
    this.#members.add(member);
    return this;
  }

  has(member: string): boolean {
    return this.#members.find(member) >= 0;
  }

  delete(member: string): boolean {
    const number = this.#members.find(member);
    if (number >= 0) this.#members.delete(number);
    return number >= 0;
  }

  /** The set may change during the iteration. A member that stays in it throughout is visited once. */
  *[Symbol.iterator](): Generator<string> {
    for (const number of this.#members.numbers()) yield this.#members.text(number);
  }
}
