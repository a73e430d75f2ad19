/**
 * An HTTP client that sends given bytes and parses responses strictly by RFC 9112: every response must end where its head
 * says, and any other byte is an error.
 */
import { connect, type Socket } from "node:net";
import { API, AUTHORIZATION, type Harness } from "../api/harness.ts";
import { until } from "../support/until.ts";

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The headers of every request: a host, and valid credentials. */
export const COMMON_HEADERS = `Host: x\r\nAuthorization: ${AUTHORIZATION}\r\n`;

/** `more` is complete header lines. */
export const requestText = (path: string, more = "", method = "GET"): string =>
  `${method} ${path.startsWith("/") ? path : `${API}/${path}`} HTTP/1.1\r\n${COMMON_HEADERS}${more}\r\n`;

export const problemCode = ({ body }: ReceivedResponse): string => /#([a-z-]+)"/.exec(body)?.[1] ?? body;

let queryNumber = 0;
/** Whether the limit of responses in flight is reached. Each query is new, so that no cached response is sent. */
export const isOverloaded = async (of: Harness, init: RequestInit = {}): Promise<boolean> =>
  (await of.fetch(`hosts?q=${queryNumber++}`, init)).status === 503;

export const openStreams = async (of: Harness, init: RequestInit = {}): Promise<number> =>
  Number(/^gazetteer_streams_open (\d+)$/m.exec(await (await of.fetch("/metrics", init)).text())?.[1]);

export class StrictClient implements AsyncDisposable {
  readonly socket: Socket;
  /** The methods of the requests in order, because responses to HEAD have no body. GET where there is none. */
  readonly #methods: string[];
  #buffered = Buffer.alloc(0);
  #incoming: Buffer[] = [];
  #responses: ReceivedResponse[] = [];
  #closedByServer = false;
  #error: Error | undefined;

  constructor(port: number, methods: readonly string[] = []) {
    this.#methods = [...methods];
    this.socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    this.socket.on("data", (data) => this.#incoming.push(Buffer.from(data)));
    this.socket.on("end", () => {
      this.#closedByServer = true;
    });
    this.socket.on("close", () => {
      this.#closedByServer = true;
    });
    this.socket.on("error", (error) => {
      this.#error = error;
    });
  }

  /** The error of the connection, such as a reset. */
  get error(): Error | undefined {
    return this.#error;
  }

  get closedByServer(): boolean {
    return this.#closedByServer;
  }

  send(...texts: string[]): this {
    for (const text of texts) this.socket.write(Buffer.from(text, "latin1"));
    return this;
  }

  /** Sends each piece in a packet of its own. */
  async sendSeparately(pieces: readonly string[]): Promise<void> {
    for (const piece of pieces) {
      if (piece === "") continue;
      await new Promise<void>((resolve) => this.socket.write(Buffer.from(piece, "latin1"), () => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Waits for `count` responses and returns all that were received. */
  async responses(count: number): Promise<readonly ReceivedResponse[]> {
    const enough = () => {
      this.#parseBuffered();
      return this.#responses.length >= count || this.#closedByServer;
    };
    await until(enough, { what: `${count} responses`, everyMs: 1 });
    if (this.#responses.length < count)
      throw new Error(`${this.#responses.length} responses and the end, instead of ${count}`, {
        cause: this.#error,
      });
    return this.#responses;
  }

  /** Sends one request and returns its response. */
  async request(text: string): Promise<ReceivedResponse> {
    const count = this.#responses.length;
    const response = (await this.send(text).responses(count + 1))[count];
    if (!response) throw new Error("no response");
    return response;
  }

  dropResponses(): void {
    this.#responses = [];
    this.#buffered = Buffer.from(this.#buffered);
  }

  /** Waits until the service closes, and returns all responses. Bytes left over are an error. */
  async remainingResponses(): Promise<readonly ReceivedResponse[]> {
    await until(() => this.#closedByServer, { what: "the service to close", everyMs: 1 });
    this.#parseBuffered();
    if (this.#buffered.length > 0)
      throw new Error(`left over: ${this.#buffered.toString("latin1").slice(0, 200)}`);
    return this.#responses;
  }

  /** Received bytes that are no complete response yet. */
  get unread(): string {
    this.#parseBuffered();
    return this.#buffered.toString("latin1");
  }

  #parseBuffered(): void {
    if (this.#incoming.length > 0) this.#buffered = Buffer.concat([this.#buffered, ...this.#incoming]);
    this.#incoming = [];
    for (let next = this.#parseResponse(); next; next = this.#parseResponse()) this.#responses.push(next);
  }

  #parseResponse(): ReceivedResponse | undefined {
    const headEnd = this.#buffered.indexOf("\r\n\r\n");
    if (headEnd < 0) return undefined;
    const [line = "", ...headerLines] = this.#buffered.toString("latin1", 0, headEnd).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) [A-Za-z ]*$/.exec(line)?.[1]);
    if (!status) throw new Error(`not a status line: ${line}`);
    const headers = new Map<string, string>();
    for (const line of headerLines) {
      const [, name = "", value = ""] = /^([A-Za-z-]+): ([^\r\n]*)$/.exec(line) ?? [];
      if (name === "" || headers.has(name.toLowerCase())) throw new Error(`not one header: ${line}`);
      headers.set(name.toLowerCase(), value);
    }
    if (status === 100) {
      this.#buffered = this.#buffered.subarray(headEnd + 4);
      return this.#parseResponse();
    }
    const read = this.#parseBody(headEnd + 4, status, headers);
    if (!read) return undefined;
    this.#methods.shift();
    this.#buffered = this.#buffered.subarray(read.end);
    return { status, headers, body: read.body };
  }

  #parseBody(
    from: number,
    status: number,
    headers: ReadonlyMap<string, string>,
  ): { body: string; end: number } | undefined {
    const length = headers.get("content-length");
    const encoding = headers.get("transfer-encoding");
    if (length !== undefined && encoding !== undefined) throw new Error("both a length and chunks");
    if (this.#methods[0] === "HEAD" || status === 204 || status === 304) return { body: "", end: from };
    if (encoding === "chunked") return this.#parseChunks(from);
    if (length === undefined) {
      if (headers.get("connection") !== "close") throw new Error("a body without an end");
      return this.#closedByServer
        ? { body: this.#buffered.toString("latin1", from), end: this.#buffered.length }
        : undefined;
    }
    const end = from + Number(length);
    return this.#buffered.length < end
      ? undefined
      : { body: this.#buffered.toString("latin1", from, end), end };
  }

  #parseChunks(from: number): { body: string; end: number } | undefined {
    let body = "";
    for (let at = from; ; ) {
      const line = this.#buffered.indexOf("\r\n", at);
      if (line < 0) return undefined;
      const digits = this.#buffered.toString("latin1", at, line);
      if (!/^[0-9a-f]+$/.test(digits)) throw new Error(`not the size of a chunk: ${digits}`);
      const size = Number.parseInt(digits, 16);
      const end = line + 2 + size;
      if (this.#buffered.length < end + 2) return undefined;
      if (this.#buffered.toString("latin1", end, end + 2) !== "\r\n")
        throw new Error("a chunk without its end");
      body += this.#buffered.toString("latin1", line + 2, end);
      at = end + 2;
      if (size === 0) return { body, end: at };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
  }
}
