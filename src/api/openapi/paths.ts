/**
 * The service's own paths in the OpenAPI document: one operation a path, GET. HEAD and OPTIONS are the same on every path and described
 * once, in the description of the document.
 */
import { ClusterOverview } from "../../model/cluster-overview.ts";
import { MapSettings, MetricValues } from "../../model/map-settings.ts";
import { Readiness } from "../../model/readiness.ts";
import { JSON_TYPE } from "../response/media-types.ts";
import type { Json } from "./components.ts";
import { EXAMPLES } from "./examples.ts";
import { AUXILIARY_PROBLEMS, filePath, pathItem } from "./operations.ts";
import {
  COMMON_HEADERS,
  type HeaderName,
  headerRefs,
  mediaType,
  problemRefs,
  UNIVERSAL_HEADERS,
} from "./parts.ts";
import { LIVENESS_SCHEMA, OPENAPI_SCHEMA } from "./schemas.ts";

const HEALTH_HEADERS: readonly HeaderName[] = ["Cache-Control", ...UNIVERSAL_HEADERS];
const READINESS_HEADERS: readonly HeaderName[] = [...HEALTH_HEADERS, "Gazetteer-Log"];
const FILE_HEADERS: readonly HeaderName[] = [...COMMON_HEADERS, "ETag", "Content-Encoding"];
const PAGE_HEADERS: readonly HeaderName[] = [
  ...FILE_HEADERS,
  "Cross-Origin-Opener-Policy",
  "Permissions-Policy",
  "Referrer-Policy",
];

const HTML = { "text/html": { schema: { type: "string" }, example: "<!doctype html>" } };

export const SERVICE_PATHS: Json = {
  "/healthz": pathItem({
    id: "getHealth",
    tag: "Service",
    summary: "Whether the process responds",
    description: "For liveness probes. Needs no credentials.",
    headers: HEALTH_HEADERS,
    content: { [JSON_TYPE]: mediaType(LIVENESS_SCHEMA, EXAMPLES.Liveness) },
    responses: problemRefs(431),
    isPublic: true,
  }),
  "/readyz": pathItem({
    id: "getReadiness",
    tag: "Service",
    summary: "Whether every source has synced",
    description:
      "For readiness probes. Needs no credentials; with valid ones the body has the version, the state of every source, the processes and the storage.",
    headers: READINESS_HEADERS,
    content: { [JSON_TYPE]: mediaType(Readiness, EXAMPLES.Readiness) },
    responses: {
      ...problemRefs(431),
      "503": {
        description: "Not ready yet, or stopping.",
        headers: headerRefs(READINESS_HEADERS),
        content: { [JSON_TYPE]: mediaType(Readiness, EXAMPLES.Readiness) },
      },
    },
    isPublic: true,
  }),
  "/metrics": pathItem({
    id: "getMetrics",
    tag: "Service",
    summary: "Metrics",
    description: "Metrics of the service in the text format of Prometheus.",
    headers: COMMON_HEADERS,
    content: { "text/plain": { schema: { type: "string" }, example: "gazetteer_revision 8\n" } },
    responses: AUXILIARY_PROBLEMS,
  }),
  "/cluster": pathItem({
    id: "getClusterOverview",
    tag: "Service",
    summary: "The nodes of the cluster",
    description:
      "Nodes, the node that runs each source, and the state of NATS, as `gazetteer cluster status` shows them. Empty on a single node.",
    headers: COMMON_HEADERS,
    content: { [JSON_TYPE]: mediaType(ClusterOverview, EXAMPLES.ClusterOverview) },
    responses: AUXILIARY_PROBLEMS,
  }),
  "/map/settings.json": filePath(
    {
      id: "getMapSettings",
      tag: "Service",
      summary: "What the configuration gives the map",
      description: "Links out of the map, saved views, and the metrics that can be shown on links.",
    },
    { [JSON_TYPE]: mediaType(MapSettings, EXAMPLES.MapSettings) },
    FILE_HEADERS,
  ),
  "/map/metrics/{metric}": filePath(
    {
      id: "getMapMetric",
      tag: "Service",
      summary: "The values of a metric on links",
      description:
        "From Prometheus, queried once in an interval for all clients. A failure is a problem, not values.",
    },
    { [JSON_TYPE]: mediaType(MetricValues, EXAMPLES.MetricValues) },
    FILE_HEADERS,
    ["metric"],
    problemRefs(400, 502),
  ),
  "/openapi.json": filePath(
    { id: "getOpenapi", tag: "Service", summary: "This document", description: "OpenAPI 3.1." },
    { [JSON_TYPE]: mediaType(OPENAPI_SCHEMA, EXAMPLES.OpenApiDocument) },
    FILE_HEADERS,
  ),
  "/docs": filePath(
    {
      id: "getDocs",
      tag: "Service",
      summary: "The documentation",
      description: "The interface reference as a page, with links to the other pages.",
    },
    HTML,
    PAGE_HEADERS,
  ),
  "/docs/{page}": filePath(
    {
      id: "getDocsPage",
      tag: "Service",
      summary: "One page of the documentation",
      description: "A file of the folder `docs`, rendered.",
    },
    HTML,
    PAGE_HEADERS,
    ["page"],
  ),
  "/": filePath(
    { id: "getMap", tag: "Service", summary: "The map", description: "The web page with the map." },
    HTML,
    PAGE_HEADERS,
  ),
};
