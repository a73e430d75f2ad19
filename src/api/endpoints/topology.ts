/** The representations of the topology, or with `around` of a part of it: counts as JSON, or the graph in a graph format. */
import Type from "typebox";
import type { LostCable } from "../../formats/drawing-style.ts";
import { type Format, formatsOf, INCIDENT_FORMAT, TIMELINE_FORMAT } from "../../formats/formats.ts";
import { countHosts, deviceIdsOf, type TopologyGraph } from "../../formats/graph.ts";
import {
  type Arriving,
  COST,
  collectPaced,
  mapInSteps,
  mapPaced,
  type Paced,
  type Steps,
} from "../../lib/steps.ts";
import { type Entities, Topology, type TopologyDrift } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import { IncidentSearch } from "../../model/incident.ts";
import { int64 } from "../../model/schema-parts.ts";
import { countDrift } from "../../query/drift-counts.ts";
import { badParameter } from "../../query/fault.ts";
import { type FilteredState, filterState } from "../../query/filtered-state.ts";
import { type Direction, findIncident } from "../../query/incidents.ts";
import { parameterSet } from "../../query/parameters.ts";
import type { Problems } from "../../query/problems/problems.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { stateAt } from "../../query/revision.ts";
import { select } from "../../query/select.ts";
import { resolveTimeline } from "../../query/timeline.ts";
import { LinkGraph } from "../../view/link-graph.ts";
import { parseStored, topologyOf } from "../../view/view.ts";
import type { Dialect } from "../onos/dialect.ts";
import { CHANGED_MS, CONNECTED_MS, NEWEST, OLDEST, SECOND } from "../openapi/example-network.ts";
import { problemOf, throwIfFault } from "../response/problem.ts";
import type { Content, Representation, RepresentationInfo } from "../response/representation.ts";
import { CHANGE_PARAMETERS, changesVariant, differencesVariant, Moment, streamOf } from "./changes.ts";
import type { DrawingInput } from "./drawings.ts";
import { type Endpoint, ITEM_PARAMETERS, matchExactly, type Variant } from "./endpoint.ts";
import { encodeChunks } from "./json-list.ts";
import type { RequestContext } from "./read-context.ts";
import { type ShownChangedAt, versionsOf } from "./versions.ts";

type Draw = (graph: TopologyGraph) => Steps<Arriving<Uint8Array>>;

const FORMATS = formatsOf("topology");
const TOPOLOGY: Topology = { time: CONNECTED_MS, devices: 2, links: 2, clusters: 1, hosts: 1 };

const Timeline = Type.Object(
  {
    from: int64("Epoch milliseconds at which the first span begins."),
    to: int64("Epoch milliseconds at which the last span ends."),
    counts: Type.Array(Type.Integer({ description: "The number of changes in one span." })),
    faults: Type.Array(
      Type.Integer({
        description:
          "How many devices became unavailable, links became INACTIVE, and devices and links were removed, in one span.",
      }),
    ),
    recoveries: Type.Array(
      Type.Integer({
        description:
          "How many devices became available, links became ACTIVE, and devices and links were added while more were removed than added again, in one span.",
      }),
    ),
    oldest: Moment,
    loaded: Moment,
    newest: Moment,
  },
  {
    $id: "Timeline",
    description:
      "`loaded` is the revision at which every source had reported for the first time, or failed: earlier changes are the first load. It is `newest` while they load, and `oldest` where the first load is not kept.",
  },
);

const timeline: Variant<object> = {
  parameter: "timeline",
  formats: [TIMELINE_FORMAT],
  schema: Timeline,
  example: {
    from: CONNECTED_MS,
    to: CHANGED_MS + 1,
    counts: [4, 1],
    faults: [0, 1],
    recoveries: [0, 0],
    oldest: OLDEST,
    loaded: OLDEST,
    newest: NEWEST,
  },
  read: (context, _params, query) => timelineRepresentation(context, query),
};

const incident: Variant<object> = {
  parameter: "incident",
  formats: [INCIDENT_FORMAT],
  schema: IncidentSearch,
  example: {
    incident: {
      from: NEWEST,
      to: NEWEST,
      alarms: [{ resource: "devices", id: SECOND, event: "unavailable" }],
      alarmCount: 1,
    },
    searched: NEWEST,
    complete: false,
  },
  read: (context, _params, query) => incidentRepresentation(context, query.incident ?? "previous"),
};

export const getTopology: Endpoint<object> = {
  id: "getTopology",
  tag: "Topology",
  summary: "The topology",
  description:
    "Counts as JSON, or the graph in a graph format. `since`, `diff`, `timeline` and `incident` return another document, with a media type of its own, about devices, ports, links and hosts.",
  readName: "topology",
  path: "/topology",
  match: matchExactly("topology"),
  parameters: parameterSet([
    ...(["drift", "around", "hops", "timeline", "incident", "from", "to"] as const),
    ...ITEM_PARAMETERS,
    ...CHANGE_PARAMETERS,
  ]),
  variants: [
    {
      formats: FORMATS,
      schema: Topology,
      example: TOPOLOGY,
      read: (context, _params, query, format, { owner }) =>
        topologyRepresentation(context, query, format, owner),
      ...streamOf(undefined, FORMATS),
    },
    changesVariant(undefined, FORMATS),
    differencesVariant(undefined),
    timeline,
    incident,
  ],
  openapi: { typeName: "Topology" },
};

/** The representation of the topology. `owner` is the user for whom it may be drawn. */
function* topologyRepresentation(
  { history, view, problems, drawings, dialect, memory, revisions }: RequestContext,
  query: ParsedQuery,
  format: Format,
  owner: string,
): Steps<Representation> {
  const state = yield* stateAt(history, revisions.at);
  memory.hold(state);
  // `around` is resolved here and not in `render`, because an unknown one must be a 400 even if `If-None-Match` matches.
  const filtered = throwIfFault(yield* filterState(state, withoutDrift(query)));
  const drift = query.drift && throwIfFault(yield* filterState(state, query));
  if (drift && format.renderTopology) throw notInGraph();
  const info: RepresentationInfo = {
    key: `${dialect.keyPrefix}topology ${format.name} ${query.fingerprint}`,
    ...versionsOf(view, state, query, topologyChangedAt(format, query)),
    revision: state.revision,
    contentType: format.contentType,
    tiny: !format.renderTopology,
  };
  const draw: Draw = (graph) => drawings.draw(owner, drawingInput(filtered, graph, problems));
  return {
    info,
    render: () => render(filtered, drift && countDrift(drift, query.drift ?? []), format, dialect, draw),
  };
}

/** The query without `drift`, which adds counts to the topology and does not filter the other counts and the graph. */
const withoutDrift = (query: ParsedQuery): ParsedQuery =>
  query.drift ? { ...query, filters: [], includesMissing: false } : query;

const notInGraph = () =>
  problemOf(badParameter("drift", "cannot be used with a graph format; it adds counts to the JSON."));

/** The version of the topology. The graph formats contain the revision, so they change with every revision. */
const topologyChangedAt =
  ({ renderTopology }: Format, { around, drift }: ParsedQuery): ShownChangedAt =>
  ({ devices, ports, links, hosts, graph, missing }, revision) => {
    if (renderTopology) return revision;
    if (drift) return Math.max(devices, ports, links, hosts, graph, missing);
    return around ? Math.max(devices, links, hosts, graph) : graph;
  };

function* render(
  filtered: FilteredState,
  drift: Steps<TopologyDrift> | undefined,
  format: Format,
  dialect: Dialect,
  draw: Draw,
): Steps<Content> {
  const { state, neighbourhood } = filtered;
  const { topology, graph } = neighbourhood
    ? yield* countNeighbourhood(filtered)
    : { topology: yield* topologyOf(state), graph: undefined };
  if (format.renderTopology) return { chunks: yield* renderGraph(filtered, topology, format, draw) };
  const shown = dialect.topology(topology, graph ?? (yield* state.linkGraph()));
  return { chunks: JSON.stringify(drift ? { ...shown, drift: yield* drift } : shown) };
}

function* renderGraph(
  filtered: FilteredState,
  topology: Topology,
  { renderTopology, inThread }: Format,
  draw: Draw,
): Steps<Arriving<Uint8Array>> {
  const graph = graphOf(filtered, topology);
  if (inThread) return yield* draw(graph);
  return encodeChunks(renderTopology?.(graph) ?? []);
}

function* drawingInput(
  filtered: FilteredState,
  graph: TopologyGraph,
  problems: Problems,
): Steps<DrawingInput> {
  const { state, filters } = filtered;
  const ids = yield* deviceIdsOf(graph);
  const hostCounts = yield* countHosts(graph, ids);
  const lost = yield* problems.lostCables(state);
  return {
    topology: graph.topology,
    revision: graph.revision,
    devices: mapPaced(
      select(state, "devices", filters("devices")),
      ({ id, text }) => `[${text},${hostCounts.get(id) ?? 0}]`,
    ),
    links: mapPaced(select(state, "links", filters("links")), ({ text }) => text),
    lost: mapInSteps(lost, COST.key, ({ src, dst }) =>
      ids.has(src.device) && ids.has(dst.device)
        ? JSON.stringify({ from: src, to: dst, isLost: true } satisfies LostCable)
        : undefined,
    ),
  };
}

function graphOf(filtered: FilteredState, topology: Topology): TopologyGraph {
  const { state } = filtered;
  return {
    topology,
    revision: state.revision,
    devices: entitiesOf(filtered, "devices"),
    links: entitiesOf(filtered, "links"),
    hosts: entitiesOf(filtered, "hosts"),
    link(id) {
      const text = state.get("links", id);
      return text === undefined ? undefined : parseStored("links", text);
    },
  };
}

/** The entities of one kind. They are selected and parsed again each time they are iterated. */
const entitiesOf = <K extends Kind>({ state, filters }: FilteredState, kind: K): Paced<Entities[K]> => ({
  [Symbol.iterator]: () =>
    mapPaced(select(state, kind, filters(kind)), ({ text }) => parseStored(kind, text)),
});

/** The counts of a neighbourhood, and its graph. */
function* countNeighbourhood(filtered: FilteredState): Steps<{ topology: Topology; graph: LinkGraph }> {
  const devices = yield* collectPaced(
    mapPaced(entitiesOf(filtered, "devices"), ({ id, available }) => [id, { available }] as const),
  );
  const links = yield* collectPaced(
    mapPaced(entitiesOf(filtered, "links"), ({ id, src, dst, state, type }) => {
      return [id, { src, dst, state, type }] as const;
    }),
  );
  let hosts = 0;
  for (const host of select(filtered.state, "hosts", filtered.filters("hosts"))) {
    if (host) hosts++;
    else yield;
  }
  const graph = yield* LinkGraph.empty.with({ devices, links });
  const topology = {
    time: yield* filtered.state.graphTime(),
    devices: devices.length,
    links: links.length,
    clusters: yield* graph.clusterCount(),
    hosts,
  };
  return { topology, graph };
}

/** The representation of the number of changes in equal spans of time. */
function timelineRepresentation({ history, log }: RequestContext, query: ParsedQuery): Representation {
  const { from, to, spans, oldest, loaded, newest } = throwIfFault(resolveTimeline(history, query));
  const info = {
    key: `timeline ${from} ${to} ${oldest.revision} ${query.fingerprint}`,
    version: newest.revision,
    tagVersion: newest.revision,
    revision: newest.revision,
    contentType: TIMELINE_FORMAT.contentType,
  };
  return {
    info,
    render() {
      return {
        chunks: JSON.stringify({ from, to, ...log.histogram(from, to, spans), oldest, loaded, newest }),
      };
    },
  };
}

/** The representation of the nearest incident before or after the moment of `at`. */
function* incidentRepresentation(
  { history, view, log, revisions }: RequestContext,
  direction: Direction,
): Steps<Representation> {
  const { revision } = view;
  const from = revisions.at ?? revision;
  // The history may be pruned without a new revision, so the key contains its beginning.
  const { oldest } = log.stats();
  const found = yield* findIncident(history, direction, from);
  const info = {
    key: `incident ${direction} ${from} ${oldest}`,
    version: revision,
    tagVersion: revision,
    revision,
    contentType: INCIDENT_FORMAT.contentType,
  };
  return {
    info,
    render() {
      return { chunks: JSON.stringify(found) };
    },
  };
}
