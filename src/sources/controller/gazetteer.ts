/**
 * Follows another Gazetteer: all entities first, then its stream of changes. One revision there is one change of the claims
 * here. After a break it resumes at the last revision; where the other service no longer has the changes since then, or has
 * a new log, the list is read again (the client decides that for one log, this file for another one).
 *
 * One connection at a time: before each, and in each interval while it lasts, the other service is identified again, so that
 * a loop or another log is noticed. The client would reconnect by itself; it is stopped instead, for that check.
 */
import {
  ClientError,
  type ConnectionState,
  createClient,
  type Fetch,
  type WatchEvent,
} from "../../client/client.ts";
import { idOf, type WatchChange, type WatchSnapshot } from "../../client/types.ts";
import { createBackoff } from "../../lib/backoff.ts";
import type { Clock } from "../../lib/clock.ts";
import { quote } from "../../lib/error-text.ts";
import { type ClaimChange, type ClaimFault, type ClaimTypes, canonicalClaim } from "../../model/claim.ts";
import type { Entities } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import type { PollResult } from "../poll-loop.ts";
import type { Sink } from "../source.ts";
import { UpstreamError } from "../upstream/exchange.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { claimAnnotations, claimFields } from "./claim-fields.ts";
import { type GazetteerPeer, identifyPeer, serviceUrlOf, type UpstreamPeer } from "./peer.ts";

const INITIAL_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** A service that has just started may show a part of its network. It is waited for, but not for ever. */
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
  /** One line for the operator. */
  readonly reason: string;
  readonly waitMs: number;
}

type Snapshot = { readonly [K in Kind]: ClaimTypes[K][] };

/** Follows the other Gazetteer during one run of the source. */
export class GazetteerFollower {
  readonly #options: FollowerOptions;
  /** The log and revision that the sink has. */
  #position: { readonly logId: string; readonly revision: number } | undefined;
  #snapshot: Snapshot | undefined;
  #changes: ClaimChange[] = [];
  #publishedLogs = "";
  readonly #backoff = createBackoff(INITIAL_BACKOFF_MS, MAX_BACKOFF_MS);
  /** Time until which a service that starts is waited for. */
  #startDeadlineMs: number | undefined;
  /** Connections in a row that brought no revision. */
  #fruitless = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Returns when the signal aborts, or with the reason when the upstream is not a Gazetteer any more. */
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

  /** Reads for as long as possible. Returns why it cannot go on; undefined when the upstream is to be identified again. */
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

  /** A service that cannot send the changes since a revision, for example because there are too many, sends its list. */
  #countProgress(hasProgress: boolean): void {
    this.#fruitless = hasProgress ? 0 : this.#fruitless + 1;
    if (hasProgress) this.#backoff.reset();
    else if (this.#fruitless % MAX_FRUITLESS_CONNECTIONS === 0) this.#position = undefined;
  }

  /** Its logs are published before they are read again, so that of two services that start to read from each other at the
   * same moment at least one notices. */
  async #identify(): Promise<UpstreamPeer> {
    const { upstream, signal } = this.#options;
    const peer = await identifyPeer(upstream, signal);
    if (!this.#publish(peer)) return peer;
    const again = await identifyPeer(upstream, signal);
    this.#publish(again);
    return again;
  }

  /** Returns whether the logs are others than before. */
  #publish(peer: UpstreamPeer): boolean {
    if (!peer.ok) return false;
    const logs = peer.kind === "gazetteer" ? upstreamLogsOf(peer) : [];
    const text = logs.join(" ");
    if (text === this.#publishedLogs) return false;
    this.#publishedLogs = text;
    this.#options.sink.setUpstreamLogs?.(logs);
    return true;
  }

  /** One connection. Resolves to the reason of its end; undefined when the upstream must be identified again at once. */
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
        // Nothing may change for long; that the upstream is there again ends staleness.
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
      // Not even another attempt would succeed with this revision, so the next one starts with the list.
      this.#position = undefined;
      reason = describeError(error, upstream.url.host);
    } finally {
      connection.abort();
      await monitored;
    }
    return reason;
  }

  /** Returns when the connection has ended, or when the upstream is not what it was. */
  async #monitor(peer: GazetteerPeer, ended: AbortSignal): Promise<void> {
    const { upstream, clock, intervalMs, ownLogId } = this.#options;
    for (;;) {
      await clock.sleep(intervalMs, ended);
      if (ended.aborted) return;
      const current = await identifyPeer(upstream, ended);
      // That it does not respond shows in the stream.
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
      case "snapshot": {
        this.#snapshot ??= { devices: [], ports: [], links: [], hosts: [] };
        const change = setChangeOf(event);
        if (change.ok) addClaim(this.#snapshot, change.value);
        else sink.reject(event.resource, change.fault);
        return;
      }
      case "synced":
        await sink.replace(this.#snapshot ?? {});
        this.#snapshot = undefined;
        counters.snapshots++;
        break;
      default: {
        const change = event.type === "removed" ? undefined : setChangeOf(event);
        if (change?.ok) this.#changes.push(change.value);
        // A list would not have a record that is refused, so a change to one removes it.
        else if (event.type !== "added") this.#changes.push(removalOf(event));
        if (change && !change.ok) sink.reject(event.resource, change.fault);
        if (!event.last) return;
        const changes = this.#changes;
        this.#changes = [];
        await sink.apply(changes);
      }
    }
    this.#position = { logId, revision: event.revision };
    counters.revision = event.revision;
  }
}

function addClaim(snapshot: Snapshot, change: Extract<ClaimChange, { op: "set" }>): void {
  switch (change.kind) {
    case "devices":
      snapshot.devices.push(change.claim);
      return;
    case "ports":
      snapshot.ports.push(change.claim);
      return;
    case "links":
      snapshot.links.push(change.claim);
      return;
    case "hosts":
      snapshot.hosts.push(change.claim);
  }
}

/** Refuses the response of a service with another log: its revisions mean other changes. */
const fetchFromLog =
  (logId: string, fetch: Fetch): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    const received = response.headers.get("gazetteer-log");
    if (!response.ok || received === logId) return response;
    await response.body?.cancel();
    throw new ClientError({ status: 0, code: "protocol", detail: "the service has another log now" });
  };

/** Describes the error without text of the upstream, other than a problem's code. */
function describeError({ status, code, detail, cause }: ClientError, host: string): string {
  if (cause instanceof UpstreamError) return cause.failure.message;
  return `${host}: ${status === 0 ? oneLine(detail) : `responds with status ${status} (${oneLine(code)})`}`;
}

const oneLine = (text: string): string =>
  text.slice(0, MAX_REASON_CHARS).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");

// From the entities and changes of another Gazetteer to claims. What that service adds itself is not claimed: `sources`,
// `firstSeen`, `lastChanged`, `revision`, what follows from other fields (the id of a link, `bidirectional`, `location`),
// and the texts of conflicts: this service finds the conflicts of its own view, and would otherwise repeat those of the
// other one, each with the next service in a chain. `verified` and `lastUpdate` are claimed.

/** Set by the view, see model/conflict.ts. */
const CONFLICT = "conflict";

type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: ClaimFault };

export function claimOf<K extends Kind>(kind: K, entity: Entities[K]): Result<ClaimTypes[K]> {
  const { annotations, ...fields } = claimFields(kind, { ...entity });
  const claimed = claimAnnotations(annotations, CONFLICT);
  const record = claimed === undefined ? fields : { ...fields, annotations: claimed };
  const result = canonicalClaim(kind, record);
  return result.ok ? { ok: true, value: result.claim } : result;
}

/** One object type for each kind, so that kind and claim belong together. */
type SetChange = Extract<ClaimChange, { op: "set" }>;

function setChangeOf({ resource, value }: WatchChange | WatchSnapshot): Result<SetChange> {
  const set = <K extends Kind>(kind: K, entity: Entities[K], wrap: (claim: ClaimTypes[K]) => SetChange) => {
    const claim = claimOf(kind, entity);
    return claim.ok ? ({ ok: true, value: wrap(claim.value) } as const) : claim;
  };
  switch (resource) {
    case "devices":
      return set(resource, value, (claim) => ({ op: "set", kind: resource, claim }));
    case "ports":
      return set(resource, value, (claim) => ({ op: "set", kind: resource, claim }));
    case "links":
      return set(resource, value, (claim) => ({ op: "set", kind: resource, claim }));
    case "hosts":
      return set(resource, value, (claim) => ({ op: "set", kind: resource, claim }));
  }
}

const removalOf = ({ resource, value }: WatchChange): ClaimChange => ({
  op: "remove",
  kind: resource,
  id: idOf(value),
});

// Loops of services that read from each other. In a loop no claim would ever end: each service would show what the next
// one still shows.
//
// Every service shows the logs that its sources come from (`Sink.setUpstreamLogs`, `/readyz`), also those of a source that
// it refuses, and refuses a source whose upstream has this service's own log in that list. So every source that is part of
// a loop is refused, in whatever order the services start, and as long as the loop is configured. A source checks again in
// each interval, so a loop over several services is found after as many intervals at the most, and so is its end.

/** The logs that a source of this peer comes from, each once. */
export const upstreamLogsOf = ({ logId, sources }: GazetteerPeer): string[] => [
  ...new Set([logId, ...sources.flatMap(({ upstreamLogs }) => upstreamLogs)]),
];

/** One line for the operator; undefined when reading from the peer makes no loop. */
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
