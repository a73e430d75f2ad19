/**
 * One connection: requests in, one at a time, and their answers out, in order. While an answer is under way nothing
 * more is read from what the client sent ahead, and never is more made of an answer than the socket takes. Whatever
 * goes wrong costs this connection and no other.
 */

import { type Feed, isFeed } from "./body-source.ts";
import { Fault, Fields, Incoming } from "./request.ts";
import { type HeadLimits, Inbox } from "./request-parser.ts";
import type { Answer } from "./response.ts";
import { Outbox, type Sink } from "./response-writer.ts";
import { dateLine, hasBody, headText, lengthOf, Message, together } from "./serialized-response.ts";

export interface Handler {
  respond(request: Incoming, connection: Connection): Message | Answer | Promise<Answer>;
  /** To a request that cannot be read. */
  refuse(fault: Fault): Answer;
  /** To what went wrong in answering; it is heard even where nobody can be answered any more. Never throws. */
  failed(error: unknown): Answer;
}

/** What a connection is one of. */
export interface House {
  readonly handler: Handler;
  readonly limits: WireLimits;
  readonly stopping: boolean;
  /** Answers that are not sent to their end. */
  underWay: number;
  now(): number;
}

/** What a connection needs of its socket. */
export interface Line extends Sink {
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

export interface WireLimits extends HeadLimits {
  /** Open ones, before the oldest idle one has to leave for another. */
  readonly connections: number;
  readonly idleMs: number;
  /** From the first byte of a head to its last. */
  readonly headMs: number;
  /** For what is still on its way when we have said that we close. */
  readonly lingerMs: number;
}

/** With so much sent ahead a client is not listened to until it has had some answers. */
const MOST_AHEAD = 256 * 1024;
/** After so many requests in a row the others get their turn. */
const TURN_REQUESTS = 64;
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/** Of what could not be read, all that counts for its answer. */
const UNREADABLE = new Incoming("GET", "/", new Fields("", []), 0, false);

type State = "idle" | "answering" | "lingering" | "closed";

export class Connection {
  readonly #line: Line;
  readonly #house: House;
  readonly #outbox: Outbox;
  readonly #inbox: Inbox;
  #state: State = "idle";
  #headBegun = false;
  #turnDue = false;
  #paused = false;
  #closesAfter = false;
  #clientEnded = false;
  #deadline: number;

  constructor(line: Line, house: House) {
    this.#line = line;
    this.#house = house;
    this.#outbox = new Outbox(line, {
      sent: () =>
        this.#safely(() => {
          this.#sent();
          this.#goOn();
        }),
      failed: (error) => this.#fault(error),
    });
    this.#inbox = new Inbox(house.limits);
    this.#deadline = house.now() + house.limits.idleMs;
  }

  get client(): string {
    return this.#line.remoteAddress;
  }

  /** How many answers of all connections are under way. */
  get underWay(): number {
    return this.#house.underWay;
  }

  received(bytes: Buffer): void {
    if (this.#state === "idle") {
      const again = this.#inbox.repeated(bytes);
      if (again) this.#answer(again);
      else this.#heard(bytes);
    } else if (this.#state === "answering" && !this.#closesAfter) this.#add(bytes);
    if (this.#inbox.size > MOST_AHEAD && !this.#closesAfter) this.#holdBack();
  }

  /** The socket takes more again. */
  drained(): void {
    if (this.#state !== "answering") return;
    this.#wait(this.#house.limits.idleMs);
    this.#outbox.flush();
  }

  /** The client says that it sends nothing more. It gets what it has asked for, unless that would never end. */
  ended(): void {
    this.#clientEnded = true;
    if (this.#state === "idle") this.#goOn();
    else if (this.#state === "lingering" || this.#outbox.patient) this.cut();
  }

  /** The socket is gone. */
  closed(): void {
    if (this.#state === "answering") this.#house.underWay--;
    this.#state = "closed";
    this.#outbox.abandon();
  }

  /** Closes if nothing is under way; whether it did. */
  leave(): boolean {
    if (this.#state !== "idle") return false;
    this.#close();
    return true;
  }

  /** Closes when what is under way is sent. */
  retire(): void {
    this.#closesAfter = true;
    if (this.#state === "idle") this.#close();
  }

  /** Closes now. What the system still holds of answers that were given goes on to whoever reads slowly. */
  cut(): void {
    if (this.#state === "lingering") this.#line.end();
    else this.#line.terminate();
  }

  /** Looked at every now and then: whether it has had its time. */
  check(now: number): void {
    // To make an answer slowly, or to have nothing to say, is no fault of the reader's; to take nothing is.
    if (this.#state === "answering" && (this.#outbox.patient || !this.#outbox.blocked))
      this.#wait(this.#house.limits.idleMs);
    else if (now >= this.#deadline) this.#safely(() => this.#timeIsUp());
  }

  #timeIsUp(): void {
    if (this.#state !== "idle") this.cut();
    else if (this.#headBegun)
      this.#refuse(new Fault("request-timeout", "The request did not come to its end."));
    else this.#close();
  }

  #wait(ms: number): void {
    this.#deadline = this.#house.now() + ms;
  }

  #heard(bytes: Buffer): void {
    if (this.#inbox.inBody) this.#wait(this.#house.limits.idleMs);
    this.#add(bytes);
    this.#goOn();
  }

  #add(bytes: Buffer): void {
    // A malformed body: its request has its answer, or is about to have it, and is the last.
    if (this.#inbox.add(bytes)) this.retire();
  }

  #holdBack(): void {
    if (this.#outbox.patient) this.cut();
    else if (!this.#paused && this.#state !== "closed") {
      this.#paused = true;
      this.#line.pause();
    }
  }

  #listenAgain(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#line.resume();
  }

  /** Answers what has come, until an answer takes its time. */
  #goOn(): void {
    for (let left = TURN_REQUESTS; left > 0 && this.#state === "idle"; left--) {
      const request = this.#inbox.next();
      if (this.#inbox.size <= MOST_AHEAD) this.#listenAgain();
      if (request instanceof Fault) this.#refuse(request);
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
    if (this.#clientEnded) this.#line.end();
    else if (this.#inbox.size > 0 && !this.#headBegun) {
      this.#headBegun = true;
      this.#wait(this.#house.limits.headMs);
    }
  }

  #answer(request: Incoming): void {
    this.#headBegun = false;
    const answer = this.#answerTo(request);
    if (answer instanceof Message) this.#send(answer.bytes(this.#house.now()));
    else if (answer instanceof Promise) {
      this.#begin();
      answer
        .catch((error: unknown) => this.#house.handler.failed(error))
        .then((made) => {
          this.#deliver(request, made);
          this.#goOn();
        })
        .catch((error: unknown) => this.#fault(error));
    } else this.#deliver(request, answer);
  }

  #answerTo(request: Incoming): Message | Answer | Promise<Answer> {
    try {
      return this.#house.handler.respond(request, this);
    } catch (error) {
      return this.#house.handler.failed(error);
    }
  }

  #refuse(fault: Fault): void {
    this.#headBegun = false;
    this.#closesAfter = true;
    this.#deliver(UNREADABLE, this.#house.handler.refuse(fault));
  }

  #deliver(request: Incoming, answer: Answer): void {
    const { body } = answer;
    const fed = body !== null && typeof body === "object" && isFeed(body) ? body : undefined;
    if (this.#state === "closed") {
      fed?.close();
      return;
    }
    // Of what another process was asked for on our behalf, a HEAD has no body here and no length.
    const unsized =
      fed !== undefined || (body === null && request.method === "HEAD" && hasBody(answer.status));
    const counted = !unsized || "Content-Length" in answer.headers;
    const chunked = !counted && !request.old;
    this.#closesAfter ||= !request.keepsOpen || this.#house.stopping || !(counted || chunked);
    const ready = typeof body === "string" || body instanceof Uint8Array ? body : undefined;
    const framing = chunked ? "Transfer-Encoding: chunked\r\n" : unsized ? "" : lengthLine(answer, ready);
    let head: string;
    try {
      head = `${this.#head(request, answer)}${framing}\r\n`;
    } catch (error) {
      fed?.close();
      this.#deliver(request, this.#house.handler.failed(error));
      return;
    }
    if (request.method === "HEAD") {
      fed?.close();
      this.#send(together(head));
    } else this.#send(together(head, ready), fed, chunked);
  }

  #head(request: Incoming, { status, headers }: Answer): string {
    const connection = this.#closesAfter ? "close" : request.old ? "keep-alive" : undefined;
    const head = headText(status, headers) + dateLine(this.#house.now());
    const whole = connection === undefined ? head : `${head}Connection: ${connection}\r\n`;
    // Whoever waits for this sends its body then, and it can be told from what comes after it.
    return request.awaitsContinue ? CONTINUE + whole : whole;
  }

  #send(parts: readonly Uint8Array[], feed?: Feed, chunked?: boolean): void {
    if (this.#outbox.send(parts, feed, chunked)) this.#sent();
    else this.#begin();
    if (this.#clientEnded && this.#outbox.patient) this.cut();
  }

  #begin(): void {
    if (this.#state !== "idle") return;
    this.#state = "answering";
    this.#house.underWay++;
    this.#wait(this.#house.limits.idleMs);
  }

  #sent(): void {
    if (this.#state === "answering") {
      this.#state = "idle";
      this.#house.underWay--;
    }
    this.#wait(this.#house.limits.idleMs);
    if (this.#closesAfter) this.#close();
  }

  /** Says that nothing more comes, and reads on for a while: to close on a client that still sends would undo our answer. */
  #close(): void {
    this.#state = "lingering";
    this.#wait(this.#house.limits.lingerMs);
    this.#listenAgain();
    if (this.#clientEnded) this.#line.end();
    else this.#line.shutdown();
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
    this.#house.handler.failed(error);
    this.cut();
  }
}

function lengthLine({ status, headers }: Answer, body: string | Uint8Array | undefined): string {
  if (!hasBody(status) || "Content-Length" in headers) return "";
  return `Content-Length: ${body === undefined ? 0 : lengthOf(body)}\r\n`;
}
