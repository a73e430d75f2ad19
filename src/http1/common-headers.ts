/**
 * The headers that every response of a server has. The constant ones are built once. The `Date` header is built at most
 * once a second, and the other header that depends on the time is built when its value changes.
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

/** A header whose value depends on the time (epoch milliseconds). While the value is undefined, responses do not have it. */
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

  /** Every response gets `headers`, except those that the response sets itself. */
  constructor(headers: Readonly<Record<string, string>>, timed?: TimedHeader) {
    this.#headers = headers;
    this.#names = new Set(Object.keys(headers));
    this.#lines = render(Object.entries(headers));
    this.#timed = timed;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** The lines of all common headers, each with its line end, for a response that sets none of them itself. */
  get lines(): string {
    return this.#lines;
  }

  /** The lines of the common headers that are not among `headers`, which the response sets itself. */
  linesFor(headers: Readonly<Record<string, string>>): string {
    return render(Object.entries(this.#headers).filter(([common]) => !(common in headers)));
  }

  /** The `Date` line and that of the timed header. Returns the same string object as long as neither changes. */
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

/** The common headers of a server that sets no others. They forbid a browser to guess the type of a body. */
export const NO_SNIFF = new CommonHeaders({ "X-Content-Type-Options": "nosniff" });
