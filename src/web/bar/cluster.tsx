/** The cluster of the node that the page is served by: how it follows the log, the other nodes, and NATS. */
import type { ClusterOverview } from "../../model/cluster-overview.ts";
import type { ClusterReadiness } from "../../model/readiness.ts";
import { formatCount } from "../data/entity-names.ts";
import { useStore } from "../data/page-store.ts";
import { formatDuration, formatShortTime } from "../elements/format-time.ts";
import { Loaded } from "../panel/loaded.tsx";

export function ClusterDetails({ cluster }: { readonly cluster: ClusterReadiness }) {
  const { client, readiness } = useStore();
  const { name, staleSeconds, error } = cluster;
  return (
    <>
      <h3>{`Cluster ${name}`}</h3>
      {staleSeconds !== undefined && (
        <p class="error-text" role="alert">
          {`This node cannot follow the log: what is shown may be ${formatDuration(1000 * staleSeconds)} old.`}
        </p>
      )}
      {error !== undefined && <p class="error-text">{error}</p>}
      {/* With each reading of the readiness, also if that is the same: a node may have joined or left. */}
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
            {`${name} · ${state}${offlineSince === undefined ? "" : ` since ${formatShortTime(offlineSince)}`}`}
          </li>
        ))}
      </ul>
    </>
  );
}
