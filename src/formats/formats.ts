/**
 * The table of formats, with one row for each format. Content negotiation, the OpenAPI document, `gazetteer get --help`, the 406
 * problem, the list and topology reads and docs/formats.md all read this table. To add a format, write its renderer
 * and add a row.
 *
 * A row without a renderer is a format that src/api produces: `json` from the encoded pages of the view, `events` from
 * the change stream. The renderers are pure: they yield pieces of text, pause where their input pauses, and do not change
 * their input. The table joins the pieces into chunks.
 */
import { mapPaced, type Paced } from "../lib/steps.ts";
import type { Entities } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { joinIntoChunks } from "./chunks.ts";
import { renderCsv } from "./csv.ts";
import { renderDot } from "./dot.ts";
import type { TopologyGraph } from "./graph.ts";
import { renderGraphml } from "./graphml.ts";
import { renderNetJson } from "./netjson.ts";
import { renderPrometheusDevices, renderPrometheusHosts } from "./prometheus.ts";
import { renderRfc8345 } from "./rfc8345.ts";
import { renderSvg } from "./svg.ts";

/*
 * NDJSON has one JSON text on each line, and each line ends with a line feed. The view keeps the encoded text of every
 * entity, so nothing is encoded here. JSON escapes line feeds inside strings, so no text contains one.
 */

export const renderNdjson = (jsonTexts: Paced<string>): Paced<string> =>
  mapPaced(jsonTexts, (text) => `${text}\n`);

export const RESOURCES = ["devices", "ports", "links", "hosts", "topology"] as const;
export type Resource = (typeof RESOURCES)[number];

/** The selected entities of one kind, as a list renderer reads them. */
export interface RenderableList {
  readonly kind: Kind;
  /** The value of `fields`; undefined means all fields. */
  readonly fields: readonly string[] | undefined;
  /** One JSON text for each entity, reduced to `fields`. */
  jsonTexts(): Paced<string>;
  /** The entities with all their fields. `kind` must be the kind of the list. */
  entities<K extends Kind>(kind: K): Paced<Entities[K]>;
}

export interface Format {
  /** The value of `format=` and of `-o`. */
  readonly name: string;
  /** The media type that `Accept` is compared with. */
  readonly mediaType: string;
  /** The value of `Content-Type`: the media type and, for `text/*`, the character set. */
  readonly contentType: string;
  /** Whether `Accept` can select the format. Prometheus discovery has the media type of JSON: only `format=` selects it. */
  readonly negotiable: boolean;
  /** Whether the response never ends. Neither a wildcard in `Accept` nor `gazetteer get` selects such a format. */
  readonly stream: boolean;
  readonly resources: readonly Resource[];
  /** A text for the OpenAPI document, the help and the docs: one phrase without a full stop. */
  readonly description: string;
  readonly renderList?: (list: RenderableList) => Paced<string>;
  readonly renderTopology?: (graph: TopologyGraph) => Paced<string>;
  /** Set when `renderTopology` cannot pause. The service then renders the same in a thread (`svg-thread.ts`). */
  readonly inThread?: boolean;
}

const COLLECTIONS = ["devices", "ports", "links", "hosts"] as const satisfies readonly Resource[];
const DEFAULTS = { negotiable: true, stream: false };

type Row = Omit<Format, "contentType" | keyof typeof DEFAULTS> & Partial<Format>;
function formatOf(row: Row): Format {
  const { renderList, renderTopology } = row;
  return {
    contentType: row.mediaType,
    ...DEFAULTS,
    ...row,
    ...(renderList && { renderList: (list) => joinIntoChunks(renderList(list)) }),
    ...(renderTopology && { renderTopology: (graph) => joinIntoChunks(renderTopology(graph)) }),
  };
}

/** The format that every resource has. */
export const JSON_FORMAT: Format = formatOf({
  name: "json",
  mediaType: "application/json",
  resources: RESOURCES,
  description: "One JSON object with a list, or the counts of the topology",
});

const ROWS: readonly Row[] = [
  {
    name: "ndjson",
    mediaType: "application/x-ndjson",
    resources: COLLECTIONS,
    description: "One JSON object a line",
    renderList: (list) => renderNdjson(list.jsonTexts()),
  },
  {
    name: "csv",
    mediaType: "text/csv",
    contentType: "text/csv; charset=utf-8; header=present",
    resources: COLLECTIONS,
    description: "RFC 4180, a header row and fixed columns",
    renderList: (list) => renderCsv(list.kind, list.entities(list.kind), list.fields),
  },
  {
    name: "events",
    mediaType: "text/event-stream",
    stream: true,
    resources: ["devices", "links", "hosts", "topology"],
    description: "Server-sent events: the entities, then every change",
  },
  {
    name: "prometheus",
    mediaType: "application/json",
    negotiable: false,
    resources: ["devices", "hosts"],
    description: "Targets for Prometheus HTTP service discovery",
    renderList: (list) =>
      list.kind === "devices"
        ? renderPrometheusDevices(list.entities("devices"))
        : renderPrometheusHosts(list.entities("hosts")),
  },
  {
    name: "netjson",
    mediaType: "application/netjson+json",
    resources: ["topology"],
    description: "NetJSON NetworkGraph, an undirected link a cable",
    renderTopology: renderNetJson,
  },
  {
    name: "rfc8345",
    mediaType: "application/yang-data+json",
    resources: ["topology"],
    description: "The YANG modules ietf-network and ietf-network-topology",
    renderTopology: renderRfc8345,
  },
  {
    name: "graphml",
    mediaType: "application/graphml+xml",
    resources: ["topology"],
    description: "GraphML, a directed edge a link",
    renderTopology: renderGraphml,
  },
  {
    name: "dot",
    mediaType: "text/vnd.graphviz",
    contentType: "text/vnd.graphviz; charset=utf-8",
    resources: ["topology"],
    description: "DOT for Graphviz, a line a cable",
    renderTopology: renderDot,
  },
  {
    name: "svg",
    mediaType: "image/svg+xml",
    resources: ["topology"],
    description: "A drawing of the network",
    renderTopology: renderSvg,
    inThread: true,
  },
];

/** All formats in order of preference: the service sends the first of several equally acceptable formats. */
export const FORMATS: readonly Format[] = [JSON_FORMAT, ...ROWS.map(formatOf)];

/** The formats of one resource, in order of preference. */
export const formatsOf = (resource: Resource): readonly [json: Format, ...others: Format[]] => [
  JSON_FORMAT,
  ...FORMATS.filter((format) => format !== JSON_FORMAT && format.resources.includes(resource)),
];

/**
 * A JSON document that a query parameter selects in place of the resource. It has a media type of its own, so that a path
 * has only one shape of `application/json`.
 */
export interface DocumentFormat extends Format {
  /** The parameter as a user writes it, for messages. */
  readonly usage: string;
}

const documentOf = (document: string, usage: string, description: string): DocumentFormat => ({
  ...formatOf({
    name: "json",
    mediaType: `application/vnd.gazetteer.${document}+json`,
    resources: [],
    description,
  }),
  usage,
});

export const CHANGES_FORMAT = documentOf(
  "changes",
  "since=REVISION",
  "The changes after a revision, oldest first",
);
export const DIFFERENCES_FORMAT = documentOf("differences", "diff=A..B", "What differs between two states");
export const TIMELINE_FORMAT = documentOf(
  "timeline",
  "timeline=N",
  "The number of changes in equal spans of time",
);
export const INCIDENT_FORMAT = documentOf(
  "incident",
  "incident=previous",
  "The incident before or after a moment: devices and links that went down, within seconds of each other",
);
export const COUNTS_FORMAT = documentOf(
  "counts",
  "count=device",
  "How many hosts are located at each device",
);
export const EXPLANATION_FORMAT = documentOf(
  "explanation",
  "explain=true",
  "What each source claims of one entity, and why each field has its value",
);
export const PATH_EXPLANATION_FORMAT = documentOf(
  "path-explanation",
  "explain=true",
  "How many shortest paths there are and what they use, or why there is none",
);

/** The list of the network's problems, which has a path of its own and is also a stream. */
export const PROBLEMS_FORMAT: Format = formatOf({
  name: "json",
  mediaType: "application/vnd.gazetteer.problems+json",
  resources: [],
  description: "What is wrong with the network, worst first",
});
export const PROBLEMS_FORMATS: readonly [json: Format, ...others: Format[]] = [
  PROBLEMS_FORMAT,
  ...FORMATS.filter((format) => format.stream),
];

/** The result of a search, which has a path of its own. */
export const HITS_FORMAT = formatOf({
  name: "json",
  mediaType: "application/vnd.gazetteer.hits+json",
  resources: [],
  description: "The devices and hosts that a search finds, best first",
});
