/**
 * One connection: requests in, one at a time, and their answers out, in order. While an answer is under way nothing
 * more is read from what the client sent ahead, and never is more made of an answer than the socket takes.
 */
import type { Answer } from "../answer.ts";
import { BodySkipper } from "./body-skipper.ts";
import { type Feed, isFeed } from "./feed.ts";
import { Fault, Incoming, readHead } from "./incoming.ts";
import { Outbox, type Sink } from "./outbox.ts";
import { dateLine, hasBody, headText, Message, together } from "./outgoing.ts";

export interface Handler {
  respond(request: Incoming, connection: Connection): Message | Answer | Promise<Answer>;
  /** To a request that cannot be read. */
  refuse(fault: Fault): Answer;
  /** To what went wrong in answering; it is heard even where nobody can be answered any more. */
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
  /** Sends what is left, and closes. */
  end(): void;
  /** Says that nothing more comes; what comes from there can still be read. */
  shutdown(): void;
  /** Closes without another word. */
  terminate(): void;
}

export interface WireLimits {
  readonly urlBytes: number;
  readonly headBytes: number;
  readonly idleMs: number;
  /** From the first byte of a head to its last. */
  readonly headMs: number;
  /** For what is still on its way when we have said that we close. */
  readonly lingerMs: number;
}

/** What a client may send ahead while it is being answered. */
const MOST_AHEAD = 256 * 1024;
/** A longer head is read anew each time. */
const MOST_REPEATED = 2048;
const EMPTY = Buffer.alloc(0);
const HEAD_END = Buffer.from("\r\n\r\n");
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
/** Method, version, line end. */
const MOST_AROUND_TARGET = 64;
const BARE_LINE_FEED = /(?:^|[^\r])\n/;

/** Of what could not be read, all that counts for its answer. */
const UNREADABLE = new Incoming("GET", "/", [], 0, false);

type State = "idle" | "answering" | "lingering" | "closed";

export class Connection {
  readonly #line: Line;
  readonly #house: House;
  readonly #outbox: Outbox;
  #state: State = "idle";
  /** What came and is not yet understood. */
  #input: Buffer = EMPTY;
  #headBegun = false;
  #skipper: BodySkipper | undefined;
  #repeatedHead: Buffer | undefined;
  #repeated: Incoming | undefined;
  #closesAfter = false;
  #clientEnded = false;
  #deadline: number;

  constructor(line: Line, house: House) {
    this.#line = line;
    this.#house = house;
    this.#outbox = new Outbox(line, {
      sent: () => this.#sent(),
      failed: (error) => {
        house.handler.failed(error);
        this.cut();
      },
    });
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
      const again = this.#repeatedHead;
      if (again?.length === bytes.length && this.#repeated && again.equals(bytes))
        this.#answer(this.#repeated);
      else this.#take(this.#input.length === 0 ? bytes : Buffer.concat([this.#input, bytes]));
    } else if (this.#state === "answering") this.#sentAhead(bytes);
  }

  /** The socket takes more again. */
  drained(): void {
    this.#wait(this.#house.limits.idleMs);
    this.#outbox.flush();
  }

  /** The client says that it sends nothing more. */
  ended(): void {
    this.#clientEnded = true;
    this.#closesAfter = true;
    if (this.#state !== "answering") this.#line.end();
    else if (this.#outbox.patient) this.cut();
  }

  /** The socket is gone. */
  closed(): void {
    if (this.#state === "answering") this.#house.underWay--;
    this.#state = "closed";
    this.#outbox.abandon();
  }

  /** Closes when what is under way is sent. */
  retire(): void {
    this.#closesAfter = true;
    if (this.#state === "idle") this.#close();
  }

  cut(): void {
    this.#line.terminate();
  }

  /** Looked at every now and then: whether it has had its time. */
  check(now: number): void {
    // To make an answer slowly, or to have nothing to say, is no fault of the reader's; to take nothing is.
    if (this.#state === "answering" && (this.#outbox.patient || !this.#outbox.blocked))
      this.#wait(this.#house.limits.idleMs);
    else if (now < this.#deadline) return;
    else if (this.#state === "answering") this.cut();
    // Not cut: what the system still holds of our answer is on its way to a slow reader.
    else if (this.#state === "lingering") this.#line.end();
    else if (this.#headBegun)
      this.#refuse(new Fault("request-timeout", "The request did not come to its end."));
    else this.#close();
  }

  #wait(ms: number): void {
    this.#deadline = this.#house.now() + ms;
  }

  #take(bytes: Buffer): void {
    this.#input = EMPTY;
    let rest = this.#withoutBody(bytes);
    while (rest.length > 0 && this.#state === "idle") rest = this.#takeOne(rest);
    if (this.#state === "answering") this.#input = rest;
  }

  /** What is left after the first request. */
  #takeOne(bytes: Buffer): Buffer {
    // An empty line before a request is left over from some client's last one.
    const rest = bytes[0] === 13 && bytes[1] === 10 ? bytes.subarray(2) : bytes;
    const end = rest.indexOf(HEAD_END);
    const whole = end >= 0 && end <= this.#house.limits.headBytes;
    const request = whole ? readHead(rest.toString("latin1", 0, end)) : this.#whyNotWait(rest);
    if (request === undefined) {
      if (!this.#headBegun) this.#wait(this.#house.limits.headMs);
      this.#headBegun = true;
      this.#input = rest;
      return EMPTY;
    }
    if (request instanceof Fault) {
      this.#refuse(request);
      return EMPTY;
    }
    const length = end + HEAD_END.length;
    this.#remember(request, rest, length);
    if (request.bodyLength !== 0) this.#skipper = new BodySkipper(request.bodyLength);
    const after = this.#withoutBody(rest.subarray(length));
    this.#answer(request);
    return after;
  }

  #whyNotWait(rest: Buffer): Fault | undefined {
    const { headBytes, urlBytes } = this.#house.limits;
    const lineEnd = rest.indexOf(10);
    if ((lineEnd < 0 ? rest.length : lineEnd) > urlBytes + MOST_AROUND_TARGET)
      return new Fault("uri-too-long", `The address is longer than the ${urlBytes} bytes that are taken.`);
    if (rest.length > headBytes)
      return new Fault(
        "headers-too-large",
        `The headers are longer than the ${headBytes} bytes that are taken.`,
      );
    if (BARE_LINE_FEED.test(rest.toString("latin1")))
      return new Fault("bad-request", "A line of the head does not end in CR LF.");
    return undefined;
  }

  #sentAhead(bytes: Buffer): void {
    const rest = this.#withoutBody(bytes);
    if (this.#input.length + rest.length > MOST_AHEAD) this.cut();
    else if (rest.length > 0) this.#input = Buffer.concat([this.#input, rest]);
  }

  /** What follows the body that is being thrown away. One that is malformed has no end that could be trusted. */
  #withoutBody(bytes: Buffer): Buffer {
    if (!this.#skipper) return bytes;
    this.#wait(this.#house.limits.idleMs);
    const rest = this.#skipper.take(bytes);
    if (this.#skipper.over) this.#skipper = undefined;
    if (!(rest instanceof Fault)) return rest;
    this.cut();
    return EMPTY;
  }

  /** A client that asks the same again on the same connection is spared the reading of it. */
  #remember(request: Incoming, bytes: Buffer, length: number): void {
    const plain = request.bodyLength === 0 && length === bytes.length && length <= MOST_REPEATED;
    this.#repeatedHead = plain ? Buffer.from(bytes) : undefined;
    this.#repeated = plain ? request : undefined;
  }

  #answer(request: Incoming): void {
    this.#headBegun = false;
    const answer = this.#house.handler.respond(request, this);
    if (answer instanceof Message) this.#send(answer.bytes(this.#house.now()));
    else if (answer instanceof Promise) {
      this.#begin();
      answer.then(
        (made) => this.#deliver(request, made),
        (error: unknown) => this.#deliver(request, this.#house.handler.failed(error)),
      );
    } else this.#deliver(request, answer);
  }

  #refuse(fault: Fault): void {
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
    const counted = !fed || "Content-Length" in answer.headers;
    const chunked = !counted && !request.old;
    this.#closesAfter ||= !request.keepsOpen || this.#house.stopping || !(counted || chunked);
    const bytes =
      typeof body === "string" ? Buffer.from(body) : body instanceof Uint8Array ? body : undefined;
    const framing = chunked ? "Transfer-Encoding: chunked\r\n" : fed ? "" : lengthLine(answer, bytes);
    const head = `${this.#head(request, answer)}${framing}\r\n`;
    if (request.method === "HEAD") {
      fed?.close();
      this.#send(together(head, undefined));
    } else this.#send(together(head, bytes), fed, chunked);
  }

  #head(request: Incoming, { status, headers }: Answer): string {
    const expects = request.bodyLength !== 0 && request.header("expect")?.toLowerCase() === "100-continue";
    const connection = this.#closesAfter ? "close" : request.old ? "keep-alive" : undefined;
    return [
      // Whoever waits for this sends its body then, and it can be told from what comes after it.
      expects ? CONTINUE : "",
      headText(status, headers),
      dateLine(this.#house.now()),
      connection === undefined ? "" : `Connection: ${connection}\r\n`,
    ].join("");
  }

  #send(parts: readonly Uint8Array[], feed?: Feed, chunked?: boolean): void {
    if (this.#outbox.send(parts, feed, chunked)) this.#sent();
    else this.#begin();
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
    else if (this.#input.length > 0) this.#take(this.#input);
  }

  /** Says that nothing more comes, and reads on for a while: to close on a client that still sends would undo our answer. */
  #close(): void {
    this.#state = "lingering";
    this.#wait(this.#house.limits.lingerMs);
    if (this.#clientEnded) this.#line.end();
    else this.#line.shutdown();
  }
}

function lengthLine({ status, headers }: Answer, bytes: Uint8Array | undefined): string {
  return hasBody(status) && !("Content-Length" in headers) ? `Content-Length: ${bytes?.length ?? 0}\r\n` : "";
}
