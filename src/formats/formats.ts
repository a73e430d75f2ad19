/**
 * The table of formats: one row a format. Content negotiation, the OpenAPI document, `gazetteer get --help`, the 406
 * problem, the list and topology reads and docs/formats.md all read this table. To add a format, write its renderer
 * and add a row.
 *
 * A row without a renderer is a format that src/api produces: `json` from the encoded pages of the view, `events` from
 * the change stream. The renderers are pure: they yield text in chunks, pause where
 * their input does, and change nothing they are given.
 */
import type { Paced } from "../lib/steps.ts";
import type { Entities } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { renderCsv } from "./csv.ts";
import { renderDot } from "./dot.ts";
import type { TopologyGraph } from "./graph.ts";
import { renderGraphml } from "./graphml.ts";
import { renderNdjson } from "./ndjson.ts";
import { renderNetJson } from "./netjson.ts";
import { renderPrometheusDevices, renderPrometheusHosts } from "./prometheus.ts";
import { renderRfc8345 } from "./rfc8345.ts";
import { renderSvg } from "./svg.ts";

export const RESOURCES = ["devices", "ports", "links", "hosts", "topology"] as const;
export type Resource = (typeof RESOURCES)[number];

/** The selected entities of one kind, as a list renderer reads them. */
export interface RenderableList {
  readonly kind: Kind;
  /** The value of `fields`; undefined means all fields. */
  readonly fields: readonly string[] | undefined;
  /** One JSON text an entity, reduced to `fields`. */
  jsonTexts(): Paced<string>;
  /** The entities with all their fields. `kind` must be the kind of the list. */
  entities<K extends Kind>(kind: K): Paced<Entities[K]>;
}

export interface Format {
  /** The value of `format=` and of `-o`. */
  readonly name: string;
  /** What `Accept` is compared with. */
  readonly mediaType: string;
  /** The value of `Content-Type`: the media type and, for `text/*`, the character set. */
  readonly contentType: string;
  /** Whether `Accept` can select it. Prometheus discovery has the media type of JSON, so only `format=` can. */
  readonly negotiable: boolean;
  /** The response does not end, so neither a wildcard in `Accept` nor `gazetteer get` selects it. */
  readonly stream: boolean;
  readonly resources: readonly Resource[];
  /** For the OpenAPI document, the help and the docs: one phrase without a full stop. */
  readonly description: string;
  readonly renderList?: (list: RenderableList) => Paced<string>;
  readonly renderTopology?: (graph: TopologyGraph) => Paced<string>;
  /** `renderTopology` does not pause. The service renders the same in a thread instead (`svg-thread.ts`). */
  readonly inThread?: boolean;
}

const COLLECTIONS = ["devices", "ports", "links", "hosts"] as const satisfies readonly Resource[];
const DEFAULTS = { negotiable: true, stream: false };

type Row = Omit<Format, "contentType" | keyof typeof DEFAULTS> & Partial<Format>;
const formatOf = (row: Row): Format => ({ contentType: row.mediaType, ...DEFAULTS, ...row });

const ROWS: readonly Row[] = [
  {
    name: "json",
    mediaType: "application/json",
    resources: RESOURCES,
    description: "One JSON object with a list, or the counts of the topology",
  },
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

/** In order of preference: of equally acceptable formats the first is sent. */
export const FORMATS: readonly Format[] = ROWS.map(formatOf);

/** The formats of one resource, in order of preference; JSON is always the first. */
export const formatsOf = (resource: Resource): readonly Format[] =>
  FORMATS.filter((format) => format.resources.includes(resource));

/** The query parameters that select a JSON document about a resource in place of the resource itself. */
export type DocumentParameter = "since" | "diff" | "timeline" | "incident" | "count";

/** Such a document has a media type of its own, so that `application/json` of a path always has one shape. */
export interface DocumentFormat<P extends string = DocumentParameter> extends Format {
  readonly parameter: P;
  /** How the parameter is written, for messages. */
  readonly usage: string;
}

const documentOf = <P extends string>(
  parameter: P,
  usage: string,
  document: string,
  resources: readonly Resource[],
  description: string,
): DocumentFormat<P> => ({
  ...formatOf({
    name: "json",
    mediaType: `application/vnd.gazetteer.${document}+json`,
    resources,
    description,
  }),
  parameter,
  usage,
});

export const DOCUMENT_FORMATS: readonly DocumentFormat[] = [
  documentOf("since", "since=REVISION", "changes", RESOURCES, "The changes after a revision, oldest first"),
  documentOf("diff", "diff=A..B", "differences", RESOURCES, "What differs between two states"),
  documentOf(
    "timeline",
    "timeline=N",
    "timeline",
    ["topology"],
    "The number of changes in equal spans of time",
  ),
  documentOf(
    "incident",
    "incident=previous",
    "incident",
    ["topology"],
    "The incident before or after a moment: devices and links that went down, within seconds of each other",
  ),
  documentOf("count", "count=device", "counts", ["hosts"], "How many hosts are located at each device"),
];

/** Of one entity, in place of the entity. */
export const EXPLANATION_FORMAT = documentOf(
  "explain",
  "explain=true",
  "explanation",
  [],
  "What each source claims of one entity, and why each field has its value",
);

/** What is wrong with the network: a document with a path of its own, and a stream. */
export const PROBLEMS_FORMAT: Format = formatOf({
  name: "json",
  mediaType: "application/vnd.gazetteer.problems+json",
  resources: [],
  description: "What is wrong with the network, worst first",
});
export const PROBLEMS_FORMATS: readonly Format[] = [
  PROBLEMS_FORMAT,
  ...FORMATS.filter((format) => format.stream),
];
/** Of the paths between two ends, in place of the paths. */
export const PATH_EXPLANATION_FORMAT = documentOf(
  "explain",
  "explain=true",
  "path-explanation",
  [],
  "How many shortest paths there are and what they use, or why there is none",
);

/** Of a search. */
export const HITS_FORMAT = formatOf({
  name: "json",
  mediaType: "application/vnd.gazetteer.hits+json",
  resources: [],
  description: "The devices and hosts that a search finds, best first",
});

export const documentFormatsOf = (resource: Resource): readonly DocumentFormat[] =>
  DOCUMENT_FORMATS.filter((format) => format.resources.includes(resource));
