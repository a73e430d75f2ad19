/**
 * Puts the messages of a stream together to batches, in the order of the stream, by rules that give the same result on
 * every node: parts must be consecutive, a batch or takeover must follow the last message that was accepted, and a batch must
 * be the next revision. Everything else is counted and ignored; but nothing may follow a message of a newer version, or one
 * before which the stream lacks some: what it means is not known here.
 */
import type { Batch } from "../log.ts";
import type { LogIdentity } from "../log-file.ts";
import {
  type BatchPartMessage,
  decodePayload,
  type EncodedMessage,
  FORMAT,
  isSigned,
  readMessage,
  type StreamMessage,
  signatureIn,
} from "./messages.ts";
import type { Link, Position } from "./position.ts";
import { type StreamCondition, StreamError } from "./stream-error.ts";

/** So many of the last ones are remembered, and compared with the stream. */
const MAX_LINKS = 16;

export type Accepted =
  /** Neither this message nor anything after it can be applied. */
  | { readonly type: "unusable"; readonly error: StreamError }
  /** Its writer has applied something else than this node; ignored, if the stream has what this node has applied. */
  | { readonly type: "unlinked" }
  | { readonly type: "batch"; readonly batch: Batch; readonly node: string }
  | { readonly type: "turn"; readonly node: string }
  | { readonly type: "takeover"; readonly source: string; readonly node: string };

export class BatchAssembler {
  /** Messages that are no part of the log. */
  foreign = 0;
  readonly #log: LogIdentity;
  #revision: number;
  /** The last messages that were accepted, of a batch its last part; never empty. */
  #links: readonly Link[];
  #parts: { readonly part: BatchPartMessage; readonly link: Link }[] = [];
  /** Of the last message, accepted or not. */
  #sequence: number;
  /** Whether the stream lacks messages after the last one that was accepted. */
  #hasHole = false;

  /** `revision` is that of the last batch that is applied. */
  constructor(log: LogIdentity, revision: number, { sequence, links }: Pick<Position, "sequence" | "links">) {
    this.#log = log;
    this.#revision = revision;
    this.#sequence = sequence;
    this.#links = links;
  }

  /** That of the last batch. */
  get revision(): number {
    return this.#revision;
  }

  /** The last messages of the log that this node has applied; the oldest first. */
  get links(): readonly Link[] {
    return this.#links;
  }

  /** The message that the next one must follow. */
  get last(): Link {
    const last = this.#links.at(-1);
    if (!last) throw new Error("a log has a first message");
    return last;
  }

  /** The sequence before the first part of a batch that is incomplete; undefined when there is none. */
  get pendingSince(): number | undefined {
    const [first] = this.#parts;
    return first && first.link.sequence - 1;
  }

  /** This revision was appended by this node itself: these messages, after the one with the sequence `after`. */
  skip(revision: number, messages: readonly EncodedMessage[], after: number): void {
    this.#revision = revision;
    this.#parts = [];
    this.#sequence = after + messages.length;
    const last = messages.at(-1);
    if (last) this.#accept({ sequence: this.#sequence, signature: last.signature });
  }

  async accept(message: StreamMessage): Promise<Accepted | undefined> {
    const { id, signingKey } = this.#log;
    const link = { sequence: message.sequence, signature: signatureIn(message) };
    if (link.sequence > this.#sequence + 1) {
      this.#hasHole = true;
      this.#parts = [];
    }
    this.#sequence = link.sequence;
    const read = readMessage(message);
    const isOurs = isSigned(message, signingKey);
    if (isOurs && read.type === "part" && read.part.log === id) return this.#acceptPart(read.part, link);
    this.#parts = [];
    if (isOurs && read.type === "newer") return unusable("newer", newerVersion(read.format));
    if (isOurs && read.type === "turn" && read.log === id) return read;
    if (isOurs && read.type === "takeover" && read.log === id) {
      if (read.previous !== this.last.signature) return this.#unlinked(link);
      this.#accept(link);
      return read;
    }
    // Of the base, only the first message counts, and it was read when the log was opened.
    return read.type === "base" ? undefined : this.#reject();
  }

  async #acceptPart(part: BatchPartMessage, link: Link): Promise<Accepted | undefined> {
    const before = part.part === 0 ? undefined : this.#parts.at(-1);
    const isNext = before
      ? before.part.batch === part.batch && before.part.part === part.part - 1
      : part.part === 0;
    if (!before) this.#parts = [];
    if (!isNext) {
      // The rest of a batch that was given up.
      this.#parts = [];
      return undefined;
    }
    if (part.previous !== (before?.link ?? this.last).signature) return this.#unlinked(link);
    this.#parts.push({ part, link });
    if (this.#parts.length < part.parts) return undefined;
    const parts = this.#parts;
    this.#parts = [];
    if (part.revision !== this.#revision + 1) return this.#reject();
    try {
      const data = parts.length === 1 ? part.data : Buffer.concat(parts.map((each) => each.part.data));
      const entries = await decodePayload(data);
      this.#revision = part.revision;
      this.#accept(link);
      return { type: "batch", batch: { revision: part.revision, time: part.time, entries }, node: part.node };
    } catch {
      return this.#reject();
    }
  }

  #accept(link: Link): void {
    this.#links = [...this.#links, link].slice(-MAX_LINKS);
    this.#hasHole = false;
  }

  #unlinked({ sequence }: Link): Accepted {
    this.#parts = [];
    if (this.#hasHole)
      return unusable("gap", `the stream lacks messages between ${this.last.sequence} and ${sequence}`);
    this.foreign++;
    return { type: "unlinked" };
  }

  #reject(): undefined {
    this.foreign++;
    return undefined;
  }
}

const unusable = (condition: StreamCondition, message: string): Accepted => ({
  type: "unusable",
  error: new StreamError(condition, message),
});

const newerVersion = (format: number): string =>
  `a node of a newer version has written to the log, in format ${format}: this one goes on from ${FORMAT} only and applies no more changes; install the same version here`;
