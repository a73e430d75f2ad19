/**
 * Extracts the items of one array from a JSON document that arrives in pieces, so that a large document from a peer is
 * neither held as a whole nor parsed in one step. The items must be objects; the caller parses each. The text before the
 * array is kept for the caller, and the text after it is ignored.
 */

/** Length of the text before the array, and of one item, in characters. */
const MAX_HEAD_LENGTH = 64 * 1024;
const MAX_ITEM_LENGTH = 64 * 1024;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

export class JsonArrayItems {
  /** The text before the array; undefined until the array begins. */
  head: string | undefined;
  /** Set when the end of the array was read. */
  isComplete = false;
  /** Set when the document has another form; no more items follow. */
  isMalformed = false;
  readonly #begin: RegExp;
  /** Text that is not consumed yet: the head, or the beginning of an item. */
  #text = "";
  /** The position in `#text` up to which it was scanned. */
  #at = 0;
  #depth = 0;
  #inString = false;

  /** `key` is the name of the array. The first array with this name is read. */
  constructor(key: string) {
    this.#begin = new RegExp(`"${key}"\\s*:\\s*\\[`);
  }

  /** The texts of the items that are complete with this piece of the document. */
  *push(text: string): Generator<string, void, void> {
    if (this.isComplete || this.isMalformed) return;
    this.#text += text;
    if (this.head === undefined && !this.#readHead()) return;
    let start = 0;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (this.#depth === 0) {
        if (code === COMMA || isSpace(code)) continue;
        this.isComplete = code === CLOSE_BRACKET;
        this.isMalformed = code !== CLOSE_BRACKET && code !== OPEN_BRACE;
        if (this.isComplete || this.isMalformed) return;
        start = this.#at;
        this.#depth = 1;
      } else if (this.#endsItem(code)) yield this.#text.slice(start, this.#at + 1);
    }
    const used = this.#depth === 0 ? this.#text.length : start;
    this.#text = this.#text.slice(used);
    this.#at -= used;
    this.isMalformed = this.#text.length > MAX_ITEM_LENGTH;
  }

  #readHead(): boolean {
    const match = this.#begin.exec(this.#text);
    if (!match) {
      this.isMalformed = this.#text.length > MAX_HEAD_LENGTH;
      return false;
    }
    this.head = this.#text.slice(0, match.index);
    this.#text = this.#text.slice(match.index + match[0].length);
    return true;
  }

  #endsItem(code: number): boolean {
    if (this.#inString) {
      if (code === QUOTE) this.#inString = false;
      // The next character is part of the escape. If the piece ends here, that character is skipped in the next piece.
      else if (code === BACKSLASH) this.#at++;
      return false;
    }
    if (code === QUOTE) this.#inString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.#depth--;
    return this.#depth === 0;
  }
}
