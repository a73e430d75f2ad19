/** The status in the bar: live, a past moment, a comparison, stale sources, a lost connection, or loading. */

import type { ClusterOverview } from "../../model/cluster-overview.ts";
import type { ClusterReadiness } from "../../model/readiness.ts";
import { isFailing, type SourceStatus } from "../../model/source-status.ts";
import { type PageStore, useStore } from "../data/page-store.ts";
import { formatCount } from "../data/shown-names.ts";
import type { ViewState } from "../data/view-state.ts";
import { Popover } from "../elements/controls.tsx";
import { formatDuration, formatFullTime, formatMoment, formatShortTime } from "../elements/format-time.ts";
import { Loaded } from "../panel/parts.tsx";

interface StatusText {
  readonly level: "live" | "past" | "stale" | "lost" | "waiting";
  readonly text: string;
}

/** A source on standby runs on another node of the cluster, so that it is stale only when it fails there. */
const isStale = (source: SourceStatus): boolean =>
  isFailing(source) || (source.status !== "synced" && source.status !== "standby");

/** The word for the state of a source that is not up to date. A starting source has not failed. */
const troubleOf = (source: SourceStatus): string =>
  isFailing(source) ? "failed" : source.status === "starting" ? "starting" : "stale";

type StatusStore = Pick<
  PageStore,
  "state" | "connection" | "network" | "readiness" | "shownMoments" | "isMomentLoading" | "timeOf"
>;

export function statusOf(store: StatusStore): StatusText {
  const { at, compare } = store.state.value;
  const connection = store.connection.value.state;
  const hasNetwork = store.network.value !== undefined;
  if (connection === "reconnecting" || connection === "closed")
    return { level: "lost", text: hasNetwork ? "Connection lost" : "No connection" };
  const loading = loadingMomentText(store);
  if (loading !== undefined) return { level: "waiting", text: loading };
  if (compare !== undefined) return { level: "past", text: "Comparing" };
  if (at !== undefined) return { level: "past", text: "The past" };
  const staleSeconds = store.readiness.value?.cluster?.staleSeconds;
  if (staleSeconds !== undefined)
    return { level: "stale", text: `May be ${formatDuration(1000 * staleSeconds)} old` };
  const stale = store.readiness.value?.sources?.filter(isStale) ?? [];
  const [first] = stale;
  if (first) {
    const troubles = new Set(stale.map(troubleOf));
    const trouble = troubles.size === 1 ? troubleOf(first) : "not up to date";
    const text = stale.length === 1 ? `${first.name} ${trouble}` : `${stale.length} sources ${trouble}`;
    return { level: "stale", text };
  }
  if (!hasNetwork || connection === "connecting") return { level: "waiting", text: "Connecting" };
  return { level: "live", text: "Live" };
}

export function Status() {
  const { level, text } = statusOf(useStore());
  const face = (
    <span class="status-face">
      <span class="dot" />
      <span class="status-words" role="status">
        {text}
      </span>
    </span>
  );
  return (
    <Popover
      label="State of the connection and of the sources"
      class="popover-anchor status"
      level={level}
      face={face}
    >
      {() => <StatusDetails />}
    </Popover>
  );
}

function StatusDetails() {
  const { connection, lostSince, readiness } = useStore();
  const sources = readiness.value?.sources;
  return (
    <>
      {lostSince.value !== undefined && <p>{`No connection since ${sinceText(lostSince.value)}.`}</p>}
      <p>{streamText(connection.value)}</p>
      <h2>{sources ? formatCount(sources.length, "source") : "Loading sources…"}</h2>
      <ul class="sources">
        {sources?.map((source) => (
          <Source key={source.name} source={source} />
        ))}
      </ul>
      {readiness.value?.cluster && <ClusterDetails cluster={readiness.value.cluster} />}
    </>
  );
}

/** `03:12:45 (5 min)` */
const sinceText = (ms: number): string => `${formatShortTime(ms)} (${formatDuration(Date.now() - ms)})`;

function streamText(connection: PageStore["connection"]["value"]): string {
  if (connection.state !== "reconnecting") return `Stream ${connection.state}.`;
  const delay = connection.afterMs > 0 ? ` in ${formatDuration(connection.afterMs)}` : "";
  return `Trying again${delay}: ${connection.reason}`;
}

function Source({ source }: { readonly source: SourceStatus }) {
  const { name, kind, status, node, since, failedSince, lastSyncedAt, error } = source;
  const stale = isStale(source);
  const state = isFailing(source) ? "failed" : status;
  return (
    <li class={stale ? "bad" : ""}>
      <strong>{name}</strong>
      {` ${kind} · ${state} since ${sinceText(failedSince ?? since)}`}
      {node !== undefined && ` · runs on ${node}`}
      {stale && lastSyncedAt !== undefined && <div>{`Last complete ${formatFullTime(lastSyncedAt)}`}</div>}
      {error !== undefined && <div class="error-text">{error}</div>}
    </li>
  );
}

/** The cluster of the node that serves the page: whether the node follows the log, the other nodes, and NATS. */
function ClusterDetails({ cluster }: { readonly cluster: ClusterReadiness }) {
  const { client, readiness } = useStore();
  const { name, staleSeconds, error } = cluster;
  return (
    <>
      <h2>{`Cluster ${name}`}</h2>
      {staleSeconds !== undefined && (
        <p class="error-text" role="alert">
          {`This node cannot follow the log: what is shown may be ${formatDuration(1000 * staleSeconds)} old.`}
        </p>
      )}
      {error !== undefined && <p class="error-text">{error}</p>}
      {/* Loaded with each reading of the readiness, even if that is the same, because a node may have joined or left. */}
      <Loaded version={readiness.value} load={(signal) => client.cluster({ signal })}>
        {(overview) => <Overview overview={overview} />}
      </Loaded>
    </>
  );
}

function Overview({ overview: { nodes, engine, error } }: { readonly overview: ClusterOverview }) {
  return (
    <>
      {error !== undefined && <p class="error-text">{error}</p>}
      <ul class="sources">
        {nodes.map(({ node, name, url, revision, lag, held, since, lostSince, trouble }) => (
          <li key={node} class={trouble === undefined && lostSince === undefined ? "" : "bad"}>
            <strong>{name}</strong>
            {` ${url} · revision ${revision} · ${formatCount(lag, "message")} behind · ${lostSince === undefined ? `since ${formatShortTime(since)}` : `lost since ${formatShortTime(lostSince)}`}`}
            <div>{held.length === 0 ? "Runs no source" : `Runs ${held.join(", ")}`}</div>
            {trouble !== undefined && <div class="error-text">{trouble}</div>}
          </li>
        ))}
      </ul>
      {engine && <Engine engine={engine} />}
    </>
  );
}

function Engine({ engine }: { readonly engine: NonNullable<ClusterOverview["engine"]> }) {
  const { replicas, messages, bytes, servers } = engine;
  return (
    <>
      <p>
        {`NATS: ${formatCount(replicas, "replica")}, ${formatCount(messages, "message")}, ${(bytes / 2 ** 20).toFixed(1)} MiB`}
      </p>
      <ul class="sources">
        {servers.map(({ name, state, offlineSince }) => (
          <li key={name} class={state === "leader" || state === "current" ? "" : "bad"}>
            {`${name} · ${state === "offline" ? "lost" : state}${offlineSince === undefined ? "" : ` since ${formatShortTime(offlineSince)}`}`}
          </li>
        ))}
      </ul>
    </>
  );
}

type AgeStore = Pick<PageStore, "state" | "lostSince" | "network"> & {
  readonly session: Pick<PageStore["session"], "needsLogin">;
};

/** Whether the present is shown and is not current, because there is no connection or no login. */
export const isOutOfDate = ({ state, lostSince, network, session }: AgeStore): boolean =>
  (lostSince.value !== undefined || session.needsLogin.value) &&
  network.value !== undefined &&
  state.value.at === undefined;

/** Why what is shown is not current; undefined while it is. */
export function outOfDateText(store: AgeStore): string | undefined {
  if (!isOutOfDate(store)) return undefined;
  const since = store.lostSince.value;
  // Without a login the stream may still be connected, and everything else waits.
  if (since === undefined) return "Not logged in: this may be out of date";
  return `No connection since ${formatShortTime(since)}: this is the network of that time`;
}

/** The note that what is shown is old, and since when. */
export function OutOfDateNote() {
  const text = outOfDateText(useStore());
  if (text === undefined) return null;
  return (
    <p class="chip fault-note" role="status">
      {text}
    </p>
  );
}

type MomentStore = Pick<PageStore, "state" | "shownMoments" | "isMomentLoading" | "timeOf">;

/** A list with one chip, or an empty list when the page shows the present. */
export function momentChip(store: MomentStore): { text: string; undo: Partial<ViewState> }[] {
  const { compare } = store.state.value;
  // During playback the address is one step ahead of the moment that is shown.
  const at = store.state.value.play
    ? (store.shownMoments.value.at ?? store.state.value.at)
    : store.state.value.at;
  const isLoading = store.isMomentLoading.value;
  const textOf = (moment: string) => formatMoment(moment, store.timeOf(moment));
  if (compare !== undefined) {
    const moments = `${textOf(compare)} → ${at === undefined ? "now" : textOf(at)}`;
    return [
      { text: isLoading ? `Loading ${moments}…` : `Compared: ${moments}`, undo: { compare: undefined } },
    ];
  }
  if (at === undefined) return [];
  const moment = textOf(at);
  return [{ text: isLoading ? `Loading ${moment}…` : `As of ${moment}`, undo: { at: undefined } }];
}

/** The short text for the status while a moment is loading; undefined otherwise. */
function loadingMomentText(store: MomentStore): string | undefined {
  const { at, compare } = store.state.value;
  const moment = at ?? compare;
  if (moment === undefined || !store.isMomentLoading.value) return undefined;
  return `Loading ${formatMoment(moment, store.timeOf(moment), formatShortTime)}…`;
}
