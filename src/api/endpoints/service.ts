/** Endpoints about the service, for operators and programs: metrics, the nodes of its cluster, the OpenAPI document. */
import Type from "typebox";
import { ClusterOverview } from "../../model/cluster-overview.ts";
import { metricsResponse } from "../metrics/metrics.ts";
import { COMMON_HEADERS } from "../openapi/parts.ts";
import { JSON_TYPE } from "../response/representation.ts";
import { FILE_HEADERS, type ServiceEndpoint } from "./service-endpoint.ts";

export const getMetrics: ServiceEndpoint = {
  path: "/metrics",
  access: "metrics",
  matches: (path) => path === "/metrics",
  async respond({ service, owner, signal }) {
    const { context, version, readers, configReload, forwards, map } = service;
    const response = metricsResponse({
      context,
      version,
      metrics: service.metrics(),
      sources: service.sources(),
      rejectedRecords: service.rejectedRecords(),
      readers,
      configReload,
      tlsExpiresAt: service.tlsExpiresAt?.(),
      forwards,
      map,
      cluster: service.clusterStatus,
      now: service.clock.now(),
    });
    return context.scheduler.run(owner, response, signal);
  },
  openapi: {
    id: "getMetrics",
    tag: "Service",
    summary: "Metrics",
    description: "Metrics of the service in the text format of Prometheus.",
    mediaType: "text/plain",
    schema: Type.String(),
    example: "gazetteer_revision 8\n",
    headers: COMMON_HEADERS,
  },
};

const SINGLE_NODE: ClusterOverview = { nodes: [], leases: [] };

export const getClusterOverview: ServiceEndpoint = {
  path: "/cluster",
  access: "reader",
  matches: (path) => path === "/cluster",
  async respond({ service: { clusterOverview } }) {
    const overview = (await clusterOverview?.()) ?? SINGLE_NODE;
    const headers = { "Content-Type": JSON_TYPE, "Cache-Control": "no-store" };
    return { status: 200, headers, body: JSON.stringify(overview) };
  },
  openapi: {
    id: "getClusterOverview",
    tag: "Service",
    summary: "The nodes of the cluster",
    description:
      "Nodes, the node that runs each source, and the state of NATS, as `gazetteer cluster status` shows them. Empty on a single node.",
    mediaType: JSON_TYPE,
    schema: ClusterOverview,
    example: {
      name: "default",
      nodes: [
        {
          name: "a",
          node: "a.5f0c12aa",
          url: "http://10.0.0.1:8181",
          version: "0.1.0",
          revision: 9,
          lag: 0,
          sources: ["demo"],
          held: ["demo"],
          since: 1794704401000,
          ageSeconds: 1,
        },
      ],
      leases: [{ source: "demo", node: "a" }],
      engine: {
        stream: "GAZETTEER_default",
        replicas: 3,
        servers: [
          { name: "n1", state: "leader" },
          { name: "n2", state: "current", lag: 0 },
          { name: "n3", state: "current", lag: 0 },
        ],
        messages: 12,
        bytes: 4096,
      },
      snapshots: [{ revision: 8, time: 1794704408000, bytes: 2048 }],
    },
    headers: COMMON_HEADERS,
  },
};

export const getOpenapi: ServiceEndpoint = {
  path: "/openapi.json",
  access: "reader",
  matches: (path) => path === "/openapi.json",
  respond: ({ service, request }) => service.openapi().respond(request),
  openapi: {
    id: "getOpenapi",
    tag: "Service",
    summary: "This document",
    description: "OpenAPI 3.1.",
    mediaType: JSON_TYPE,
    schema: Type.Object(
      {
        openapi: Type.String(),
        info: Type.Record(Type.String(), Type.Unknown()),
        ...Type.Partial(
          Type.Object({
            servers: Type.Array(Type.Unknown()),
            security: Type.Array(Type.Unknown()),
            tags: Type.Array(Type.Unknown()),
            paths: Type.Record(Type.String(), Type.Unknown()),
            components: Type.Record(Type.String(), Type.Unknown()),
          }),
        ).properties,
      },
      { $id: "OpenApiDocument" },
    ),
    example: { openapi: "3.1.0", info: { title: "Gazetteer" } },
    headers: FILE_HEADERS,
    isFile: true,
  },
};
