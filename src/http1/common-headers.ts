/**
 * Headers of every response of a server. Those that do not change are built once. The date, and what else depends on the
 * time, is built at most once a second, or when it changes.
 */
let dateSecond = -1;
let cachedDateLine = "";

/** The `Date` header, formatted once a second. */
function dateLine(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    cachedDateLine = `Date: ${new Date(second * 1000).toUTCString()}\r\n`;
  }
  return cachedDateLine;
}

/** The value of a header at a time (epoch milliseconds); undefined while responses do not have it. */
export interface TimedHeader {
  readonly name: string;
  value(nowMs: number): string | undefined;
}

export class CommonHeaders {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #names: ReadonlySet<string>;
  readonly #lines: string;
  readonly #timed: TimedHeader | undefined;
  #dateLine = "";
  #timedValue = "";
  #timedLines = "";

  /** `headers` are those of every response, unless a response has its own. */
  constructor(headers: Readonly<Record<string, string>>, timed?: TimedHeader) {
    this.#headers = headers;
    this.#names = new Set(Object.keys(headers));
    this.#lines = render(Object.entries(headers));
    this.#timed = timed;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** The header lines of a response that has none of these headers itself, each with its line end. */
  get lines(): string {
    return this.#lines;
  }

  /** The same for a response with these headers. */
  linesFor(headers: Readonly<Record<string, string>>): string {
    return render(Object.entries(this.#headers).filter(([common]) => !(common in headers)));
  }

  /** The date, and the header that depends on the time. The same text as long as both are the same. */
  timedLines(nowMs: number): string {
    const date = dateLine(nowMs);
    const value = this.#timed?.value(nowMs);
    if (this.#timed === undefined || value === undefined) return date;
    if (date !== this.#dateLine || value !== this.#timedValue) {
      this.#dateLine = date;
      this.#timedValue = value;
      this.#timedLines = date + render([[this.#timed.name, value]]);
    }
    return this.#timedLines;
  }
}

const render = (headers: readonly (readonly [name: string, value: string])[]): string =>
  headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");

/** Of a server that has no others: a browser must not guess the type of a body. */
export const NO_SNIFF = new CommonHeaders({ "X-Content-Type-Options": "nosniff" });
