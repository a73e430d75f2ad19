/**
 * The paths of the OpenAPI document: one operation a path, GET. HEAD and OPTIONS are the same on every path and described
 * once, in the description of the document.
 */
import { ClusterOverview } from "../../model/cluster-overview.ts";
import { Cluster, Device, Host, Link, Port } from "../../model/entity.ts";
import { MapSettings, MetricValues } from "../../model/map-settings.ts";
import { Readiness } from "../../model/readiness.ts";
import { JSON_TYPE } from "../response/media-types.ts";
import type { Json } from "./components.ts";
import {
  AUXILIARY_PROBLEMS,
  collectionPath,
  EXPLAINED_PATHS,
  entityPath,
  filePath,
  itemPath,
  pathItem,
  pathsPath,
  problemsPath,
  searchPath,
} from "./operations.ts";
import {
  COMMON_HEADERS,
  type HeaderName,
  headerRefs,
  mediaType,
  problemRefs,
  UNIVERSAL_HEADERS,
} from "./parts.ts";
import {
  Broadcast,
  ClusterDevices,
  ClusterLinks,
  ClusterList,
  DeviceWithPorts,
  DisjointPathList,
  Infrastructure,
  LIVENESS_SCHEMA,
  OPENAPI_SCHEMA,
  PathList,
  StaleLinkAge,
} from "./schemas.ts";

const FILTERS =
  "Without parameters all of them, in order of id. Filters combine with *and*, several values of one with *or*.";
const DOCUMENTS =
  "`since` and `diff` return another document, with a media type of its own. With `fields` the objects have only these fields.";
const TARGETS =
  'With `format=prometheus` the body is, also as `application/json`, the array of Prometheus\' HTTP service discovery: `[{"targets": ["192.0.2.1"], "labels": {}}]`.';

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

export const PATHS: Json = {
  "/controller/v1/devices": collectionPath("devices", {
    id: "listDevices",
    tag: "Devices",
    summary: "Devices",
    description: `${FILTERS} ${DOCUMENTS} ${TARGETS}`,
  }),
  "/controller/v1/devices/ports": collectionPath("ports", {
    id: "listPorts",
    tag: "Devices",
    summary: "Ports of all devices",
    description: `${FILTERS} ${DOCUMENTS}`,
  }),
  "/controller/v1/devices/{id}": entityPath(Device, ["id"], {
    id: "getDevice",
    tag: "Devices",
    summary: "One device",
    description: "The device with this id, alias or name.",
  }),
  "/controller/v1/devices/{id}/ports": itemPath(DeviceWithPorts, ["id"], {
    id: "getDevicePorts",
    tag: "Devices",
    summary: "One device with its ports",
    description: "The device with this id, alias or name, and its ports in order of number.",
  }),
  "/controller/v1/devices/{id}/ports/{port}": entityPath(Port, ["id", "port"], {
    id: "getPort",
    tag: "Devices",
    summary: "One port of a device",
    description: "The port with this number.",
  }),
  "/controller/v1/links": collectionPath("links", {
    id: "listLinks",
    tag: "Links",
    summary: "Links",
    description: `One record a direction. ${FILTERS} ${DOCUMENTS}`,
  }),
  "/controller/v1/links/usestalelinkage": itemPath(StaleLinkAge, [], {
    id: "getStaleLinkAge",
    tag: "Links",
    summary: "Whether silent links age",
    description: "Always true: a link that is silent becomes INACTIVE and is removed. For clients of ONOS.",
  }),
  "/controller/v1/links/{id}": entityPath(Link, ["id"], {
    id: "getLink",
    tag: "Links",
    summary: "One link by its id",
    description: "The link with this id; the slashes are percent-encoded.",
  }),
  "/controller/v1/hosts": collectionPath("hosts", {
    id: "listHosts",
    tag: "Hosts",
    summary: "Hosts",
    description: `${FILTERS} ${DOCUMENTS} ${TARGETS}`,
  }),
  "/controller/v1/hosts/{id}": entityPath(Host, ["id"], {
    id: "getHost",
    tag: "Hosts",
    summary: "One host by its id",
    description: "The host with this id, such as `00:00:00:00:00:01/None`; the slash is percent-encoded.",
  }),
  "/controller/v1/hosts/{mac}/{vlan}": entityPath(Host, ["mac", "vlan"], {
    id: "getHostByMac",
    tag: "Hosts",
    summary: "One host by its MAC address and VLAN",
    description: "The host with this MAC address in this VLAN.",
  }),
  "/controller/v1/topology": collectionPath("topology", {
    id: "getTopology",
    tag: "Topology",
    summary: "The topology",
    description:
      "Counts as JSON, or the graph in a graph format. `since`, `diff`, `timeline` and `incident` return another document, with a media type of its own, about devices, ports, links and hosts.",
  }),
  "/controller/v1/topology/search": searchPath({
    id: "search",
    tag: "Topology",
    summary: "Search",
    description:
      "Devices and hosts by the beginnings of words of names, ids, MAC and IP addresses and serial numbers, or by a CIDR block; best first.",
  }),
  "/controller/v1/topology/clusters": itemPath(ClusterList, [], {
    id: "listClusters",
    tag: "Topology",
    summary: "Clusters",
    description: "The strongly connected components of available devices and active links.",
  }),
  "/controller/v1/topology/clusters/{n}": itemPath(Cluster, ["n"], {
    id: "getCluster",
    tag: "Topology",
    summary: "One cluster",
    description: "The cluster with this number.",
  }),
  "/controller/v1/topology/clusters/{n}/devices": itemPath(ClusterDevices, ["n"], {
    id: "listClusterDevices",
    tag: "Topology",
    summary: "The devices of a cluster",
    description: "The ids of the cluster's devices.",
  }),
  "/controller/v1/topology/clusters/{n}/links": itemPath(ClusterLinks, ["n"], {
    id: "listClusterLinks",
    tag: "Topology",
    summary: "The links of a cluster",
    description: "The links between the cluster's devices.",
  }),
  "/controller/v1/topology/problems": problemsPath({
    id: "listProblems",
    tag: "Topology",
    summary: "What is wrong with the network",
    description:
      "Devices that are unavailable, links that are inactive, one-sided or lost, hosts that moved or are duplicated, conflicts, drift and stale sources, worst first, each with since when and what it cuts off.",
  }),
  "/controller/v1/topology/broadcast/{device}:{port}": itemPath(Broadcast, ["device", "port"], {
    id: "getBroadcast",
    tag: "Topology",
    summary: "Whether a broadcast may leave at a port",
    description: "True unless the port belongs to a link that is not on the spanning tree of its cluster.",
  }),
  "/controller/v1/topology/infrastructure/{device}:{port}": itemPath(Infrastructure, ["device", "port"], {
    id: "getInfrastructure",
    tag: "Topology",
    summary: "Whether a port leads to another device",
    description: "True where an active link between available devices begins or ends at the port.",
  }),
  "/controller/v1/paths/{src}/{dst}": pathsPath(
    PathList,
    {
      id: "listPaths",
      tag: "Topology",
      summary: "The shortest paths",
      description:
        "All paths of the lowest cost between two devices or hosts, in the order of their link ids. An unknown end is no error: there is no path. With `explain=true`: how many there are and what they use together, or why there is none.",
    },
    EXPLAINED_PATHS,
  ),
  "/controller/v1/paths/{src}/{dst}/disjoint": pathsPath(DisjointPathList, {
    id: "listDisjointPaths",
    tag: "Topology",
    summary: "Pairs of disjoint paths",
    description: "Pairs of paths that share no link, with the lowest sum of costs.",
  }),
  "/healthz": pathItem({
    id: "getHealth",
    tag: "Service",
    summary: "Whether the process responds",
    description: "For liveness probes. Needs no credentials.",
    headers: HEALTH_HEADERS,
    content: { [JSON_TYPE]: mediaType(LIVENESS_SCHEMA) },
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
    content: { [JSON_TYPE]: mediaType(Readiness) },
    responses: {
      ...problemRefs(431),
      "503": {
        description: "Not ready yet, or stopping.",
        headers: headerRefs(READINESS_HEADERS),
        content: { [JSON_TYPE]: mediaType(Readiness) },
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
    content: { [JSON_TYPE]: mediaType(ClusterOverview) },
    responses: AUXILIARY_PROBLEMS,
  }),
  "/map/settings.json": filePath(
    {
      id: "getMapSettings",
      tag: "Service",
      summary: "What the configuration gives the map",
      description: "Links out of the map, saved views, and the metrics that can be shown on links.",
    },
    { [JSON_TYPE]: mediaType(MapSettings) },
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
    { [JSON_TYPE]: mediaType(MetricValues) },
    FILE_HEADERS,
    ["metric"],
    problemRefs(400, 502),
  ),
  "/openapi.json": filePath(
    { id: "getOpenapi", tag: "Service", summary: "This document", description: "OpenAPI 3.1." },
    { [JSON_TYPE]: mediaType(OPENAPI_SCHEMA) },
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
