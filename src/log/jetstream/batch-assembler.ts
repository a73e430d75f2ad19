/**
 * Puts the messages of a stream together to batches, in the order of the stream, by rules that give the same result on
 * every node: parts must be consecutive, and a batch must be the next revision. Everything else is counted and ignored; but
 * nothing may follow a later revision, or a message of a newer version: what it means is not known here.
 */
import type { Batch } from "../log.ts";
import type { LogIdentity } from "../log-file.ts";
import {
  type BatchPartMessage,
  decodePayload,
  FORMAT,
  isSigned,
  readMessage,
  type StreamMessage,
} from "./messages.ts";
import { type StreamCondition, StreamError } from "./stream-error.ts";

export type Accepted =
  /** Neither this message nor anything after it can be applied. */
  | { readonly type: "unusable"; readonly error: StreamError }
  | { readonly type: "batch"; readonly batch: Batch; readonly node: string }
  | { readonly type: "turn"; readonly node: string }
  | { readonly type: "takeover"; readonly source: string; readonly node: string };

export class BatchAssembler {
  /** Messages that are no part of the log. */
  foreign = 0;
  readonly #log: LogIdentity;
  #revision: number;
  #parts: BatchPartMessage[] = [];
  #firstSequence = 0;

  /** `revision` is that of the last batch that is applied. */
  constructor(log: LogIdentity, revision: number) {
    this.#log = log;
    this.#revision = revision;
  }

  /** That of the last batch. */
  get revision(): number {
    return this.#revision;
  }

  /** The sequence before the first part of a batch that is incomplete; undefined when there is none. */
  get pendingSince(): number | undefined {
    return this.#parts.length > 0 ? this.#firstSequence - 1 : undefined;
  }

  /** This revision was appended by this node itself. */
  skip(revision: number): void {
    this.#revision = revision;
    this.#parts = [];
  }

  async accept(message: StreamMessage): Promise<Accepted | undefined> {
    const { id, signingKey } = this.#log;
    const read = readMessage(message);
    const isOurs = isSigned(message, signingKey);
    if (isOurs && read.type === "part" && read.part.log === id)
      return this.#acceptPart(read.part, message.sequence);
    this.#parts = [];
    if (isOurs && read.type === "newer") return unusable("newer", newerVersion(read.format));
    if (isOurs && (read.type === "takeover" || read.type === "turn") && read.log === id) return read;
    // Of the base, only the first message counts, and it was read when the log was opened.
    return read.type === "base" ? undefined : this.#reject();
  }

  async #acceptPart(part: BatchPartMessage, sequence: number): Promise<Accepted | undefined> {
    const first = this.#parts[0];
    const isNext =
      first && first.batch === part.batch && first.parts === part.parts && part.part === this.#parts.length;
    if (!isNext) this.#parts = [];
    if (part.part !== this.#parts.length) return undefined;
    if (this.#parts.length === 0) this.#firstSequence = sequence;
    this.#parts.push(part);
    if (this.#parts.length < part.parts) return undefined;
    const payload = this.#parts.length === 1 ? part.data : Buffer.concat(this.#parts.map(({ data }) => data));
    this.#parts = [];
    const next = this.#revision + 1;
    if (part.revision > next)
      return unusable("gap", `revision ${part.revision} follows where this node expects ${next}`);
    if (part.revision < next) return this.#reject();
    try {
      const entries = await decodePayload(payload);
      this.#revision = part.revision;
      const batch = { revision: part.revision, time: part.time, entries };
      return { type: "batch", batch, node: part.node };
    } catch {
      return this.#reject();
    }
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
