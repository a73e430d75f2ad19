/**
 * Some thousand texts in order, searched often. Beside each stands a number that sorts as it does, made of the
 * characters that come after those which all texts begin with: a search compares numbers, which lie side by side, and
 * looks at texts only where numbers are equal. Texts lie all over memory, and reaching for a dozen of them takes longer
 * than all the rest of a look-up.
 */

/** So many characters of so many bits are as much as a number holds exactly. */
const CHARACTERS_PER_NUMBER = 7;
const BASE = 128;

export class SortedTexts {
  readonly #texts: string[];
  /** What all texts begin with. May be shorter than it could be: it is never made longer. */
  #commonPrefix = "";
  #numbers: number[] = [];

  constructor(texts: readonly string[] = []) {
    this.#texts = [...texts];
    this.#computeNumbers();
  }

  /** Where the last text stands that is not after `text`; 0 where there is none. */
  lastNotAfter(text: string): number {
    const texts = this.#texts;
    const numbers = this.#numbers;
    const common = this.#commonPrefix;
    let low = 0;
    let high = texts.length - 1;
    if (!text.startsWith(common)) return text < common ? 0 : Math.max(0, high);
    const number = numberOf(text, common.length);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const there = numbers[middle] ?? 0;
      if (there < number || (there === number && (texts[middle] ?? "") <= text)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Puts texts in the place of `count` others. The order is the caller's to keep. */
  splice(from: number, count: number, texts: readonly string[]): void {
    this.#texts.splice(from, count, ...texts);
    const common = this.#commonPrefix;
    if (texts.every((text) => text.startsWith(common)) && this.#numbers.length > 0) {
      this.#numbers.splice(from, count, ...texts.map((text) => numberOf(text, common.length)));
    } else this.#computeNumbers();
  }

  #computeNumbers(): void {
    const first = this.#texts[0] ?? "";
    const last = this.#texts.at(-1) ?? "";
    let length = 0;
    while (length < first.length && first[length] === last[length]) length++;
    this.#commonPrefix = first.slice(0, length);
    this.#numbers = this.#texts.map((text) => numberOf(text, length));
  }
}

/** Where the numbers of two texts differ, the texts are in the same order. A character beyond the base ends the number. */
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
