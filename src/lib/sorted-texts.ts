/**
 * A sorted list of some thousand texts with a fast binary search. Each text has a number with the same order, computed from
 * the characters after the common prefix. The search compares the numbers, which are adjacent in memory, and compares texts
 * only where the numbers are equal, because a dozen string comparisons would miss the CPU cache and cost more than the rest
 * of a lookup.
 */

import { COST, Pause, type Steps } from "./steps.ts";

/** 7 characters of 7 bits are 49 bits, which a double holds exactly. */
const CHARACTERS_PER_NUMBER = 7;
const BASE = 128;

export class SortedTexts {
  readonly #texts: readonly string[];
  readonly #commonPrefix: string;
  readonly #numbers: readonly number[];

  private constructor(texts: readonly string[], commonPrefix: string, numbers: readonly number[]) {
    this.#texts = texts;
    this.#commonPrefix = commonPrefix;
    this.#numbers = numbers;
  }

  /** `texts` must not change. */
  static *create(texts: readonly string[]): Steps<SortedTexts> {
    const prefix = commonPrefixOf(texts);
    return new SortedTexts(texts, prefix, yield* numbersOf(texts, prefix));
  }

  /** The list with the texts from index `start` to `end` replaced; the result must be sorted. */
  *withReplaced(start: number, end: number, by: readonly string[]): Steps<SortedTexts> {
    const texts = replaceRange(this.#texts, start, end, by);
    const prefix = this.#commonPrefix;
    if (commonPrefixOf(texts) !== prefix) return yield* SortedTexts.create(texts);
    const numbers = replaceRange(this.#numbers, start, end, yield* numbersOf(by, prefix));
    return new SortedTexts(texts, prefix, numbers);
  }

  /** The index of the last text that is not after `text`; 0 when there is none. */
  lastNotAfter(text: string): number {
    const texts = this.#texts;
    const numbers = this.#numbers;
    const prefix = this.#commonPrefix;
    let low = 0;
    let high = texts.length - 1;
    if (!text.startsWith(prefix)) return text < prefix ? 0 : Math.max(0, high);
    const number = numberOf(text, prefix.length);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const candidate = numbers[middle] ?? 0;
      if (candidate < number || (candidate === number && (texts[middle] ?? "") <= text)) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** A copy with the items from index `start` to `end` replaced. `toSpliced` cannot take thousands of items. */
export const replaceRange = <T>(list: readonly T[], start: number, end: number, by: readonly T[]): T[] =>
  list.slice(0, start).concat(by, list.slice(end));

function* numbersOf(texts: readonly string[], prefix: string): Steps<number[]> {
  const numbers: number[] = [];
  const pause = new Pause();
  for (const text of texts) {
    numbers.push(numberOf(text, prefix.length));
    if (pause.due(COST.item)) yield;
  }
  return numbers;
}

/** The longest common prefix of the texts, which are sorted. */
function commonPrefixOf(texts: readonly string[]): string {
  const first = texts[0] ?? "";
  const last = texts.at(-1) ?? "";
  let length = 0;
  while (length < first.length && first[length] === last[length]) length++;
  return first.slice(0, length);
}

/** If the numbers of two texts differ, they have the same order as the texts. A character outside the base ends the number. */
function numberOf(text: string, from: number): number {
  let number = 0;
  let i = 0;
  for (; i < CHARACTERS_PER_NUMBER; i++) {
    const at = from + i;
    if (at >= text.length) break;
    const code = text.charCodeAt(at);
    number = number * BASE + Math.min(code, BASE - 1);
    if (code < BASE - 1) continue;
    i++;
    break;
  }
  return number * BASE ** (CHARACTERS_PER_NUMBER - i);
}
