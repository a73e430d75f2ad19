/**
 * The representations of lists: devices, ports, links, hosts. A list without parameters consists of the pages of the view,
 * which are encoded already. Any other list is selected, limited to a page and rendered. All pages of one walk show the
 * revision in the cursor, so that changes between two requests are not visible.
 */
import { type Format, formatsOf } from "../../formats/formats.ts";
import { mapPaced, type Paced, type ResultOrSteps, type Steps } from "../../lib/steps.ts";
import type { Kind } from "../../model/ids.ts";
import { bindFilters, namesDevices } from "../../query/bound-filters.ts";
import { type ChangedAt, type Cursor, cursorScope } from "../../query/cursor.ts";
import { POINT_FIELDS } from "../../query/fields.ts";
import { createFilteredState, type FilteredState, filterState } from "../../query/filtered-state.ts";
import { selectPage } from "../../query/list-page.ts";
import { selectEntities } from "../../query/missing.ts";
import { type ParameterName, parameterSet } from "../../query/parameters.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { projectFields } from "../../query/select.ts";
import { EncodedValue, totalBytes } from "../../view/collection.ts";
import type { EncodedPage } from "../../view/encoded-page.ts";
import { type NetworkState, parseStored, type View } from "../../view/view.ts";
import { type Dialect, entityJson, PLAIN } from "../onos/dialect.ts";
import type { Schema } from "../openapi/components.ts";
import { throwIfFault } from "../response/problem.ts";
import { type Content, type Representation, TextRepresentation } from "../response/representation.ts";
import { CHANGE_PARAMETERS, changesVariant, differencesVariant, streamOf } from "./changes.ts";
import { type Endpoint, type EndpointText, ITEM_PARAMETERS, matchExactly, type Variant } from "./endpoint.ts";
import { encodeChunks, jsonList } from "./json-list.ts";
import { cursorOf, nextPage, stateOfPage } from "./paging.ts";
import type { RequestContext } from "./read-context.ts";
import { entityRevision, type Versions, versionsOf, whileShown } from "./versions.ts";

const PARAMETERS: readonly ParameterName[] = [
  ...(["q", "name", "source", "conflict", "drift", "around", "hops", "fields", "sort"] as const),
  ...(["limit", "cursor"] as const),
  ...ITEM_PARAMETERS,
  ...CHANGE_PARAMETERS,
];

export const FILTERS_TEXT =
  "Without parameters all of them, in order of id. Filters combine with *and*, several values of one with *or*.";
export const DOCUMENTS_TEXT =
  "`since` and `diff` return another document, with a media type of its own. With `fields` the objects have only these fields.";
export const TARGETS_TEXT =
  'With `format=prometheus` the body is, also as `application/json`, the array of Prometheus\' HTTP service discovery: `[{"targets": ["192.0.2.1"], "labels": {}}]`.';

interface ListEndpointOptions extends EndpointText {
  readonly kind: Kind;
  readonly path: string;
  readonly typeName: string;
  readonly schema: Schema;
  readonly example: unknown;
  /** The parameters that the lists of other kinds do not have. */
  readonly parameters?: readonly ParameterName[];
  /** The variants that the lists of other kinds do not have. */
  readonly variants?: readonly Variant<object>[];
}

/** Creates the endpoint of the list of one kind. */
export function listEndpoint(options: ListEndpointOptions): Endpoint<object> {
  const { kind, path, typeName, schema, example, parameters = [], variants = [], ...text } = options;
  const formats = formatsOf(kind);
  return {
    ...text,
    readName: kind,
    path,
    match: matchExactly(...path.slice(1).split("/")),
    parameters: parameterSet([...PARAMETERS, ...parameters], kind),
    variants: [
      {
        formats,
        schema,
        example,
        read: (context, _params, query, format, { target }) =>
          listRepresentation(context, kind, query, format, target),
        ...streamOf(kind, formats),
      },
      changesVariant(kind, formats),
      differencesVariant(kind),
      ...variants,
    ],
    openapi: { typeName },
  };
}

/** The representation of a list. `target` is the request target, which the `Link` to the next page repeats. */
export function listRepresentation(
  context: RequestContext,
  kind: Kind,
  query: ParsedQuery,
  format: Format,
  target: string,
): ResultOrSteps<Representation> {
  const isCurrent = query.cursor === undefined && query.at === undefined;
  if (!isCurrent || query.around || namesDevices(query))
    return findList(context, kind, query, format, target);
  const filtered = createFilteredState(context.view.capture(), query);
  return createList(context, kind, query, format, target, undefined, filtered);
}

/** A list of a historical state, of the revision in a cursor, or with names or a neighbourhood that must be resolved first. */
function* findList(
  context: RequestContext,
  kind: Kind,
  query: ParsedQuery,
  format: Format,
  target: string,
): Steps<Representation> {
  const cursor = cursorOf(context, query, cursorScope(kind, query));
  const state = yield* stateOfPage(context, cursor, listChangedAt(kind, query));
  // `around` is resolved here and not in `render`, because an unknown one must be a 400 even if `If-None-Match` matches.
  const filtered = throwIfFault(yield* filterState(state, query));
  return createList(context, kind, query, format, target, cursor, filtered);
}

function createList(
  context: RequestContext,
  kind: Kind,
  query: ParsedQuery,
  format: Format,
  target: string,
  cursor: Cursor | undefined,
  filtered: FilteredState,
): Representation {
  const { dialect, memory, view } = context;
  const { limit, sort, fields } = query;
  const isPage = limit !== undefined || cursor !== undefined;
  const isUnsorted = sort.length === 0 && limit === undefined;
  const isJson = format.name === "json";
  const isWholeCollection =
    isJson && isUnsorted && query.filters.length === 0 && !query.around && !fields && !isPage;
  const isSelected = isUnsorted && !isWholeCollection;
  const items = isSelected ? selectEntities(filtered, kind, String(cursor?.after ?? "")) : NO_ITEMS;
  // Most filtered lists have a few entities, which need no steps and no encoder.
  const few =
    isSelected && isJson && !fields && Array.isArray(items) && lengthOf(items) <= MAX_JOINED_BYTES
      ? items
      : undefined;
  const only = few && few.length < 2 && dialect.showsRevision ? (few[0] ?? NOTHING) : undefined;
  const versions = listVersions(view, kind, query, filtered);
  const version = cursor?.revision ?? versions.version;
  const page = isPage ? `${limit ?? ""} ${query.cursor ?? ""}` : " ";
  const wholeVersion = dialect.showsRevision && isWholeCollection ? version : undefined;
  const info = {
    key: `${dialect.keyPrefix}list ${kind} ${format.name} ${page} ${query.fingerprint}${filtered.resolved}`,
    version,
    currentVersion: versions.currentVersion,
    // A list of one entity or none changes exactly when that entity does, or when another one takes its place.
    tagKey: only?.id,
    tagVersion: only ? entityRevision(only) : wholeVersion,
    // Every page has the revision in the cursor. The list has not changed between that revision and the current one.
    revision: isPage ? version : filtered.state.revision,
    isPage,
    contentType: format.contentType,
  };
  if (few) return new TextRepresentation(info, joinItems(kind, few, dialect));
  memory.hold(filtered.state);
  if (isWholeCollection)
    return {
      info,
      *render() {
        return wholeCollection(kind, yield* filtered.state.pages(kind), dialect);
      },
    };
  const content = (listed: Paced<EncodedValue>, nextAfter?: Cursor["after"]): Content => {
    const nextCursor = nextAfter === undefined ? undefined : { revision: version, after: nextAfter };
    const { member, headers } = nextPage(context, target, cursorScope(kind, query), nextCursor);
    const chunks = isJson
      ? jsonList(`{"${kind}":[`, jsonOf(kind, listed, fields, dialect), `]${member}}`)
      : encodeChunks(renderFormat(kind, listed, fields, format, dialect));
    return headers ? { chunks, headers } : { chunks };
  };
  if (isUnsorted) return { info, render: () => content(items) };
  return {
    info,
    *render() {
      const count = (bytes: number) => memory.add(bytes);
      const { items: sorted, nextAfter } = yield* selectPage(filtered, kind, query, cursor?.after, count);
      return content(sorted, nextAfter);
    },
  };
}

const MAX_JOINED_BYTES = 16 * 1024;
const NO_ITEMS: readonly EncodedValue[] = [];
/** Stands for the only entity of an empty list. */
const NOTHING = new EncodedValue("", "");

function lengthOf(items: readonly EncodedValue[]): number {
  let length = 0;
  for (const item of items) length += item.length;
  return length;
}

function joinItems(kind: Kind, items: readonly EncodedValue[], dialect: Dialect): Uint8Array {
  const parts: Uint8Array[] = [OPEN[kind]];
  for (const item of items) {
    if (parts.length > 1) parts.push(COMMA);
    parts.push(entityJson(dialect, kind, item));
  }
  parts.push(CLOSE);
  return Buffer.concat(parts);
}

/** The versions of a list. They depend on which devices the names in the filters mean in the rendered state. */
export function listVersions(
  view: View,
  kind: Kind,
  query: ParsedQuery,
  { resolved, state }: Pick<FilteredState, "resolved" | "state">,
): Versions {
  const versions = versionsOf(view, state, query, listChangedAt(kind, query));
  return namesDevices(query) ? whileShown(versions, view, shownNames(query), resolved, state) : versions;
}

/**
 * The revision that last changed the data of a list. A neighbourhood changes with any device, link or host. Any other list
 * changes with its own collection, with the missing entities if it lists them, and with the devices if it is sorted by their
 * names. The cursor of a page contains this revision.
 */
function listChangedAt(kind: Kind, query: ParsedQuery): ChangedAt {
  const isPage = query.limit !== undefined || query.cursor !== undefined;
  if (!isPage && !query.around && !query.includesMissing && query.sort.length === 0) return CHANGED_AT[kind];
  return (versions) => {
    const changed = query.around
      ? Math.max(versions.devices, versions.links, versions.hosts, versions[kind])
      : versions[kind];
    const seen = query.includesMissing ? Math.max(changed, versions.missing) : changed;
    const isSortedByDevice = query.sort.some(({ field }) => POINT_FIELDS[kind].includes(field));
    // The names in the filters of a page must mean the same devices at the revision in its cursor.
    return isSortedByDevice || (isPage && namesDevices(query)) ? Math.max(seen, versions.devices) : seen;
  };
}

const CHANGED_AT: Readonly<Record<Kind, ChangedAt>> = {
  devices: ({ devices }) => devices,
  ports: ({ ports }) => ports,
  links: ({ links }) => links,
  hosts: ({ hosts }) => hosts,
};

const shownNames = (query: ParsedQuery) => (state: NetworkState) => bindFilters(query, state).resolved;

function renderFormat(
  kind: Kind,
  items: Paced<EncodedValue>,
  fields: ParsedQuery["fields"],
  { name, renderList }: Format,
  dialect: Dialect,
): Paced<string> {
  if (!renderList) throw new Error(`lists have no format ${name}`);
  return renderList({
    kind,
    fields: selectFields(fields, dialect.fields(kind)),
    jsonTexts: () => jsonOf(kind, items, fields, dialect),
    entities: (itemKind) => parseItems(itemKind, items, dialect),
  });
}

const selectFields = (
  fields: ParsedQuery["fields"],
  existing: ParsedQuery["fields"],
): ParsedQuery["fields"] =>
  fields && existing ? fields.filter((field) => existing.includes(field)) : (fields ?? existing);

const jsonOf = (
  kind: Kind,
  items: Paced<EncodedValue>,
  fields: ParsedQuery["fields"],
  dialect: Dialect,
): Paced<string> =>
  mapPaced(items, ({ text }) => {
    const json = dialect.entity(kind, text);
    return fields ? projectFields(json, fields) : json;
  });

/** The parsed entities with all fields, because a format may need fields that the dialect does not have (Prometheus). */
const parseItems = <K extends Kind>(kind: K, items: Paced<EncodedValue>, dialect: Dialect) =>
  mapPaced(items, ({ text }) => {
    const entity = parseStored(kind, text);
    const json = dialect.entity(kind, text);
    return json === text ? entity : { ...entity, ...parseStored(kind, json) };
  });

const OPEN: Readonly<Record<Kind, Buffer>> = {
  devices: Buffer.from('{"devices":['),
  ports: Buffer.from('{"ports":['),
  links: Buffer.from('{"links":['),
  hosts: Buffer.from('{"hosts":['),
};
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]}");

/** The content of a whole collection: the pages of the view. Each is always the same object, so its compressed form is cached. */
function wholeCollection(kind: Kind, pages: readonly EncodedPage[], dialect: Dialect): Content {
  function* chunks(): Generator<Uint8Array | undefined, void, void> {
    yield OPEN[kind];
    let left = pages.length;
    for (const page of dialect.pages(kind, pages)) {
      if (page === undefined) yield undefined;
      else yield --left === 0 ? page.bytes : page.bytesWithComma;
    }
    yield CLOSE;
  }
  const content = { chunks: chunks(), persistent: true };
  if (dialect !== PLAIN) return content;
  const commas = Math.max(0, pages.length - 1);
  return { ...content, length: OPEN[kind].length + totalBytes(pages) + commas + CLOSE.length };
}
