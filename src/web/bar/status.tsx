/** Says whether the page shows the present: live, a past moment, a stale source or a lost connection. */
import { isFailing, type SourceStatus } from "../../model/source-status.ts";
import { formatCount } from "../data/entity-names.ts";
import { type Store, useStore } from "../data/page-store.ts";
import { formatDuration, formatFullTime, formatShortTime } from "../elements/format-time.ts";
import { Popover } from "../elements/popover.tsx";
import { ClusterDetails } from "./cluster.tsx";
import { loadingMomentText } from "./moment-text.ts";

interface StatusText {
  readonly level: "live" | "past" | "stale" | "lost" | "waiting";
  readonly text: string;
}

/** A source on standby is as well as the node that runs it says. */
const isStale = (source: SourceStatus): boolean =>
  isFailing(source) || (source.status !== "synced" && source.status !== "standby");

/** What is wrong with a source that is stale: `starting` is not wrong yet. */
const troubleOf = (source: SourceStatus): string =>
  isFailing(source) ? "failed" : source.status === "starting" ? "starting" : "stale";

type StatusStore = Pick<
  Store,
  "state" | "connection" | "network" | "readiness" | "shownMoments" | "isMomentLoading"
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
      <h3>{sources ? formatCount(sources.length, "source") : "Loading sources…"}</h3>
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

function streamText(connection: Store["connection"]["value"]): string {
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
