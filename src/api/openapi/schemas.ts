/** Schemas of the bodies that are not single entities: lists, documents, graphs, problems, health. */
import Type from "typebox";
import { FORMATS } from "../../formats/formats.ts";
import { ClusterOverview } from "../../model/cluster-overview.ts";
import { Cluster, Collection, Device, Host, int64, Link, Port, Topology } from "../../model/entity.ts";
import { Explanation } from "../../model/explanation.ts";
import type { Kind } from "../../model/ids.ts";
import { IncidentSearch } from "../../model/incident.ts";
import { MapSettings, MetricValues } from "../../model/map-settings.ts";
import { NetworkProblem, ProblemCounts } from "../../model/network-problem.ts";
import { PathExplanation } from "../../model/path-explanation.ts";
import { Readiness } from "../../model/readiness.ts";
import { PROBLEMS } from "../response/problem.ts";
import type { Schema } from "./components.ts";

const next = Type.Optional(
  Type.String({ description: "With `limit`: the cursor of the next page; absent on the last." }),
);

export const LIST_SCHEMAS: Readonly<Record<Kind, Schema>> = {
  devices: Type.Object({ devices: Type.Array(Device), next }, { $id: "DeviceList" }),
  ports: Type.Object({ ports: Type.Array(Port), next }, { $id: "PortList" }),
  links: Type.Object({ links: Type.Array(Link), next }, { $id: "LinkList" }),
  hosts: Type.Object({ hosts: Type.Array(Host), next }, { $id: "HostList" }),
};

export const DeviceWithPorts = Type.Object(
  { ...Device.properties, ports: Type.Array(Port) },
  { $id: "DeviceWithPorts" },
);
export const ProblemList = Type.Object(
  {
    problems: Type.Array(NetworkProblem, { description: "Worst first." }),
    counts: ProblemCounts,
    next: Type.Optional(Type.String({ description: "The cursor of the next page; absent on the last one." })),
  },
  { $id: "ProblemList" },
);

export const ClusterList = Type.Object({ clusters: Type.Array(Cluster) }, { $id: "ClusterList" });
export const ClusterDevices = Type.Object(
  { devices: Type.Array(Type.String({ description: "The id of a device." })) },
  { $id: "ClusterDevices" },
);
export const ClusterLinks = Type.Object({ links: Type.Array(Link) }, { $id: "ClusterLinks" });

const PathEnd = Type.Object(
  {
    port: Type.String({ description: "The port of the device; 0 of a host." }),
    device: Type.Optional(Type.String({ description: "The id of a device." })),
    host: Type.Optional(Type.String({ description: "The id of a host, at an end of the path." })),
  },
  { $id: "PathEnd" },
);
const PathLink = Type.Object(
  {
    ...Type.Partial(Link).properties,
    src: PathEnd,
    dst: PathEnd,
    type: Link.properties.type,
    state: Link.properties.state,
  },
  { $id: "PathLink", description: "A Link with all its fields, or the EDGE link of a host." },
);
const Path = Type.Object(
  {
    cost: Type.Integer({ description: "1 a link, 32767 an INDIRECT link." }),
    links: Type.Array(PathLink),
  },
  { $id: "Path" },
);
export const PathList = Type.Object({ paths: Type.Array(Path), next }, { $id: "PathList" });
export const DisjointPathList = Type.Object(
  {
    paths: Type.Array(Type.Object({ primary: Path, backup: Type.Optional(Path) }, { $id: "DisjointPath" })),
  },
  { $id: "DisjointPathList" },
);
export const Broadcast = Type.Object({ broadcast: Type.Boolean() }, { $id: "Broadcast" });
export const Infrastructure = Type.Object({ infrastructure: Type.Boolean() }, { $id: "Infrastructure" });
export const StaleLinkAge = Type.Object({ active: Type.Boolean() }, { $id: "StaleLinkAge" });

const Moment = Type.Object(
  { revision: int64("A revision of the view."), time: int64("Epoch milliseconds of that revision.") },
  { $id: "Moment" },
);
const Entity = Type.Record(Type.String(), Type.Unknown(), {
  $id: "Entity",
  description: "The Device, Port, Link or Host, as `resource` says; its last value when removed.",
});
const change = {
  event: Type.Enum(["added", "updated", "removed"], { $id: "ChangeEvent" }),
  resource: Collection,
  value: Entity,
  changed: Type.Optional(
    Type.Array(Type.String(), { description: "The top-level fields that differ, on updated." }),
  ),
};
const Change = Type.Object(
  {
    ...change,
    revision: int64("The revision that made the change."),
    time: int64("Its epoch milliseconds."),
  },
  { $id: "Change" },
);
const Difference = Type.Object({ ...change, before: Type.Optional(Entity) }, { $id: "Difference" });

export const Hits = Type.Object(
  {
    hits: Type.Array(
      Type.Object(
        { resource: Type.Enum(["devices", "hosts"], { $id: "HitResource" }), value: Entity },
        { $id: "Hit" },
      ),
      { description: "Best first." },
    ),
    complete: Type.Boolean({ description: "Whether these are all." }),
  },
  { $id: "Hits" },
);

/** The documents that a parameter selects, by that parameter. */
export const DOCUMENT_SCHEMAS = {
  since: Type.Object(
    {
      changes: Type.Array(Change),
      revision: int64("Pass it as `since` to read the changes after these."),
    },
    { $id: "Changes" },
  ),
  diff: Type.Object({ from: Moment, to: Moment, changes: Type.Array(Difference) }, { $id: "Differences" }),
  timeline: Type.Object(
    {
      from: int64("Epoch milliseconds at which the first span begins."),
      to: int64("Epoch milliseconds at which the last span ends."),
      counts: Type.Array(Type.Integer({ description: "The number of changes in one span." })),
      oldest: Moment,
      loaded: Moment,
      newest: Moment,
    },
    {
      $id: "Timeline",
      description:
        "`loaded` is the revision at which every source had reported for the first time, or failed: earlier changes are the first load. It is `newest` while they load, and `oldest` where the first load is not kept.",
    },
  ),
  incident: IncidentSearch,
  count: Type.Object(
    {
      counts: Type.Record(Type.String(), Type.Integer({ description: "The number of hosts." }), {
        description: "By the id of the device. A host with several locations counts at each of its devices.",
      }),
      total: Type.Integer({ description: "The number of hosts, each counted once." }),
    },
    { $id: "Counts" },
  ),
};

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The graph formats in JSON: the members that every document of the format has. */
const JSON_MEMBERS: Readonly<Record<string, Schema>> = {
  netjson: Type.Object({
    type: Type.Literal("NetworkGraph"),
    protocol: Type.String(),
    version: Type.String(),
    metric: Type.String(),
    revision: Type.Optional(Type.String()),
    label: Type.Optional(Type.String()),
    time: Type.Optional(int64("Epoch milliseconds of the last change of the graph.")),
    nodes: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    links: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  }),
  rfc8345: Type.Object({
    "ietf-network:networks": Type.Record(Type.String(), Type.Unknown()),
  }),
};

/** The schemas of the formats other than JSON, by the name of the format. */
export const FORMAT_SCHEMAS: ReadonlyMap<string, Schema> = new Map(
  FORMATS.filter(({ name, negotiable }) => name !== "json" && negotiable).map(({ name, description }) => [
    name,
    { ...(JSON_MEMBERS[name] ?? Type.String()), $id: capitalised(name), description: `${description}.` },
  ]),
);

export const PROBLEM_SCHEMA = Type.Object(
  {
    type: Type.String({
      description: `A stable reference into the docs, ending in one of: ${Object.keys(PROBLEMS).join(", ")}.`,
    }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: "What is wrong, and what to do." }),
    instance: Type.String({ description: "This request's id, as in the service's log." }),
    code: Type.Integer({ description: "The status again, under the name that ONOS uses." }),
    message: Type.String({ description: "The detail again, under the name that ONOS uses." }),
    candidates: Type.Optional(
      Type.Array(Type.String(), { description: "Of `ambiguous-name`: ids of devices that are called so." }),
    ),
  },
  { $id: "Problem", description: "RFC 9457." },
);

export const LIVENESS_SCHEMA = Type.Object({ status: Type.Literal("alive") }, { $id: "Liveness" });
export const OPENAPI_SCHEMA = Type.Object(
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
);

export const BODY_SCHEMAS: readonly Schema[] = [
  ...Object.values(LIST_SCHEMAS),
  ...Object.values(DOCUMENT_SCHEMAS),
  ...FORMAT_SCHEMAS.values(),
  DeviceWithPorts,
  Hits,
  Explanation,
  ProblemList,
  Topology,
  ClusterList,
  ClusterDevices,
  ClusterLinks,
  PathList,
  PathExplanation,
  DisjointPathList,
  Broadcast,
  Infrastructure,
  StaleLinkAge,
  PROBLEM_SCHEMA,
  LIVENESS_SCHEMA,
  Readiness,
  ClusterOverview,
  MapSettings,
  MetricValues,
  OPENAPI_SCHEMA,
];
