/**
 * One HTTP/1.1 connection: parses requests, calls the handler, sends the responses in the order of the requests.
 *
 * One request is handled at a time. While a response is in flight, pipelined requests stay unparsed, and a body is
 * produced no faster than the socket accepts it, so a slow client costs a bounded amount of memory. In one turn of the
 * event loop a connection does a bounded amount of work (`turn-queue.ts`). An error on a connection closes that
 * connection and affects no other.
 */
import type { SharedMemory } from "../lib/memory-budget.ts";
import { type BodySource, isBodySource } from "./body-source.ts";
import {
  type ClientCertificate,
  ClientGone,
  type ConnectionInfo,
  type ConnectionOrigin,
  type Handler,
  type ServerContext,
  type Socket,
} from "./handler.ts";
import { ParseError, type Request, UNPARSED_REQUEST } from "./request.ts";
import { MAX_BODY_BYTES, MAX_REFUSED_BODY_BYTES, RequestParser } from "./request-parser.ts";
import type { Response } from "./response.ts";
import { ResponseWriter } from "./response-writer.ts";
import {
  byteLength,
  isCopied,
  joinHeadAndBody,
  SerializedResponse,
  serializeTimedHead,
  statusAllowsBody,
} from "./serialized-response.ts";
import { TurnShare, type TurnTaker } from "./turn-queue.ts";

/* The framing of a response body (RFC 9112, 6.3): its end is determined by a length, chunks, or the end of the connection. */

interface ResponseFraming {
  /** A complete body. At most one of `bytes` and `source` is set. */
  readonly bytes: string | Uint8Array | undefined;
  /** The length of `bytes` in bytes. */
  readonly length: number;
  readonly source: BodySource | undefined;
  readonly chunked: boolean;
  /** Whether the end of the connection is the end of the body, because there are neither a length nor chunks. */
  readonly untilClose: boolean;
  /** The header line that declares the framing; empty if the response needs none or sets it itself. */
  readonly headerLine: string;
}

function frameResponse(request: Request, response: Response): ResponseFraming {
  const { body, status, headers } = response;
  const source = body !== null && typeof body === "object" && isBodySource(body) ? body : undefined;
  const bytes = typeof body === "string" || body instanceof Uint8Array ? body : undefined;
  const length = bytes === undefined ? 0 : byteLength(bytes);
  // A relayed response to HEAD has neither a body nor a length, though the response to GET has both.
  const lengthUnknown =
    source !== undefined || (body === null && request.method === "HEAD" && statusAllowsBody(status));
  const hasLength = !lengthUnknown || "Content-Length" in headers;
  const chunked = !hasLength && !request.isHttp10;
  const headerLine = chunked
    ? "Transfer-Encoding: chunked\r\n"
    : lengthUnknown || !statusAllowsBody(status) || "Content-Length" in headers
      ? ""
      : `Content-Length: ${length}\r\n`;
  return { bytes, length, source, chunked, untilClose: !hasLength && !chunked, headerLine };
}

/*
 * Detects clients that read a response too slowly. Counts the bytes that the socket accepts over windows of 30 s in which
 * the socket was full at every check. Shorter windows would give wrong rates, because a client's kernel announces free
 * space in steps of several kB.
 */

const WINDOW_MS = 30_000;

class ReadRate {
  readonly #writer: ResponseWriter;
  #windowStart: number | undefined;
  #bytesBefore = 0;

  constructor(writer: ResponseWriter) {
    this.#writer = writer;
  }

  /**
   * Must be called periodically while the socket is full. Returns the result of the window that ends now, or undefined if
   * none ends now or there is no minimum.
   */
  check(now: number, minBytesPerSecond: number): "slow" | "progress" | undefined {
    if (minBytesPerSecond === 0) return undefined;
    if (this.#windowStart === undefined) this.#startWindow(now);
    const elapsedMs = now - (this.#windowStart ?? now);
    if (elapsedMs < WINDOW_MS) return undefined;
    // The runtime reports a socket as writable only when much of its buffer is free, so the socket may accept bytes of a
    // slow client although it was not reported as writable.
    this.#writer.flush();
    const bytes = this.#writer.acceptedBytes - this.#bytesBefore;
    this.#startWindow(now);
    if (!this.#writer.blocked) return "progress";
    return (bytes * 1000) / elapsedMs < minBytesPerSecond ? "slow" : "progress";
  }

  /** Called when the socket is not full. */
  reset(): void {
    this.#windowStart = undefined;
  }

  #startWindow(now: number): void {
    this.#windowStart = now;
    this.#bytesBefore = this.#writer.acceptedBytes;
  }
}

/*
 * Pauses and resumes the reading from a socket. Counts the bytes that are read and discarded, and reports the bytes that an
 * anonymous connection holds to the account of all such connections.
 */

/** Number of bytes that are read and discarded after the last response. */
const MAX_DISCARDED_BYTES = 1024 * 1024;

class ReadControl {
  readonly #socket: Pick<Socket, "pause" | "resume">;
  readonly #context: Pick<ServerContext, "onAnonymousBytes">;
  #paused = false;
  #closed = false;
  #discardedBytes = 0;
  #heldBytes = 0;

  constructor(socket: Pick<Socket, "pause" | "resume">, context: Pick<ServerContext, "onAnonymousBytes">) {
    this.#socket = socket;
    this.#context = context;
  }

  pause(): void {
    if (this.#paused || this.#closed) return;
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused || this.#closed) return;
    this.#paused = false;
    this.#socket.resume();
  }

  /** Counts discarded bytes. Returns whether there are more than allowed. */
  discard(length: number): boolean {
    this.#discardedBytes += length;
    return this.#discardedBytes > MAX_DISCARDED_BYTES;
  }

  /** Counts discarded bytes from 0 again, because the last response is sent and all further bytes are discarded. */
  restartDiscarding(): void {
    this.#discardedBytes = 0;
  }

  /** Sets the number of bytes that the connection holds while it is anonymous. May close connections, also this one. */
  setHeld(bytes: number): void {
    const change = bytes - this.#heldBytes;
    this.#heldBytes = bytes;
    if (change !== 0) this.#context.onAnonymousBytes(change);
  }

  close(): void {
    this.#closed = true;
    this.setHeld(0);
  }
}

/** Number of pipelined bytes beyond which a client is not read from until some of its requests are handled. */
const AUTHENTICATED_PIPELINED_BYTES = 256 * 1024;
const ANONYMOUS_PIPELINED_BYTES = 64 * 1024;
/** The response that is being written. One for all connections, because the socket copies what it accepts. */
const output = Buffer.allocUnsafeSlow(64 * 1024);
/** Size up to which a body is written there, which leaves more than enough for the head. */
const MAX_BODY_AT_ONCE_BYTES = output.length / 2;
const NOTHING = (): void => {};
const CONTINUE_RESPONSE = "HTTP/1.1 100 Continue\r\n\r\n";

/** The state of a connection. In "lingering" the last response is sent and the client has not closed its side yet. */
type State = "idle" | "responding" | "lingering" | "closed";

export class Connection implements ConnectionInfo, TurnTaker {
  readonly remoteAddress: string;
  readonly isOwnProcess: boolean;
  readonly clientCertificate: ClientCertificate | undefined;
  readonly gone = new ClientGone();
  readonly #socket: Socket;
  readonly #context: ServerContext;
  readonly #handler: Handler;
  readonly #writer: ResponseWriter;
  readonly #turn: TurnShare;
  readonly #reading: ReadControl;
  readonly #readRate: ReadRate;
  readonly #parser: RequestParser;
  /** Called when the bytes of a complete response that the socket did not accept are sent, or the client is gone. */
  #releaseUnsent = NOTHING;
  #state: State = "idle";
  #authenticated = false;
  /** Whether its responses count as in flight. Those on the Unix socket do not, because the reader process counts them. */
  #isCounted = false;
  /** Whether the credentials of the last request with a body were valid. */
  #requestAuthenticated = false;
  #headStarted = false;
  #closeAfterCurrent = false;
  #clientEnded = false;
  #deadline: number;

  constructor(socket: Socket, context: ServerContext, origin: ConnectionOrigin, handler = context.handler) {
    this.#handler = handler;
    this.remoteAddress = origin.remoteAddress;
    this.isOwnProcess = origin.isOwnProcess;
    this.clientCertificate = origin.clientCertificate;
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
    this.#reading = new ReadControl(socket, context);
    this.#readRate = new ReadRate(this.#writer);
    this.#parser = new RequestParser(context.limits);
    this.#turn = new TurnShare(context.anonymousTurns);
    this.#deadline = context.monotonic() + context.limits.idleTimeoutMs;
  }

  get inFlight(): number {
    return this.#context.inFlight - (this.#isCounted && this.#state === "responding" ? 1 : 0);
  }

  markAuthenticated(): void {
    this.#requestAuthenticated = true;
    if (this.#authenticated) return;
    this.#authenticated = true;
    this.#turn.onAuthenticated(this.#context.authenticatedTurns);
    this.#isCounted = !this.isOwnProcess;
    if (this.#isCounted && this.#state === "responding") this.#context.inFlight++;
    this.#context.onAuthenticated(this);
  }

  get aborted(): boolean {
    return this.#state === "closed";
  }

  onData(bytes: Buffer): void {
    if (this.#closeAfterCurrent || this.#state === "lingering") this.#discard(bytes.length);
    else if (this.#state === "responding" || this.#turn.waiting) this.#parser.push(bytes);
    else if (this.#state === "idle") {
      this.#turn.start();
      const repeated = this.#parser.matchRepeat(bytes);
      if (repeated && this.#turn.take()) this.#handleRequest(repeated);
      else {
        if (this.#parser.inBody) this.#extendDeadline(this.#context.limits.idleTimeoutMs);
        this.#parser.push(bytes);
        this.#handleBuffered();
      }
    }
    this.#limitBuffer();
  }

  /** Whether received bytes wait to be handled. */
  get holdsBytes(): boolean {
    return this.#parser.heldBytes > 0;
  }

  /** Called when the socket accepts bytes again. */
  onDrain(): void {
    if (this.#state !== "responding") return;
    this.#extendDeadline(this.#context.limits.idleTimeoutMs);
    this.#turn.start();
    this.#writer.flush();
  }

  /** Called when the client has closed its sending side. It still gets the responses to its requests, except event streams. */
  onEnd(): void {
    this.#clientEnded = true;
    this.gone.report();
    this.#turn.start();
    if (this.#state === "idle") this.#handleBuffered();
    else if (this.#state === "lingering" || this.#writer.noTimeout) this.destroy();
  }

  onClose(): void {
    if (this.#state === "responding" && this.#isCounted) this.#context.inFlight--;
    this.#state = "closed";
    this.#reading.close();
    this.#writer.abort();
    this.#forgetUnsent();
    this.gone.report();
  }

  /** Called in a later turn of the event loop. The connection may continue with its buffered bytes. */
  onTurn(): void {
    this.#turn.onTurn();
    if (this.#state === "idle") this.#guard(() => this.#handleBuffered());
    else if (this.#state === "lingering" && this.#turn.take()) this.#reading.resume();
  }

  /**
   * Closes the connection at once to make room for another one. Returns false if a request is being served. A request of an
   * anonymous client that does not read its response does not count as being served.
   */
  evict(): boolean {
    const isServed =
      this.#state === "responding"
        ? this.#authenticated || !this.#writer.blocked
        : this.#authenticated && this.#turn.waiting;
    if (isServed || this.#state === "closed") return false;
    if (this.#authenticated) this.#socket.end();
    else this.#socket.terminate();
    return true;
  }

  /** Closes the connection at once if it is idle, otherwise when the response in flight is sent. */
  closeAfterResponse(): void {
    this.#closeAfterCurrent = true;
    if (this.#state === "idle") this.#close();
  }

  /** Closes the connection now. A response that was written completely still reaches a slow client. */
  destroy(): void {
    if (this.#state === "lingering") this.#socket.end();
    else this.#socket.terminate();
  }

  /** Called periodically by the listener. */
  checkTimeout(now: number): void {
    const { minReadBytesPerSecond, idleTimeoutMs } = this.#context.limits;
    if (this.#state === "responding") {
      // Neither a slow handler nor an event stream without events closes a connection, but a client that does not read does.
      if (this.#writer.noTimeout || !this.#writer.blocked) {
        this.#readRate.reset();
        this.#extendDeadline(idleTimeoutMs);
        return;
      }
      const rate = this.#readRate.check(now, minReadBytesPerSecond);
      if (rate === "progress") this.#extendDeadline(idleTimeoutMs);
      if (rate === "slow") {
        this.#context.counters.slowReaders++;
        this.destroy();
      }
    }
    if (now >= this.#deadline) this.#guard(() => this.#onTimeout());
  }

  #onTimeout(): void {
    if (this.#state !== "idle") this.destroy();
    else if (this.#headStarted)
      this.#respondToParseError(new ParseError("request-timeout", "The request did not come to its end."));
    else this.#close();
  }

  #extendDeadline(ms: number): void {
    this.#deadline = this.#context.monotonic() + ms;
  }

  /** Discards bytes. While lingering, it reads once in each turn and disconnects a client that sends too many. */
  #discard(length: number): void {
    const isTooMuch = this.#reading.discard(length);
    if (this.#state === "lingering") {
      this.#reading.pause();
      if (isTooMuch) this.destroy();
      else this.#turn.wait(this);
    } else if (isTooMuch) this.#pauseReading();
  }

  #pauseReading(): void {
    // Requests after an event stream, which does not end, would never be handled.
    if (this.#writer.noTimeout) this.destroy();
    else this.#reading.pause();
  }

  /** Handles buffered requests until a response cannot be sent at once, or until the quota of this turn is used up. */
  #handleBuffered(): void {
    while (this.#state === "idle" && !this.#turn.waiting) {
      if (!this.#parser.hasWork) {
        this.#awaitMoreBytes();
        break;
      }
      if (!this.#turn.take()) {
        this.#turn.wait(this);
        break;
      }
      if (this.#parser.inBody) this.#skipBody();
      else this.#handleNext();
    }
    this.#limitBuffer();
  }

  #limitBuffer(): void {
    if (this.#closeAfterCurrent || (this.#state !== "idle" && this.#state !== "responding")) return;
    const { bufferedBytes, heldBytes } = this.#parser;
    const max = this.#authenticated ? AUTHENTICATED_PIPELINED_BYTES : ANONYMOUS_PIPELINED_BYTES;
    if (bufferedBytes > max && bufferedBytes > max + this.#context.limits.maxHeadBytes) this.#pauseReading();
    else this.#reading.resume();
    this.#reading.setHeld(this.#authenticated ? 0 : heldBytes);
  }

  #handleNext(): void {
    const request = this.#parser.next();
    if (request instanceof ParseError) this.#respondToParseError(request);
    else if (request) this.#handleRequest(request);
  }

  /**
   * Skips a part of the body. The response to the request is sent already, so a body that is malformed or too long closes
   * the connection without another response.
   */
  #skipBody(): void {
    const error = this.#parser.skipBody();
    if (this.#parser.bodyExceeded) this.#context.counters.longBodies++;
    if (error || this.#parser.bodyExceeded) this.closeAfterResponse();
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
    if (request.bodyLength !== 0) this.#requestAuthenticated = false;
    const response = this.#callHandler(request);
    if (response instanceof SerializedResponse) {
      this.#send(response.serialize(this.#context.now()));
      if (this.#writer.busy) this.#countUnsent(request, response.shared);
    } else if (response instanceof Promise) {
      this.#markInFlight();
      response
        .catch((error: unknown) => this.#handler.onError(error))
        .then((resolved) => {
          this.#respond(request, resolved);
          this.#handleBuffered();
        })
        .catch((error: unknown) => this.#onInternalError(error));
    } else this.#respond(request, response);
  }

  #callHandler(request: Request): SerializedResponse | Response | Promise<Response> {
    try {
      return this.#handler.handle(request, this);
    } catch (error) {
      return this.#handler.onError(error);
    }
  }

  #respondToParseError(error: ParseError): void {
    this.#headStarted = false;
    this.#closeAfterCurrent = true;
    this.#respond(UNPARSED_REQUEST, this.#handler.onParseError(error));
  }

  #respond(request: Request, response: Response): void {
    if (response.writeHead && this.#state !== "closed" && this.#respondAtOnce(request, response)) return;
    const { bytes, length, source, chunked, untilClose, headerLine } = frameResponse(request, response);
    if (this.#state === "closed") {
      source?.close();
      return;
    }
    this.#closeAfterCurrent ||= !request.keepAlive || this.#context.stopping || untilClose;
    if (request.bodyLength !== 0) this.#limitBody(request);
    let head: string;
    try {
      head = `${this.#serializeHead(request, response)}${headerLine}\r\n`;
    } catch (error) {
      source?.close();
      this.#respond(request, this.#handler.onError(error));
      return;
    }
    if (request.method === "HEAD") {
      source?.close();
      this.#send(joinHeadAndBody(head));
    } else this.#send(joinHeadAndBody(head, bytes, length), source, chunked);
    if (!source && this.#writer.busy)
      this.#countUnsent(request, isCopied(length) ? undefined : response.shared);
  }

  /** Sends a small response whose head is not built from headers. Returns false if it is not one. */
  #respondAtOnce(request: Request, response: Response): boolean {
    const { body } = response;
    const isComplete = body === null || typeof body === "string" || body instanceof Uint8Array;
    if (!isComplete || !request.isPlainGet || this.#closeAfterCurrent || this.#context.stopping) return false;
    const length = body === null ? 0 : byteLength(body);
    if (length > MAX_BODY_AT_ONCE_BYTES) return false;
    const start = response.writeHead?.(output, length, this.#context.now()) ?? 0;
    if (typeof body === "string") output.write(body, start);
    else if (body) output.set(body, start);
    if (this.#writer.sendCopy(output, start + length)) this.#onResponseSent();
    else {
      this.#markInFlight();
      this.#countUnsent(request, undefined);
    }
    return true;
  }

  #countUnsent(request: Request, shared: SharedMemory | undefined): void {
    this.#forgetUnsent();
    const { queuedBytes } = this.#writer;
    this.#releaseUnsent = this.#handler.onUnsent?.(request, this, queuedBytes, shared) ?? NOTHING;
  }

  #forgetUnsent(): void {
    const release = this.#releaseUnsent;
    this.#releaseUnsent = NOTHING;
    release();
  }

  /** Decides how much of a request body is skipped, or closes the connection after this response. */
  #limitBody(request: Request): void {
    const maxBytes = this.#requestAuthenticated ? MAX_BODY_BYTES : MAX_REFUSED_BODY_BYTES;
    this.#parser.allowBody(maxBytes);
    const isTooLong = request.bodyLength !== "chunked" && request.bodyLength > maxBytes;
    if (isTooLong) this.#context.counters.longBodies++;
    // Without a 100 response the client may or may not send the body, so the next request could not be found.
    this.#closeAfterCurrent ||= isTooLong || (request.expectsContinue && !this.#requestAuthenticated);
  }

  #serializeHead(request: Request, { status, headers }: Response): string {
    const connection = this.#closeAfterCurrent ? "close" : request.isHttp10 ? "keep-alive" : undefined;
    const head = serializeTimedHead(status, headers, this.#context.now(), this.#handler.commonHeaders);
    const complete = connection === undefined ? head : `${head}Connection: ${connection}\r\n`;
    // The client must send the body, although it is not read, because otherwise the next request could not be found.
    return request.expectsContinue && !this.#closeAfterCurrent ? CONTINUE_RESPONSE + complete : complete;
  }

  #send(parts: readonly Uint8Array[], body?: BodySource, chunked?: boolean): void {
    if (this.#writer.send(parts, body, chunked)) this.#onResponseSent();
    else this.#markInFlight();
    if (this.#clientEnded && this.#writer.noTimeout) this.destroy();
  }

  #markInFlight(): void {
    if (this.#state !== "idle") return;
    this.#state = "responding";
    if (this.#isCounted) this.#context.inFlight++;
    this.#extendDeadline(this.#context.limits.idleTimeoutMs);
  }

  #onResponseSent(): void {
    if (this.#state === "responding") {
      this.#forgetUnsent();
      this.#state = "idle";
      if (this.#isCounted) this.#context.inFlight--;
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
    this.#parser.clear();
    this.#reading.setHeld(0);
    this.#reading.restartDiscarding();
    this.#extendDeadline(this.#context.limits.lingerTimeoutMs);
    this.#reading.resume();
    if (this.#clientEnded) this.#socket.end();
    else this.#socket.shutdown();
  }

  /** Runs callbacks of timers and the writer, whose exceptions nothing else would catch. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#onInternalError(error);
    }
  }

  #onInternalError(error: unknown): void {
    this.#handler.onError(error);
    this.destroy();
  }
}
