/**
 * The table of representations: what each is called in `format=`, what it is in `Accept`, and of which resources
 * there is one. Negotiation, the OpenAPI document, the command line's `-o` and the 406 body all read this table;
 * none of them has a list of its own.
 */
export const RESOURCES = ["devices", "ports", "links", "hosts", "topology"] as const;
export type Resource = (typeof RESOURCES)[number];

export interface Format {
  readonly name: string;
  /** What `Accept` is compared with. */
  readonly mediaType: string;
  /** What `Content-Type` says: the media type and, for `text/*`, the character set. */
  readonly contentType: string;
  /** Whether `Accept` can choose it. Prometheus' is plain JSON to `Accept`, so only `format=` can. */
  readonly negotiable: boolean;
  readonly on: readonly Resource[];
}

const ALL = RESOURCES;
const PATHS = ["devices", "links", "hosts", "topology"] as const;
const LISTS = ["devices", "ports", "links", "hosts"] as const;
const TARGETS = ["devices", "hosts"] as const;
const GRAPH = ["topology"] as const;

const format = <const N extends string, const R extends readonly Resource[]>(
  name: N,
  mediaType: string,
  on: R,
  { contentType = mediaType, negotiable = true } = {},
) => ({ name, mediaType, contentType, negotiable, on });

/** In order of preference: of equally acceptable formats the first is sent. */
export const FORMATS = [
  format("json", "application/json", ALL),
  format("ndjson", "application/x-ndjson", LISTS),
  format("csv", "text/csv", LISTS, { contentType: "text/csv; charset=utf-8; header=present" }),
  format("events", "text/event-stream", PATHS),
  format("prometheus", "application/json", TARGETS, { negotiable: false }),
  format("netjson", "application/netjson+json", GRAPH),
  format("rfc8345", "application/yang-data+json", GRAPH),
  format("graphml", "application/graphml+xml", GRAPH),
  format("dot", "text/vnd.graphviz", GRAPH, { contentType: "text/vnd.graphviz; charset=utf-8" }),
  format("svg", "image/svg+xml", GRAPH),
] as const satisfies readonly Format[];

export type FormatName = (typeof FORMATS)[number]["name"];

/** What there is of one resource, in order of preference; JSON is always the first. */
export function formatsOf(resource: Resource): readonly Format[] {
  const all: readonly Format[] = FORMATS;
  return all.filter((format) => format.on.includes(resource));
}
