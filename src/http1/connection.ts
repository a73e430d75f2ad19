/**
 * One connection: requests in, one at a time, and their answers out, in order. While an answer is under way nothing
 * more is read from what the client sent ahead, and never is more made of an answer than the socket takes. Whatever
 * goes wrong costs this connection and no other.
 */

import { type BodySource, isBodySource } from "./body-source.ts";
import { Headers, ParseError, Request } from "./request.ts";
import { type HeadLimits, RequestParser } from "./request-parser.ts";
import type { Response } from "./response.ts";
import { type ByteSink, ResponseWriter } from "./response-writer.ts";
import {
  dateLine,
  hasBody,
  headText,
  lengthOf,
  SerializedResponse,
  together,
} from "./serialized-response.ts";

export interface Handler {
  handle(request: Request, connection: Connection): SerializedResponse | Response | Promise<Response>;
  /** To a request that cannot be read. */
  onParseError(fault: ParseError): Response;
  /** To what went wrong in answering; it is heard even where nobody can be answered any more. Never throws. */
  onError(error: unknown): Response;
}

/** What a connection is one of. */
export interface ServerContext {
  readonly handler: Handler;
  readonly limits: ConnectionLimits;
  readonly stopping: boolean;
  /** Answers that are not sent to their end. */
  inFlight: number;
  now(): number;
}

/** What a connection needs of its socket. */
export interface Socket extends ByteSink {
  readonly remoteAddress: string;
  /** Closes; what the system holds of what was written is still sent. */
  end(): void;
  /** Says that nothing more comes; what comes from there can still be read. */
  shutdown(): void;
  /** Closes without another word, and what is on its way is lost. */
  terminate(): void;
  /** Reads nothing until it resumes. */
  pause(): void;
  resume(): void;
}

export interface ConnectionLimits extends HeadLimits {
  /** Open ones, before the oldest idle one has to leave for another. */
  readonly connections: number;
  readonly idleMs: number;
  /** From the first byte of a head to its last. */
  readonly headMs: number;
  /** For what is still on its way when we have said that we close. */
  readonly lingerMs: number;
}

/** With so much sent ahead a client is not listened to until it has had some answers. */
const MAX_AHEAD = 256 * 1024;
/** After so many requests in a row the others get their turn. */
const TURN_REQUESTS = 64;
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/** Of what could not be read, all that counts for its answer. */
const UNREADABLE = new Request("GET", "/", new Headers("", []), 0, false);

type State = "idle" | "answering" | "lingering" | "closed";

export class Connection {
  readonly #socket: Socket;
  readonly #context: ServerContext;
  readonly #writer: ResponseWriter;
  readonly #parser: RequestParser;
  #state: State = "idle";
  #headBegun = false;
  #turnDue = false;
  #paused = false;
  #closesAfter = false;
  #clientEnded = false;
  #deadline: number;

  constructor(socket: Socket, context: ServerContext) {
    this.#socket = socket;
    this.#context = context;
    this.#writer = new ResponseWriter(socket, {
      sent: () =>
        this.#safely(() => {
          this.#sent();
          this.#goOn();
        }),
      failed: (error) => this.#fault(error),
    });
    this.#parser = new RequestParser(context.limits);
    this.#deadline = context.now() + context.limits.idleMs;
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress;
  }

  /** How many answers of all connections are under way. */
  get inFlight(): number {
    return this.#context.inFlight;
  }

  received(bytes: Buffer): void {
    if (this.#state === "idle") {
      const again = this.#parser.repeated(bytes);
      if (again) this.#answer(again);
      else this.#heard(bytes);
    } else if (this.#state === "answering" && !this.#closesAfter) this.#add(bytes);
    if (this.#parser.size > MAX_AHEAD && !this.#closesAfter) this.#holdBack();
  }

  /** The socket takes more again. */
  drained(): void {
    if (this.#state !== "answering") return;
    this.#wait(this.#context.limits.idleMs);
    this.#writer.flush();
  }

  /** The client says that it sends nothing more. It gets what it has asked for, unless that would never end. */
  ended(): void {
    this.#clientEnded = true;
    if (this.#state === "idle") this.#goOn();
    else if (this.#state === "lingering" || this.#writer.noTimeout) this.destroy();
  }

  /** The socket is gone. */
  closed(): void {
    if (this.#state === "answering") this.#context.inFlight--;
    this.#state = "closed";
    this.#writer.abandon();
  }

  /** Closes if nothing is under way; whether it did. */
  closeIfIdle(): boolean {
    if (this.#state !== "idle") return false;
    this.#close();
    return true;
  }

  /** Closes when what is under way is sent. */
  closeAfterResponse(): void {
    this.#closesAfter = true;
    if (this.#state === "idle") this.#close();
  }

  /** Closes now. What the system still holds of answers that were given goes on to whoever reads slowly. */
  destroy(): void {
    if (this.#state === "lingering") this.#socket.end();
    else this.#socket.terminate();
  }

  /** Looked at every now and then: whether it has had its time. */
  check(now: number): void {
    // To make an answer slowly, or to have nothing to say, is no fault of the reader's; to take nothing is.
    if (this.#state === "answering" && (this.#writer.noTimeout || !this.#writer.blocked))
      this.#wait(this.#context.limits.idleMs);
    else if (now >= this.#deadline) this.#safely(() => this.#timeIsUp());
  }

  #timeIsUp(): void {
    if (this.#state !== "idle") this.destroy();
    else if (this.#headBegun)
      this.#refuse(new ParseError("request-timeout", "The request did not come to its end."));
    else this.#close();
  }

  #wait(ms: number): void {
    this.#deadline = this.#context.now() + ms;
  }

  #heard(bytes: Buffer): void {
    if (this.#parser.inBody) this.#wait(this.#context.limits.idleMs);
    this.#add(bytes);
    this.#goOn();
  }

  #add(bytes: Buffer): void {
    // A malformed body: its request has its answer, or is about to have it, and is the last.
    if (this.#parser.add(bytes)) this.closeAfterResponse();
  }

  #holdBack(): void {
    if (this.#writer.noTimeout) this.destroy();
    else if (!this.#paused && this.#state !== "closed") {
      this.#paused = true;
      this.#socket.pause();
    }
  }

  #listenAgain(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  /** Answers what has come, until an answer takes its time. */
  #goOn(): void {
    for (let left = TURN_REQUESTS; left > 0 && this.#state === "idle"; left--) {
      const request = this.#parser.next();
      if (this.#parser.size <= MAX_AHEAD) this.#listenAgain();
      if (request instanceof ParseError) this.#refuse(request);
      else if (request) this.#answer(request);
      else {
        this.#waitForMore();
        return;
      }
    }
    if (this.#state === "idle") this.#goOnLater();
  }

  #goOnLater(): void {
    if (this.#turnDue) return;
    this.#turnDue = true;
    setImmediate(() => {
      this.#turnDue = false;
      this.#safely(() => this.#goOn());
    });
  }

  #waitForMore(): void {
    if (this.#clientEnded) this.#socket.end();
    else if (this.#parser.size > 0 && !this.#headBegun) {
      this.#headBegun = true;
      this.#wait(this.#context.limits.headMs);
    }
  }

  #answer(request: Request): void {
    this.#headBegun = false;
    const answer = this.#answerTo(request);
    if (answer instanceof SerializedResponse) this.#send(answer.bytes(this.#context.now()));
    else if (answer instanceof Promise) {
      this.#begin();
      answer
        .catch((error: unknown) => this.#context.handler.onError(error))
        .then((made) => {
          this.#deliver(request, made);
          this.#goOn();
        })
        .catch((error: unknown) => this.#fault(error));
    } else this.#deliver(request, answer);
  }

  #answerTo(request: Request): SerializedResponse | Response | Promise<Response> {
    try {
      return this.#context.handler.handle(request, this);
    } catch (error) {
      return this.#context.handler.onError(error);
    }
  }

  #refuse(fault: ParseError): void {
    this.#headBegun = false;
    this.#closesAfter = true;
    this.#deliver(UNREADABLE, this.#context.handler.onParseError(fault));
  }

  #deliver(request: Request, answer: Response): void {
    const { body } = answer;
    const fed = body !== null && typeof body === "object" && isBodySource(body) ? body : undefined;
    if (this.#state === "closed") {
      fed?.close();
      return;
    }
    // Of what another process was asked for on our behalf, a HEAD has no body here and no length.
    const unsized =
      fed !== undefined || (body === null && request.method === "HEAD" && hasBody(answer.status));
    const counted = !unsized || "Content-Length" in answer.headers;
    const chunked = !counted && !request.isHttp10;
    this.#closesAfter ||= !request.keepAlive || this.#context.stopping || !(counted || chunked);
    const ready = typeof body === "string" || body instanceof Uint8Array ? body : undefined;
    const framing = chunked ? "Transfer-Encoding: chunked\r\n" : unsized ? "" : lengthLine(answer, ready);
    let head: string;
    try {
      head = `${this.#head(request, answer)}${framing}\r\n`;
    } catch (error) {
      fed?.close();
      this.#deliver(request, this.#context.handler.onError(error));
      return;
    }
    if (request.method === "HEAD") {
      fed?.close();
      this.#send(together(head));
    } else this.#send(together(head, ready), fed, chunked);
  }

  #head(request: Request, { status, headers }: Response): string {
    const connection = this.#closesAfter ? "close" : request.isHttp10 ? "keep-alive" : undefined;
    const head = headText(status, headers) + dateLine(this.#context.now());
    const whole = connection === undefined ? head : `${head}Connection: ${connection}\r\n`;
    // Whoever waits for this sends its body then, and it can be told from what comes after it.
    return request.expectsContinue ? CONTINUE + whole : whole;
  }

  #send(parts: readonly Uint8Array[], feed?: BodySource, chunked?: boolean): void {
    if (this.#writer.send(parts, feed, chunked)) this.#sent();
    else this.#begin();
    if (this.#clientEnded && this.#writer.noTimeout) this.destroy();
  }

  #begin(): void {
    if (this.#state !== "idle") return;
    this.#state = "answering";
    this.#context.inFlight++;
    this.#wait(this.#context.limits.idleMs);
  }

  #sent(): void {
    if (this.#state === "answering") {
      this.#state = "idle";
      this.#context.inFlight--;
    }
    this.#wait(this.#context.limits.idleMs);
    if (this.#closesAfter) this.#close();
  }

  /** Says that nothing more comes, and reads on for a while: to close on a client that still sends would undo our answer. */
  #close(): void {
    this.#state = "lingering";
    this.#wait(this.#context.limits.lingerMs);
    this.#listenAgain();
    if (this.#clientEnded) this.#socket.end();
    else this.#socket.shutdown();
  }

  /** For what is called from where nobody would catch it. */
  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fault(error);
    }
  }

  #fault(error: unknown): void {
    this.#context.handler.onError(error);
    this.destroy();
  }
}

function lengthLine({ status, headers }: Response, body: string | Uint8Array | undefined): string {
  if (!hasBody(status) || "Content-Length" in headers) return "";
  return `Content-Length: ${body === undefined ? 0 : lengthOf(body)}\r\n`;
}
