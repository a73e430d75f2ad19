/**
 * Checks that the stream still has the messages that this node has applied. NATS can replace messages that it has delivered and
 * even acknowledged (docs/cluster.md). Sequences and revisions do not show that; only the signatures of messages do.
 *
 * A doubt arises when the connection is lost or restored, when another server leads the stream, when the stream did not
 * answer, and when another node has applied other messages. While there is a doubt, this node publishes nothing. A replacement
 * that no check finds does not harm other nodes, because they accept only messages that follow the ones in the stream.
 */
import type { Clock } from "../../lib/clock.ts";
import type { LogStream, StreamInfo } from "./log-stream.ts";
import { signatureIn } from "./messages.ts";
import type { ChainLink } from "./position.ts";
import { StreamError } from "./stream-error.ts";

/** Pause before a difference is checked again, because a leader that is about to be replaced may answer wrongly. */
const SECOND_LOOK_MS = 500;

export interface ChainCheckOptions {
  readonly stream: Pick<LogStream, "info" | "message">;
  readonly clock: Clock;
  /** The last messages that this node has accepted or ignored, the oldest first. */
  readonly links: () => readonly ChainLink[];
  readonly onDiverged: (error: StreamError) => void;
  readonly signal: AbortSignal;
}

export class ChainCheck {
  readonly #options: ChainCheckOptions;
  #doubts = 1;
  /** Number of doubts resolved. */
  #removed = 0;
  #isContradicted = false;
  #leader: string | undefined;
  /** Sequence of the last message that was checked while there was no doubt. */
  #checkedTo = 0;

  constructor(options: ChainCheckOptions) {
    this.#options = options;
  }

  get isSure(): boolean {
    return this.#removed === this.#doubts;
  }

  requireCheck(): void {
    this.#doubts++;
  }

  /** Called when another node has applied other messages than this one. */
  onContradiction(): void {
    this.#isContradicted = true;
    this.requireCheck();
  }

  /** Resolves when no doubt is left. Rejects with `StreamError` when the check is not possible or this node has diverged. */
  async ensure(): Promise<void> {
    const { stream, links } = this.#options;
    while (!this.isSure) {
      const last = links().at(-1)?.sequence ?? 0;
      const info = await stream.info();
      if (info.lastSequence < last)
        throw new StreamError("unanswered", `the leader of the stream does not have message ${last} yet`);
      await this.check(info);
    }
  }

  /** Compares all remembered messages while there is a doubt, otherwise those that came since the last check. */
  async check({ leader, firstSequence, lastSequence }: StreamInfo): Promise<void> {
    if (leader !== this.#leader) this.requireCheck();
    this.#leader = leader;
    const { isSure } = this;
    const doubts = this.#doubts;
    const first = isSure ? Math.max(firstSequence, this.#checkedTo + 1) : firstSequence;
    const links = this.#options
      .links()
      .filter(({ sequence }) => sequence >= first && sequence <= lastSequence);
    const other = await this.#replaced(links);
    if (other) {
      const error = new StreamError(
        "diverged",
        `NATS has replaced message ${other.sequence}, which this node has applied: it loads the log again`,
      );
      this.#options.onDiverged(error);
      throw error;
    }
    this.#checkedTo = links.at(-1)?.sequence ?? this.#checkedTo;
    if (doubts === this.#doubts) this.#isContradicted = false;
    this.#removed = doubts;
  }

  /** The first of these messages that the stream does not have; undefined if it has all. */
  async #replaced(links: readonly ChainLink[]): Promise<ChainLink | undefined> {
    const { clock, signal } = this.#options;
    const others = await this.#others(links);
    if (others.length === 0) return undefined;
    await clock.sleep(SECOND_LOOK_MS, signal);
    return (await this.#others(others))[0];
  }

  async #others(links: readonly ChainLink[]): Promise<ChainLink[]> {
    const { stream } = this.#options;
    const stored = await Promise.all(links.map(({ sequence }) => stream.message(sequence)));
    return links.filter(({ signature }, i) => {
      const message = stored[i];
      // A message that an operator deleted is missing in the stream and still right in this copy, unless a node contradicts.
      return message ? signatureIn(message) !== signature : this.#isContradicted;
    });
  }
}
