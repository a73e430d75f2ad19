/**
 * One HTTP/1.1 connection: parses requests, calls the handler, sends the responses in the order of the requests.
 *
 * One request is handled at a time. While a response is in flight, pipelined requests stay unparsed, and a body is
 * produced no faster than the socket accepts it, so a slow client costs a bounded amount of memory. An error on a
 * connection closes that connection and affects no other.
 */
import { type BodySource, isBodySource } from "./body-source.ts";
import type { ConnectionInfo, ServerContext, Socket } from "./handler.ts";
import { Headers, ParseError, Request } from "./request.ts";
import { RequestParser } from "./request-parser.ts";
import type { Response } from "./response.ts";
import { ResponseWriter } from "./response-writer.ts";
import {
  byteLength,
  dateLine,
  joinHeadAndBody,
  SerializedResponse,
  serializeHead,
  statusAllowsBody,
} from "./serialized-response.ts";

/** A client that has pipelined more than this is not read from until some of its requests are handled. */
const MAX_PIPELINED_BYTES = 256 * 1024;
/** After so many pipelined requests other connections get their turn on the event loop. */
const MAX_REQUESTS_PER_TURN = 64;
const CONTINUE_RESPONSE = "HTTP/1.1 100 Continue\r\n\r\n";

/** Stands in for a request that could not be parsed, to decide how its error response is framed. */
const UNPARSED_REQUEST = new Request("GET", "/", new Headers("", []), 0, false);

/** "lingering": the last response is sent, and the client has not closed its side yet. */
type State = "idle" | "responding" | "lingering" | "closed";

export class Connection implements ConnectionInfo {
  readonly #socket: Socket;
  readonly #context: ServerContext;
  readonly #writer: ResponseWriter;
  readonly #parser: RequestParser;
  #state: State = "idle";
  #headStarted = false;
  #turnScheduled = false;
  #paused = false;
  #closeAfterCurrent = false;
  #clientEnded = false;
  #deadline: number;

  constructor(socket: Socket, context: ServerContext) {
    this.#socket = socket;
    this.#context = context;
    this.#writer = new ResponseWriter(socket, {
      onSent: () =>
        this.#guard(() => {
          this.#onResponseSent();
          this.#handleBuffered();
        }),
      onBodyError: (error) => this.#onInternalError(error),
    });
    this.#parser = new RequestParser(context.limits);
    this.#deadline = context.now() + context.limits.idleTimeoutMs;
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress;
  }

  get inFlight(): number {
    return this.#context.inFlight;
  }

  get isEnded(): boolean {
    return this.#clientEnded || this.#state === "closed";
  }

  onData(bytes: Buffer): void {
    if (this.#state === "idle") {
      const repeated = this.#parser.matchRepeat(bytes);
      if (repeated) this.#handleRequest(repeated);
      else this.#parseAndHandle(bytes);
    } else if (this.#state === "responding" && !this.#closeAfterCurrent) this.#pushBytes(bytes);
    if (this.#parser.bufferedBytes > MAX_PIPELINED_BYTES && !this.#closeAfterCurrent) this.#pauseReading();
  }

  /** The socket accepts bytes again. */
  onDrain(): void {
    if (this.#state !== "responding") return;
    this.#extendDeadline(this.#context.limits.idleTimeoutMs);
    this.#writer.flush();
  }

  /** The client has closed its sending side. It still gets the responses to its requests, except endless ones. */
  onEnd(): void {
    this.#clientEnded = true;
    if (this.#state === "idle") this.#handleBuffered();
    else if (this.#state === "lingering" || this.#writer.noTimeout) this.destroy();
  }

  /** The socket is closed. */
  onClose(): void {
    if (this.#state === "responding") this.#context.inFlight--;
    this.#state = "closed";
    this.#writer.abort();
  }

  /** Returns whether the connection was idle, and so is closing now. */
  closeIfIdle(): boolean {
    if (this.#state !== "idle") return false;
    this.#close();
    return true;
  }

  /** Closes at once when idle, otherwise when the response in flight is sent. */
  closeAfterResponse(): void {
    this.#closeAfterCurrent = true;
    if (this.#state === "idle") this.#close();
  }

  /** Closes now. A response that was written completely still reaches a slow client. */
  destroy(): void {
    if (this.#state === "lingering") this.#socket.end();
    else this.#socket.terminate();
  }

  /** Called periodically by the listener. */
  checkTimeout(now: number): void {
    // A slow handler, and an event stream without events, must not end a connection. A client that does not read must.
    if (this.#state === "responding" && (this.#writer.noTimeout || !this.#writer.blocked))
      this.#extendDeadline(this.#context.limits.idleTimeoutMs);
    else if (now >= this.#deadline) this.#guard(() => this.#onTimeout());
  }

  #onTimeout(): void {
    if (this.#state !== "idle") this.destroy();
    else if (this.#headStarted)
      this.#respondToParseError(new ParseError("request-timeout", "The request did not come to its end."));
    else this.#close();
  }

  #extendDeadline(ms: number): void {
    this.#deadline = this.#context.now() + ms;
  }

  #parseAndHandle(bytes: Buffer): void {
    if (this.#parser.inBody) this.#extendDeadline(this.#context.limits.idleTimeoutMs);
    this.#pushBytes(bytes);
    this.#handleBuffered();
  }

  #pushBytes(bytes: Buffer): void {
    // The error is in the body of a request that is handled already, so its response is sent and is the last one.
    if (this.#parser.push(bytes)) this.closeAfterResponse();
  }

  #pauseReading(): void {
    // Requests behind an endless response would never be handled.
    if (this.#writer.noTimeout) this.destroy();
    else if (!this.#paused && this.#state !== "closed") {
      this.#paused = true;
      this.#socket.pause();
    }
  }

  #resumeReading(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  /** Handles buffered requests until a response cannot be sent at once. */
  #handleBuffered(): void {
    for (let left = MAX_REQUESTS_PER_TURN; left > 0 && this.#state === "idle"; left--) {
      const request = this.#parser.next();
      if (this.#parser.bufferedBytes <= MAX_PIPELINED_BYTES) this.#resumeReading();
      if (request instanceof ParseError) this.#respondToParseError(request);
      else if (request) this.#handleRequest(request);
      else {
        this.#awaitMoreBytes();
        return;
      }
    }
    if (this.#state === "idle") this.#handleBufferedNextTurn();
  }

  #handleBufferedNextTurn(): void {
    if (this.#turnScheduled) return;
    this.#turnScheduled = true;
    setImmediate(() => {
      this.#turnScheduled = false;
      this.#guard(() => this.#handleBuffered());
    });
  }

  #awaitMoreBytes(): void {
    if (this.#clientEnded) this.#socket.end();
    else if (this.#parser.bufferedBytes > 0 && !this.#headStarted) {
      this.#headStarted = true;
      this.#extendDeadline(this.#context.limits.headTimeoutMs);
    }
  }

  #handleRequest(request: Request): void {
    this.#headStarted = false;
    const response = this.#callHandler(request);
    if (response instanceof SerializedResponse) this.#send(response.serialize(this.#context.now()));
    else if (response instanceof Promise) {
      this.#markInFlight();
      response
        .catch((error: unknown) => this.#context.handler.onError(error))
        .then((resolved) => {
          this.#respond(request, resolved);
          this.#handleBuffered();
        })
        .catch((error: unknown) => this.#onInternalError(error));
    } else this.#respond(request, response);
  }

  #callHandler(request: Request): SerializedResponse | Response | Promise<Response> {
    try {
      return this.#context.handler.handle(request, this);
    } catch (error) {
      return this.#context.handler.onError(error);
    }
  }

  #respondToParseError(error: ParseError): void {
    this.#headStarted = false;
    this.#closeAfterCurrent = true;
    this.#respond(UNPARSED_REQUEST, this.#context.handler.onParseError(error));
  }

  #respond(request: Request, response: Response): void {
    const { body } = response;
    const bodySource = body !== null && typeof body === "object" && isBodySource(body) ? body : undefined;
    if (this.#state === "closed") {
      bodySource?.close();
      return;
    }
    // A relayed response to HEAD has neither a body nor a length, though the response to GET has both.
    const lengthUnknown =
      bodySource !== undefined ||
      (body === null && request.method === "HEAD" && statusAllowsBody(response.status));
    const hasLength = !lengthUnknown || "Content-Length" in response.headers;
    const chunked = !hasLength && !request.isHttp10;
    // Without a length and without chunks, the end of the connection is the end of the body.
    this.#closeAfterCurrent ||= !request.keepAlive || this.#context.stopping || !(hasLength || chunked);
    const bytes = typeof body === "string" || body instanceof Uint8Array ? body : undefined;
    const framing = chunked
      ? "Transfer-Encoding: chunked\r\n"
      : lengthUnknown
        ? ""
        : contentLengthLine(response, bytes);
    let head: string;
    try {
      head = `${this.#serializeHead(request, response)}${framing}\r\n`;
    } catch (error) {
      bodySource?.close();
      this.#respond(request, this.#context.handler.onError(error));
      return;
    }
    if (request.method === "HEAD") {
      bodySource?.close();
      this.#send(joinHeadAndBody(head));
    } else this.#send(joinHeadAndBody(head, bytes), bodySource, chunked);
  }

  #serializeHead(request: Request, { status, headers }: Response): string {
    const connection = this.#closeAfterCurrent ? "close" : request.isHttp10 ? "keep-alive" : undefined;
    const head =
      serializeHead(status, headers, this.#context.handler.commonHeaders) + dateLine(this.#context.now());
    const complete = connection === undefined ? head : `${head}Connection: ${connection}\r\n`;
    // The body must come, even though it is not read: otherwise the next request could not be found behind it.
    return request.expectsContinue ? CONTINUE_RESPONSE + complete : complete;
  }

  #send(parts: readonly Uint8Array[], body?: BodySource, chunked?: boolean): void {
    if (this.#writer.send(parts, body, chunked)) this.#onResponseSent();
    else this.#markInFlight();
    if (this.#clientEnded && this.#writer.noTimeout) this.destroy();
  }

  #markInFlight(): void {
    if (this.#state !== "idle") return;
    this.#state = "responding";
    this.#context.inFlight++;
    this.#extendDeadline(this.#context.limits.idleTimeoutMs);
  }

  #onResponseSent(): void {
    if (this.#state === "responding") {
      this.#state = "idle";
      this.#context.inFlight--;
    }
    this.#extendDeadline(this.#context.limits.idleTimeoutMs);
    if (this.#closeAfterCurrent) this.#close();
  }

  /**
   * Closes the sending side and keeps reading for a while. A full close while the client still sends would make the
   * kernel reset the connection, and the client could lose the last response.
   */
  #close(): void {
    this.#state = "lingering";
    this.#extendDeadline(this.#context.limits.lingerTimeoutMs);
    this.#resumeReading();
    if (this.#clientEnded) this.#socket.end();
    else this.#socket.shutdown();
  }

  /** For callbacks of timers and the writer, whose exceptions nobody would catch. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#onInternalError(error);
    }
  }

  #onInternalError(error: unknown): void {
    this.#context.handler.onError(error);
    this.destroy();
  }
}

function contentLengthLine({ status, headers }: Response, body: string | Uint8Array | undefined): string {
  if (!statusAllowsBody(status) || "Content-Length" in headers) return "";
  return `Content-Length: ${body === undefined ? 0 : byteLength(body)}\r\n`;
}
