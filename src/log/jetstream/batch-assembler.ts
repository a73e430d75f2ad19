/**
 * Assembles the messages of a stream into batches, in the order of the stream, by rules that give the same result on every
 * node: parts must be consecutive, a batch or takeover must follow the last accepted message, and a batch must have the next
 * revision. All other messages are counted and ignored. A message of a newer version, or one after a hole in the stream, ends
 * the assembly, because this node cannot know what the log contains from there on.
 */
import type { Batch } from "../log.ts";
import type { LogIdentity } from "../log-file.ts";
import {
  type BatchPartMessage,
  decodePayload,
  type EncodedMessage,
  FORMAT,
  isSigned,
  joinPayload,
  readMessage,
  type StreamMessage,
  signatureIn,
} from "./messages.ts";
import type { ChainLink, StreamPosition } from "./position.ts";
import { type StreamCondition, StreamError } from "./stream-error.ts";

/** Number of the last accepted messages, and of the last ignored ones, that are remembered and compared with the stream. */
const MAX_LINKS = 16;

/** The result of all messages that were accepted so far. */
export interface Applied extends Omit<StreamPosition, "created"> {
  /** Revision of the last batch. */
  readonly revision: number;
}

export type Accepted =
  /** Neither this message nor anything after it can be applied. */
  | { readonly type: "unusable"; readonly error: StreamError }
  /** The writer of the message has applied other messages than this node. It is ignored if this node has not diverged. */
  | { readonly type: "unlinked" }
  | { readonly type: "batch"; readonly batch: Batch; readonly payload: Uint8Array; readonly node: string }
  | { readonly type: "turn"; readonly node: string }
  | { readonly type: "takeover"; readonly source: string; readonly node: string };

export class BatchAssembler {
  /** Number of messages that are not a part of the log. */
  foreign = 0;
  readonly #log: LogIdentity;
  #revision: number;
  /** The last accepted messages, the oldest first; a batch counts with its last part. Never empty. */
  #links: ChainLink[];
  /** The last ignored messages. If NATS replaces one of them, this node has missed the replacement. */
  #ignored: ChainLink[];
  /** Sequence of the last message that was accepted or ignored. Parts of an incomplete batch are neither yet. */
  #decidedTo: number;
  /** The node that runs each source, according to the takeovers so far. */
  readonly holders: Map<string, string>;
  /** The state before the last batch. */
  #before: Applied | undefined;
  #parts: { readonly part: BatchPartMessage; readonly link: ChainLink }[] = [];
  /** Sequence of the last message, accepted or not. */
  #sequence: number;
  /** Whether the stream lacks messages after the last one that was accepted. */
  #hasHole = false;

  /** `revision` is the revision of the last applied batch. */
  constructor(log: LogIdentity, revision: number, position: Omit<Applied, "revision">) {
    this.#log = log;
    this.#revision = revision;
    this.#sequence = position.sequence;
    this.#decidedTo = position.sequence;
    this.#links = position.links;
    this.#ignored = position.ignored;
    this.holders = new Map(Object.entries(position.holders));
  }

  /** The result of all messages so far. It changes in one step when a message is accepted or ignored. */
  get applied(): Applied {
    return {
      revision: this.#revision,
      sequence: this.#decidedTo,
      links: this.#links,
      ignored: this.#ignored,
      holders: Object.fromEntries(this.holders),
    };
  }

  /** The result at `revision`; undefined unless it is the revision of the last batch or of the one before it. */
  appliedAt(revision: number): Applied | undefined {
    if (revision === this.#revision) return this.applied;
    return this.#before?.revision === revision ? this.#before : undefined;
  }

  /** The last messages that were accepted or ignored, in the order of the stream. */
  get remembered(): readonly ChainLink[] {
    return [...this.#links, ...this.#ignored].sort((a, b) => a.sequence - b.sequence);
  }

  /** The message that the next one must follow. */
  get last(): ChainLink {
    const last = this.#links.at(-1);
    if (!last) throw new Error("a log has a first message");
    return last;
  }

  /** Accepts a batch that this node itself has appended as `messages`, after the message with the sequence `after`. */
  skip(revision: number, messages: readonly EncodedMessage[], after: number): void {
    this.#parts = [];
    this.#sequence = after + messages.length;
    const last = messages.at(-1);
    if (last) this.#acceptBatch(revision, { sequence: this.#sequence, signature: last.signature });
  }

  async accept(message: StreamMessage): Promise<Accepted | undefined> {
    const { id, signingKey } = this.#log;
    const link = { sequence: message.sequence, signature: signatureIn(message) };
    if (link.sequence > this.#sequence + 1) {
      this.#hasHole = true;
      this.#giveUpParts();
    }
    this.#sequence = link.sequence;
    const read = readMessage(message);
    const isOurs = isSigned(message, signingKey);
    if (isOurs && read.type === "part" && read.log === id) return this.#acceptPart(read, link);
    if (isOurs && read.type === "newer") return unusable("newer", newerVersion(read.format));
    this.#giveUpParts();
    if (isOurs && read.type === "turn" && read.log === id) {
      this.#ignore(link);
      return read;
    }
    if (isOurs && read.type === "takeover" && read.log === id) {
      if (read.previous !== this.last.signature) return this.#unlinked(link);
      this.#accept(link);
      this.holders.set(read.source, read.node);
      return read;
    }
    this.#ignore(link);
    // Only the first message of the stream is a valid base, and it was read when the log was opened.
    if (read.type !== "base") this.foreign++;
    return undefined;
  }

  async #acceptPart(part: BatchPartMessage, link: ChainLink): Promise<Accepted | undefined> {
    const before = part.part === 0 ? undefined : this.#parts.at(-1);
    const isNext = before
      ? before.part.batch === part.batch && before.part.part === part.part - 1
      : part.part === 0;
    if (!before || !isNext) this.#giveUpParts();
    if (!isNext) {
      // The part belongs to a batch that was given up.
      this.#ignore(link);
      return undefined;
    }
    if (part.previous !== (before?.link ?? this.last).signature) return this.#unlinked(link);
    this.#parts.push({ part, link });
    if (this.#parts.length < part.parts) return undefined;
    // The batch follows the last message applied here, but its writer had a later revision there: this copy lacks batches.
    if (part.revision > this.#revision + 1)
      return unusable("gap", `revision ${part.revision} follows revision ${this.#revision} of this node`);
    if (part.revision <= this.#revision) return this.#rejectParts();
    try {
      const { revision, time, node } = part;
      const payload = joinPayload(this.#parts.map((each) => each.part));
      const entries = await decodePayload(payload);
      this.#parts = [];
      this.#acceptBatch(revision, link);
      return { type: "batch", batch: { revision, time, entries }, payload, node };
    } catch {
      return this.#rejectParts();
    }
  }

  #acceptBatch(revision: number, link: ChainLink): void {
    this.#before = this.applied;
    this.#revision = revision;
    this.#accept(link);
  }

  #accept(link: ChainLink): void {
    this.#links = [...this.#links, link].slice(-MAX_LINKS);
    this.#decidedTo = link.sequence;
    this.#hasHole = false;
  }

  #ignore(link: ChainLink): void {
    this.#ignored = [...this.#ignored, link].slice(-MAX_LINKS);
    this.#decidedTo = link.sequence;
  }

  #giveUpParts(): void {
    for (const { link } of this.#parts) this.#ignore(link);
    this.#parts = [];
  }

  #unlinked(link: ChainLink): Accepted {
    if (this.#hasHole)
      return unusable("gap", `the stream lacks messages between ${this.last.sequence} and ${link.sequence}`);
    this.#giveUpParts();
    this.#ignore(link);
    this.foreign++;
    return { type: "unlinked" };
  }

  /** Ignores a complete batch that is not the next revision or cannot be decoded. */
  #rejectParts(): undefined {
    this.#giveUpParts();
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
