/**
 * Follows another Gazetteer: reads all entities first, then its stream of changes. Each revision there becomes one call of
 * `apply` here. After an interruption it resumes at the last revision. If the other service no longer has the changes since
 * then (the client detects that) or has another log (this file detects that), all entities are read again.
 *
 * There is one connection at a time. Before each, and at intervals while it lasts, the other service is identified again, to
 * detect a loop or another log. The client is stopped when it would reconnect by itself, so that this check comes first.
 */
import {
  ClientError,
  type ConnectionState,
  createClient,
  type Fetch,
  type WatchEvent,
} from "../../client/client.ts";
import { discardBody } from "../../client/transport.ts";
import { idOf } from "../../client/types.ts";
import { createBackoff } from "../../lib/backoff.ts";
import type { Clock } from "../../lib/clock.ts";
import { quote } from "../../lib/error-text.ts";
import {
  type ClaimChange,
  type ClaimLists,
  type ClaimResult,
  canonicalClaim,
  emptyClaims,
  setChange,
} from "../../model/claim.ts";
import type { Entities } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import type { PollResult } from "../poll-loop.ts";
import type { Sink } from "../source.ts";
import { UpstreamError } from "../upstream/exchange.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { claimFields } from "./claim-fields.ts";
import { type GazetteerPeer, identifyPeer, serviceUrlOf, type UpstreamPeer } from "./peer.ts";

const INITIAL_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** Maximum wait for a service that has just started, because it may show only a part of its network. */
const MAX_START_WAIT_MS = 30_000;
const START_CHECK_MS = 1000;
const MAX_FRUITLESS_CONNECTIONS = 5;
const MAX_REASON_CHARS = 200;

interface GazetteerCounters {
  snapshots: number;
  connections: number;
  revision: number;
  refused: boolean;
}

interface FollowerOptions {
  readonly upstream: Upstream;
  readonly sink: Sink;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly ownLogId: string | undefined;
  readonly counters: GazetteerCounters;
}

interface Pause {
  /** The reason, as one line for the operator. */
  readonly reason: string;
  readonly waitMs: number;
}

/** Follows the other Gazetteer during one run of the source. */
export class GazetteerFollower {
  readonly #options: FollowerOptions;
  /** The log and revision of the claims that the sink has. */
  #position: { readonly logId: string; readonly revision: number } | undefined;
  #snapshot: ClaimLists | undefined;
  #changes: ClaimChange[] = [];
  #publishedLogs = "";
  readonly #backoff = createBackoff(INITIAL_BACKOFF_MS, MAX_BACKOFF_MS);
  /** The monotonic time until which this source waits for a starting service. */
  #startDeadlineMs: number | undefined;
  /** Number of connections in a row without a new revision. */
  #fruitless = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Follows the upstream. Returns when the signal aborts, or with a reason when the upstream is no longer a Gazetteer. */
  async follow(): Promise<PollResult> {
    const { upstream, sink, signal, clock } = this.#options;
    while (!signal.aborted) {
      const peer = await this.#identify();
      if (peer.ok && peer.kind !== "gazetteer") {
        this.#position = undefined;
        return { ok: false, message: `${upstream.url.host} is not a Gazetteer any more` };
      }
      const pause = signal.aborted ? undefined : await this.#readFrom(peer);
      if (!pause || signal.aborted) continue;
      sink.markStale(pause.reason);
      await clock.sleep(pause.waitMs, signal);
    }
    return { ok: true };
  }

  /** Reads for as long as possible. Returns the reason of the end; undefined when the upstream must be identified again. */
  async #readFrom(peer: Exclude<UpstreamPeer, { kind: "onos" }>): Promise<Pause | undefined> {
    const { upstream, clock, intervalMs, ownLogId, counters } = this.#options;
    const { host } = upstream.url;
    if (!peer.ok) return { reason: peer.message, waitMs: this.#backoff.nextMs() };
    const loop = describeLoop(ownLogId, peer, host);
    counters.refused = loop !== undefined;
    if (loop !== undefined) return { reason: loop, waitMs: intervalMs };
    if (peer.isStarting && peer.logId !== this.#position?.logId) {
      this.#startDeadlineMs ??= clock.monotonic() + MAX_START_WAIT_MS;
      if (clock.monotonic() < this.#startDeadlineMs)
        return { reason: `${host} is starting`, waitMs: START_CHECK_MS };
    }
    this.#startDeadlineMs = undefined;
    const before = this.#position;
    const reason = await this.#readStream(peer);
    this.#countProgress(this.#position !== before);
    return reason === undefined ? undefined : { reason, waitMs: this.#backoff.nextMs() };
  }

  /** Counts connections without progress. After several, all entities are read again: the changes may be too many to send. */
  #countProgress(hasProgress: boolean): void {
    this.#fruitless = hasProgress ? 0 : this.#fruitless + 1;
    if (hasProgress) this.#backoff.reset();
    else if (this.#fruitless % MAX_FRUITLESS_CONNECTIONS === 0) this.#position = undefined;
  }

  /**
   * Identifies the upstream. New logs are published, and then the upstream is identified again, so that of two services that
   * start to read from each other at the same moment at least one notices.
   */
  async #identify(): Promise<UpstreamPeer> {
    const { upstream, signal } = this.#options;
    const peer = await identifyPeer(upstream, signal);
    if (!this.#publish(peer)) return peer;
    const again = await identifyPeer(upstream, signal);
    this.#publish(again);
    return again;
  }

  /** Publishes the logs of the peer. Returns whether they differ from those before. */
  #publish(peer: UpstreamPeer): boolean {
    if (!peer.ok) return false;
    const logs = peer.kind === "gazetteer" ? upstreamLogsOf(peer) : [];
    const text = logs.join(" ");
    if (text === this.#publishedLogs) return false;
    this.#publishedLogs = text;
    this.#options.sink.setUpstreamLogs?.(logs);
    return true;
  }

  /** Reads one connection. Resolves to the reason of its end; undefined when the upstream must be identified again at once. */
  async #readStream(peer: GazetteerPeer): Promise<string | undefined> {
    const { upstream, sink, signal, clock, counters } = this.#options;
    const connection = new AbortController();
    const ended = AbortSignal.any([signal, connection.signal]);
    const since = this.#position?.logId === peer.logId ? this.#position.revision : undefined;
    let reason: string | undefined;
    let resumed: Promise<void> = Promise.resolve();
    const onState = (state: ConnectionState) => {
      if (state.state === "connected") {
        counters.connections++;
        // The restored connection ends staleness at once, because the next change may come much later.
        if (since !== undefined) resumed = sink.apply([]);
        resumed.catch(() => {});
      }
      if (state.state !== "reconnecting" || state.afterMs === 0) return;
      reason = `${upstream.url.host}: ${oneLine(state.reason)}`;
      connection.abort();
    };
    const client = createClient({
      url: `${serviceUrlOf(upstream)}/controller/v1`,
      fetch: fetchFromLog(peer.logId, upstream.fetch),
      clock,
    });
    this.#changes = [];
    this.#snapshot = undefined;
    const monitored = this.#monitor(peer, ended).finally(() => connection.abort());
    try {
      for await (const event of client.watch("topology", {}, { since, signal: ended, onState })) {
        await resumed;
        await this.#receive(event, peer.logId);
      }
      await resumed;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      // Another attempt with this revision would fail too, so the next one starts with all entities.
      this.#position = undefined;
      reason = describeError(error, upstream.url.host);
    } finally {
      connection.abort();
      await monitored;
    }
    return reason;
  }

  /** Returns when the connection has ended, or when the upstream has changed or is part of a loop. */
  async #monitor(peer: GazetteerPeer, ended: AbortSignal): Promise<void> {
    const { upstream, clock, intervalMs, ownLogId } = this.#options;
    for (;;) {
      await clock.sleep(intervalMs, ended);
      if (ended.aborted) return;
      const current = await identifyPeer(upstream, ended);
      // An upstream that does not respond is detected by the stream.
      if (!current.ok) continue;
      this.#publish(current);
      if (current.kind !== "gazetteer" || current.logId !== peer.logId) return;
      if (describeLoop(ownLogId, current, "") !== undefined) return;
    }
  }

  async #receive(event: WatchEvent, logId: string): Promise<void> {
    const { sink, counters } = this.#options;
    switch (event.type) {
      case "reset":
        this.#snapshot = undefined;
        this.#changes = [];
        return;
      case "snapshot":
        this.#addToSnapshot(event.resource, event.value);
        return;
      case "synced":
        await sink.replace(this.#snapshot ?? {});
        this.#snapshot = undefined;
        counters.snapshots++;
        break;
      default: {
        const { type, resource, value } = event;
        const result = type === "removed" ? undefined : claimOf(resource, value);
        if (result?.ok) this.#changes.push(setChange(resource, result.claim));
        // An entity whose new value is refused is removed, because a full read would not contain it either.
        else if (type !== "added") this.#changes.push({ op: "remove", kind: resource, id: idOf(value) });
        if (result?.ok === false) sink.reject(resource, result.fault);
        if (!event.last) return;
        const changes = this.#changes;
        this.#changes = [];
        await sink.apply(changes);
      }
    }
    this.#position = { logId, revision: event.revision };
    counters.revision = event.revision;
  }

  #addToSnapshot<K extends Kind>(kind: K, entity: Entities[Kind]): void {
    this.#snapshot ??= emptyClaims();
    const result = claimOf(kind, entity);
    if (result.ok) this.#snapshot[kind].push(result.claim);
    else this.#options.sink.reject(kind, result.fault);
  }
}

/** Wraps `fetch` so that it refuses responses of a service with another log, whose revisions mean other changes. */
const fetchFromLog =
  (logId: string, fetch: Fetch): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    const received = response.headers.get("gazetteer-log");
    if (!response.ok || received === logId) return response;
    discardBody(response);
    throw new ClientError({ status: 0, code: "protocol", detail: "the service has another log now" });
  };

/** Describes the error. Of the upstream's text it contains only the code of a problem. */
function describeError({ status, code, detail, cause }: ClientError, host: string): string {
  if (cause instanceof UpstreamError) return cause.failure.message;
  return `${host}: ${status === 0 ? oneLine(detail) : `responds with status ${status} (${oneLine(code)})`}`;
}

const oneLine = (text: string): string =>
  text.slice(0, MAX_REASON_CHARS).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");

// Entities and changes of another Gazetteer are converted to claims without the fields that it adds itself: `sources`,
// `firstSeen`, `lastChanged`, `revision`, fields derived from others (the id of a link, `bidirectional`, `location`), and the
// texts of conflicts. This service finds the conflicts of its own view, and claimed conflicts would be repeated by every
// service of a chain. `verified` and `lastUpdate` are claimed.

/** The annotation with the conflicts, which the view sets (see model/conflict.ts). */
const CONFLICT = "conflict";

export const claimOf = <K extends Kind>(kind: K, entity: Entities[Kind]): ClaimResult<K> =>
  canonicalClaim(kind, claimFields(kind, { ...entity }, CONFLICT));

// Loops of services that read from each other are refused. In a loop no claim would ever be removed, because each service
// would keep what the next one still has.
//
// Every service shows the logs that its sources come from (`Sink.setUpstreamLogs`, `/readyz`), including those of a refused
// source, and refuses a source whose upstream has this service's own log in that list. So every source that is part of a loop
// is refused, independent of the order in which the services start, as long as the loop is configured. A source checks again
// at each interval, so a loop of several services, and its end, is found after at most as many intervals as services.

/** The logs that the claims of a source with this peer come from, each once. */
export const upstreamLogsOf = ({ logId, sources }: GazetteerPeer): string[] => [
  ...new Set([logId, ...sources.flatMap(({ upstreamLogs }) => upstreamLogs)]),
];

/** Describes a loop in one line for the operator; undefined when reading from the peer makes no loop. */
export function describeLoop(
  ownLogId: string | undefined,
  peer: GazetteerPeer,
  host: string,
): string | undefined {
  if (ownLogId === undefined) return undefined;
  if (peer.logId === ownLogId) {
    return `refused: ${host} has the log of this service (${ownLogId}); it is this service itself, or a copy of its data folder`;
  }
  const source = peer.sources.find(({ upstreamLogs }) => upstreamLogs.includes(ownLogId));
  if (!source) return undefined;
  const way = source.upstreamLogs[0] === ownLogId ? "" : " through another Gazetteer";
  return `refused, a loop: this service (log ${ownLogId}) reads from ${host} (log ${peer.logId}), whose source ${quote(source.name)} reads from this service${way}; remove one of these sources`;
}
