/**
 * A client that speaks to the service byte by byte and reads its answers by the letter of RFC 9112: every answer ends
 * where its head says, and whatever comes that is not an answer is an error.
 */
import { connect, type Socket } from "node:net";
import { API, AUTHORIZATION, type Harness } from "../api/harness.ts";
import { until } from "../support/until.ts";

export interface Heard {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** What every request has: a host, and the right credentials. */
export const LINES = `Host: x\r\nAuthorization: ${AUTHORIZATION}\r\n`;

/** `more` is whole header lines. */
export const ask = (path: string, more = "", method = "GET"): string =>
  `${method} ${path.startsWith("/") ? path : `${API}/${path}`} HTTP/1.1\r\n${LINES}${more}\r\n`;

/** Of a problem. */
export const codeOf = ({ body }: Heard): string => /#([a-z-]+)"/.exec(body)?.[1] ?? body;

let asked = 0;
/** Whether no more answers may be under way; asked each time in other words, for an answer that is not at hand. */
export const isFull = async (of: Harness, init: RequestInit = {}): Promise<boolean> =>
  (await of.fetch(`hosts?q=${asked++}`, init)).status === 503;

export const streamsOpen = async (of: Harness, init: RequestInit = {}): Promise<number> =>
  Number(/^gazetteer_streams_open (\d+)$/m.exec(await (await of.fetch("/metrics", init)).text())?.[1]);

export class Talk implements AsyncDisposable {
  readonly socket: Socket;
  /** The methods that were asked with, in order, for what has answers without bodies; GET where there is none. */
  readonly #methods: string[];
  #came = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #heard: Heard[] = [];
  #over = false;
  #error: Error | undefined;

  constructor(port: number, methods: readonly string[] = []) {
    this.#methods = [...methods];
    this.socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    this.socket.on("data", (data) => this.#parts.push(Buffer.from(data)));
    this.socket.on("end", () => {
      this.#over = true;
    });
    this.socket.on("close", () => {
      this.#over = true;
    });
    this.socket.on("error", (error) => {
      this.#error = error;
    });
  }

  /** How the connection failed, if it did: a reset, for example. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** Whether the service has said that it sends nothing more. */
  get over(): boolean {
    return this.#over;
  }

  send(...texts: string[]): this {
    for (const text of texts) this.socket.write(Buffer.from(text, "latin1"));
    return this;
  }

  /** Sends each piece by itself, when the one before has gone to the network. */
  async sendApart(pieces: readonly string[]): Promise<void> {
    for (const piece of pieces) {
      if (piece === "") continue;
      await new Promise<void>((resolve) => this.socket.write(Buffer.from(piece, "latin1"), () => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** All answers that came, once there are so many. */
  async answers(count: number): Promise<readonly Heard[]> {
    const enough = () => {
      this.#read();
      return this.#heard.length >= count || this.#over;
    };
    await until(enough, { what: `${count} answers`, everyMs: 1 });
    if (this.#heard.length < count)
      throw new Error(`${this.#heard.length} answers and the end, instead of ${count}`, {
        cause: this.#error,
      });
    return this.#heard;
  }

  /** The answer to one request more. */
  async answerTo(text: string): Promise<Heard> {
    const count = this.#heard.length;
    const heard = (await this.send(text).answers(count + 1))[count];
    if (!heard) throw new Error("no answer");
    return heard;
  }

  /** Lets go of the answers that came so far. */
  forget(): void {
    this.#heard = [];
    this.#came = Buffer.from(this.#came);
  }

  /** All answers that came before the service closed; what is left over must be nothing. */
  async rest(): Promise<readonly Heard[]> {
    await until(() => this.#over, { what: "the service to close", everyMs: 1 });
    this.#read();
    if (this.#came.length > 0) throw new Error(`left over: ${this.#came.toString("latin1").slice(0, 200)}`);
    return this.#heard;
  }

  /** What came and is not an answer yet. */
  get unread(): string {
    this.#read();
    return this.#came.toString("latin1");
  }

  #read(): void {
    if (this.#parts.length > 0) this.#came = Buffer.concat([this.#came, ...this.#parts]);
    this.#parts = [];
    for (let one = this.#one(); one; one = this.#one()) this.#heard.push(one);
  }

  #one(): Heard | undefined {
    const gap = this.#came.indexOf("\r\n\r\n");
    if (gap < 0) return undefined;
    const [line = "", ...fields] = this.#came.toString("latin1", 0, gap).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) [A-Za-z ]*$/.exec(line)?.[1]);
    if (!status) throw new Error(`not a status line: ${line}`);
    const headers = new Map<string, string>();
    for (const field of fields) {
      const [, name = "", value = ""] = /^([A-Za-z-]+): ([^\r\n]*)$/.exec(field) ?? [];
      if (name === "" || headers.has(name.toLowerCase())) throw new Error(`not one header: ${field}`);
      headers.set(name.toLowerCase(), value);
    }
    if (status === 100) {
      this.#came = this.#came.subarray(gap + 4);
      return this.#one();
    }
    const read = this.#body(gap + 4, status, headers);
    if (!read) return undefined;
    this.#methods.shift();
    this.#came = this.#came.subarray(read.end);
    return { status, headers, body: read.body };
  }

  #body(
    from: number,
    status: number,
    headers: ReadonlyMap<string, string>,
  ): { body: string; end: number } | undefined {
    const length = headers.get("content-length");
    const coding = headers.get("transfer-encoding");
    if (length !== undefined && coding !== undefined) throw new Error("a length, and chunks");
    if (this.#methods[0] === "HEAD" || status === 204 || status === 304) return { body: "", end: from };
    if (coding === "chunked") return this.#chunks(from);
    if (length === undefined) {
      if (headers.get("connection") !== "close") throw new Error("a body without an end");
      return this.#over ? { body: this.#came.toString("latin1", from), end: this.#came.length } : undefined;
    }
    const end = from + Number(length);
    return this.#came.length < end ? undefined : { body: this.#came.toString("latin1", from, end), end };
  }

  #chunks(from: number): { body: string; end: number } | undefined {
    let body = "";
    for (let at = from; ; ) {
      const line = this.#came.indexOf("\r\n", at);
      if (line < 0) return undefined;
      const digits = this.#came.toString("latin1", at, line);
      if (!/^[0-9a-f]+$/.test(digits)) throw new Error(`not the size of a chunk: ${digits}`);
      const size = Number.parseInt(digits, 16);
      const end = line + 2 + size;
      if (this.#came.length < end + 2) return undefined;
      if (this.#came.toString("latin1", end, end + 2) !== "\r\n") throw new Error("a chunk without its end");
      body += this.#came.toString("latin1", line + 2, end);
      at = end + 2;
      if (size === 0) return { body, end: at };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
  }
}
