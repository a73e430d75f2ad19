/** Headers of every response of a server, unless a response has its own. The text is built once. */
export class CommonHeaders {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #lines: string;

  constructor(headers: Readonly<Record<string, string>>) {
    this.#headers = headers;
    this.#lines = render(Object.entries(headers));
  }

  /** The header lines for a response with these headers, each with its line end. */
  linesFor(headers: Readonly<Record<string, string>>): string {
    for (const name in this.#headers)
      if (name in headers)
        return render(Object.entries(this.#headers).filter(([common]) => !(common in headers)));
    return this.#lines;
  }
}

const render = (headers: readonly (readonly [name: string, value: string])[]): string =>
  headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");

/** Of a server that has no others: a browser must not guess the type of a body. */
export const NO_SNIFF = new CommonHeaders({ "X-Content-Type-Options": "nosniff" });
