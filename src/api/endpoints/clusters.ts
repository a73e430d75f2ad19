/** The clusters of the topology: the strongly connected components of available devices and active links. */
import Type from "typebox";
import { JSON_FORMAT } from "../../formats/formats.ts";
import { COST, mapInSteps, Pause, type Steps } from "../../lib/steps.ts";
import { Cluster, Link } from "../../model/entity.ts";
import { parameterSet } from "../../query/parameters.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { stateAt } from "../../query/revision.ts";
import type { ClusterMembers } from "../../view/link-graph.ts";
import { clusterOf, type NetworkState } from "../../view/view.ts";
import type { Dialect } from "../onos/dialect.ts";
import type { Schema } from "../openapi/components.ts";
import { FIRST, LINK, SECOND } from "../openapi/example-network.ts";
import { ProblemDetails } from "../response/problem.ts";
import type { Content, Representation } from "../response/representation.ts";
import { type Endpoint, type EndpointText, ITEM_PARAMETERS, matchExactly } from "./endpoint.ts";
import { partRepresentation } from "./entity.ts";
import { jsonList } from "./json-list.ts";
import type { RequestContext } from "./read-context.ts";

const CLUSTER: Cluster = { id: 0, deviceCount: 2, linkCount: 2, root: FIRST };

const listClusters: Endpoint<object> = {
  id: "listClusters",
  tag: "Topology",
  summary: "Clusters",
  description: "The strongly connected components of available devices and active links.",
  readName: "clusters",
  path: "/topology/clusters",
  match: matchExactly("topology", "clusters"),
  parameters: parameterSet(ITEM_PARAMETERS),
  variants: [
    {
      formats: [JSON_FORMAT],
      schema: Type.Object({ clusters: Type.Array(Cluster) }, { $id: "ClusterList" }),
      example: { clusters: [CLUSTER] },
      *read(context, _params, query) {
        const state = yield* stateAt(context.history, context.revisions.at);
        const clusters = yield* clusterMembers(state);
        const chunks = jsonList('{"clusters":[', clustersOf(clusters, context.dialect), "]}");
        const changedAt = ({ graph }: { graph: number }) => graph;
        return partRepresentation(context, query, state, { key: "clusters", changedAt, chunks });
      },
    },
  ],
};

type RenderCluster = (
  cluster: ClusterMembers,
  n: number,
  state: NetworkState,
  dialect: Dialect,
) => Content["chunks"];

interface ClusterEndpointOptions extends Omit<EndpointText, "tag"> {
  /** The last segment of the path; empty for the cluster itself. */
  readonly part: "" | "devices" | "links";
  readonly schema: Schema;
  readonly example: unknown;
  readonly render: RenderCluster;
}

/** Creates an endpoint about one cluster, which the path names by its number. */
function clusterEndpoint({
  part,
  schema,
  example,
  render,
  ...text
}: ClusterEndpointOptions): Endpoint<number> {
  return {
    ...text,
    tag: "Topology",
    readName: "cluster",
    path: part === "" ? "/topology/clusters/{n}" : `/topology/clusters/{n}/${part}`,
    match: ([, clusters, n = "", last = "", ...rest]) =>
      clusters === "clusters" && /^\d{1,9}$/.test(n) && last === part && rest.length === 0
        ? Number(n)
        : undefined,
    parameters: parameterSet(ITEM_PARAMETERS),
    variants: [
      {
        formats: [JSON_FORMAT],
        schema,
        example,
        read: (context, n, query) => clusterRepresentation(context, n, query, part, render),
      },
    ],
  };
}

function* clusterRepresentation(
  context: RequestContext,
  n: number,
  query: ParsedQuery,
  part: string,
  render: RenderCluster,
): Steps<Representation> {
  const state = yield* stateAt(context.history, context.revisions.at);
  const clusters = yield* clusterMembers(state);
  const cluster = clusters[n];
  if (!cluster) {
    const last = clusters.length - 1;
    const allowed = last < 0 ? "there are none" : `they count from 0 to ${last}`;
    throw new ProblemDetails("not-found", `There is no cluster ${n}; ${allowed}.`);
  }
  return partRepresentation(context, query, state, {
    key: `cluster ${n} ${part}`,
    changedAt: ({ graph, links }) => Math.max(graph, links),
    chunks: render(cluster, n, state, context.dialect),
  });
}

type Clusters = readonly ClusterMembers[];

function* clusterMembers(state: NetworkState): Steps<Clusters> {
  return yield* (yield* state.linkGraph()).clusters();
}

function clusterJson(members: ClusterMembers, n: number, dialect: Dialect): string {
  const cluster = clusterOf(members, n);
  return JSON.stringify({ ...cluster, root: dialect.deviceId(cluster.root) });
}

function* clustersOf(clusters: Clusters, dialect: Dialect): Generator<string | undefined, void, void> {
  const pause = new Pause();
  for (const [n, members] of clusters.entries()) {
    yield clusterJson(members, n, dialect);
    if (pause.due(COST.record)) yield undefined;
  }
}

const getCluster = clusterEndpoint({
  id: "getCluster",
  summary: "One cluster",
  description: "The cluster with this number.",
  part: "",
  schema: Cluster,
  example: CLUSTER,
  render: (cluster, n, _state, dialect) => clusterJson(cluster, n, dialect),
});

const listClusterDevices = clusterEndpoint({
  id: "listClusterDevices",
  summary: "The devices of a cluster",
  description: "The ids of the cluster's devices.",
  part: "devices",
  schema: Type.Object(
    { devices: Type.Array(Type.String({ description: "The id of a device." })) },
    { $id: "ClusterDevices" },
  ),
  example: { devices: [FIRST, SECOND] },
  render({ devices }, _n, _state, dialect) {
    const ids = mapInSteps(devices, COST.record, (id) => JSON.stringify(dialect.deviceId(id)));
    return jsonList('{"devices":[', ids, "]}");
  },
});

const listClusterLinks = clusterEndpoint({
  id: "listClusterLinks",
  summary: "The links of a cluster",
  description: "The links between the cluster's devices.",
  part: "links",
  schema: Type.Object({ links: Type.Array(Link) }, { $id: "ClusterLinks" }),
  example: { links: [LINK] },
  render({ links: ids }, _n, state, dialect) {
    const links = mapInSteps(ids, COST.entity, (id) => {
      const json = state.get("links", id);
      return json === undefined ? undefined : dialect.entity("links", json);
    });
    return jsonList('{"links":[', links, "]}");
  },
});

export const CLUSTER_ENDPOINTS = [listClusters, getCluster, listClusterDevices, listClusterLinks];
