/**
 * Where in a JSON text something stands. `JSON.parse` is fast but says neither where a record began nor, when it
 * fails, where; this walks the text again, only once something is wrong and a person has to be told the place.
 */

/** Keys and indexes from the top down. */
export type Path = readonly (string | number)[];

export interface Position {
  /** Where the deepest part of the path that exists begins, or where the text stops being JSON. */
  readonly offset: number;
  /** Why it is no JSON, when it is none. */
  readonly fault?: string;
}

/** Deeper than any record of ours; keeps hostile nesting off the stack. */
const DEEPEST = 64;
const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.]))/y;

/** Looks for `path`; reads no further than it must, so a fault after it is not reported. */
export function jsonPosition(text: string, path: Path): Position {
  const walk = new Walk(text, path);
  try {
    walk.value(0, 0);
    if (!walk.isFound) walk.end();
  } catch (error) {
    if (error instanceof JsonFault) return { offset: error.offset, fault: error.message };
    throw error;
  }
  return { offset: walk.offset };
}

class JsonFault extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

interface Token {
  readonly text: string;
  readonly offset: number;
  readonly sort: "mark" | "string" | "other";
}

class Walk {
  offset = 0;
  readonly #text: string;
  readonly #path: Path;
  #at = 0;
  #matched = 0;
  #ahead: Token | undefined;

  constructor(text: string, path: Path) {
    this.#text = text;
    this.#path = path;
  }

  /** An empty path is never found: then the whole text is walked, to find its fault. */
  get isFound(): boolean {
    return this.#path.length > 0 && this.#matched === this.#path.length;
  }

  /** Reads one value; `matched` is how much of the path led here, -1 when it did not. */
  value(matched: number, depth: number): void {
    const token = this.#next();
    if (token.text === "{") this.#members("}", matched, depth);
    else if (token.text === "[") this.#members("]", matched, depth);
    else if (token.sort === "mark") throw new JsonFault(token.offset, `expected a value, not ${token.text}`);
  }

  end(): void {
    const rest = this.#text.slice(this.#at).search(/[^ \t\r\n]/);
    if (rest >= 0) throw new JsonFault(this.#at + rest, "expected nothing after the value");
  }

  #members(close: "}" | "]", matched: number, depth: number): void {
    if (depth === DEEPEST) throw new JsonFault(this.#at, "is nested too deeply");
    if (this.#peek().text === close) {
      this.#next();
      return;
    }
    for (let index = 0; !this.isFound; index++) {
      const first = this.#peek();
      const key = close === "]" ? index : this.#key();
      this.value(this.#follow(matched, key, first.offset), depth + 1);
      if (this.isFound) return;
      const after = this.#next();
      if (after.text === close) return;
      if (after.text !== ",") throw new JsonFault(after.offset, `expected , or ${close}, not ${after.text}`);
    }
  }

  #key(): string {
    const token = this.#next();
    if (token.sort !== "string")
      throw new JsonFault(token.offset, `expected a key in quotes, not ${token.text}`);
    const colon = this.#next();
    if (colon.text !== ":") throw new JsonFault(colon.offset, `expected : after the key ${token.text}`);
    return String(JSON.parse(token.text));
  }

  #follow(matched: number, key: string | number, offset: number): number {
    if (matched < 0 || matched >= this.#path.length || this.#path[matched] !== key) return -1;
    this.#matched = matched + 1;
    this.offset = offset;
    return this.#matched;
  }

  #peek(): Token {
    this.#ahead ??= this.#read();
    return this.#ahead;
  }

  #next(): Token {
    const token = this.#peek();
    this.#ahead = undefined;
    return token;
  }

  #read(): Token {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    if (!match) {
      const gap = this.#text.slice(this.#at, this.#at + 10_000).search(/[^ \t\r\n]/);
      if (gap < 0) throw new JsonFault(this.#text.trimEnd().length, "ends too early");
      throw new JsonFault(this.#at + gap, `unexpected ${JSON.stringify(this.#text.charAt(this.#at + gap))}`);
    }
    const text = match[1] ?? match[2] ?? match[3] ?? "";
    this.#at = TOKEN.lastIndex;
    const sort = match[1] !== undefined ? "mark" : match[2] !== undefined ? "string" : "other";
    return { text, offset: this.#at - text.length, sort };
  }
}
