/**
 * The representations of lists: devices, ports, links, hosts. A list without parameters consists of the pages of the view,
 * which are encoded already. Any other list is selected, limited to a page and rendered. All pages of one walk show the
 * revision in the cursor, so that changes between two requests are not visible.
 */
import { type Format, formatsOf } from "../../formats/formats.ts";
import { mapPaced, type Paced, type ResultOrSteps, type Steps } from "../../lib/steps.ts";
import type { CollectionVersions } from "../../log/log.ts";
import type { Kind } from "../../model/ids.ts";
import { bindFilters, namesDevices } from "../../query/bound-filters.ts";
import { type Cursor, cursorScope, decodeCursor, encodeCursor } from "../../query/cursor.ts";
import { POINT_FIELDS } from "../../query/fields.ts";
import { createFilteredState, type FilteredState, filterState } from "../../query/filtered-state.ts";
import { selectPage } from "../../query/list-page.ts";
import { selectEntities } from "../../query/missing.ts";
import { type ParameterName, parameterSet } from "../../query/parameters.ts";
import type { ParsedQuery } from "../../query/query.ts";
import { stateAt } from "../../query/revision.ts";
import { projectFields } from "../../query/select.ts";
import { type EncodedValue, totalBytes } from "../../view/collection.ts";
import type { EncodedPage } from "../../view/encoded-page.ts";
import { type NetworkState, parseStored, type View } from "../../view/view.ts";
import { type Dialect, PLAIN } from "../onos/dialect.ts";
import type { Schema } from "../openapi/components.ts";
import { throwIfFault } from "../response/problem.ts";
import type { Content, Representation, RepresentationInfo } from "../response/representation.ts";
import { CHANGE_PARAMETERS, changesVariant, differencesVariant, streamOf } from "./changes.ts";
import { type Endpoint, type EndpointText, ITEM_PARAMETERS, matchExactly, type Variant } from "./endpoint.ts";
import { encodeChunks, jsonList } from "./json-list.ts";
import { nextTarget, stateOfPage } from "./paging.ts";
import type { RequestContext } from "./read-context.ts";
import { type Versions, whileShown } from "./shown-version.ts";

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
  const state = context.view.capture();
  context.memory.hold(state);
  const version = versionOf(state, kind, query);
  const filtered = createFilteredState(state, query);
  return new ListRepresentation(context, kind, query, format, target, undefined, filtered, version);
}

/** A list of a historical state, of the revision in a cursor, or with names or a neighbourhood that must be resolved first. */
function* findList(
  context: RequestContext,
  kind: Kind,
  query: ParsedQuery,
  format: Format,
  target: string,
): Steps<Representation> {
  const { history, log, memory, revisions } = context;
  const cursor =
    query.cursor === undefined
      ? undefined
      : throwIfFault(decodeCursor(query.cursor, cursorScope(kind, query), log.signingKey));
  const state = yield* cursor
    ? stateOfPage(context, cursor, (versions) => changedAt(versions, kind, query))
    : stateAt(history, revisions.at);
  memory.hold(state);
  const version = cursor?.revision ?? versionOf(state, kind, query);
  // `around` is resolved here and not in `render`, because an unknown one must be a 400 even if `If-None-Match` matches.
  const filtered = throwIfFault(yield* filterState(state, query));
  return new ListRepresentation(context, kind, query, format, target, cursor, filtered, version);
}

class ListRepresentation implements Representation {
  readonly info: RepresentationInfo;
  readonly #context: RequestContext;
  readonly #kind: Kind;
  readonly #query: ParsedQuery;
  readonly #format: Format;
  readonly #target: string;
  readonly #cursor: Cursor | undefined;
  readonly #filtered: FilteredState;
  readonly #isWholeCollection: boolean;

  constructor(
    context: RequestContext,
    kind: Kind,
    query: ParsedQuery,
    format: Format,
    target: string,
    cursor: Cursor | undefined,
    filtered: FilteredState,
    version: number,
  ) {
    const { dialect } = context;
    const isPage = query.limit !== undefined || cursor !== undefined;
    this.#context = context;
    this.#kind = kind;
    this.#query = query;
    this.#format = format;
    this.#target = target;
    this.#cursor = cursor;
    this.#filtered = filtered;
    this.#isWholeCollection =
      format.name === "json" &&
      query.filters.length === 0 &&
      !query.around &&
      query.sort.length === 0 &&
      !query.fields &&
      !isPage;
    const page = isPage ? `${query.limit ?? ""} ${query.cursor ?? ""}` : " ";
    const { resolved } = filtered;
    const { currentVersion } = listVersions(context.view, kind, query, version, filtered);
    this.info = {
      key: `${dialect.keyPrefix}list ${kind} ${format.name} ${page} ${query.fingerprint}${resolved}`,
      version,
      currentVersion,
      tagIsVersion: dialect.showsRevision && this.#isWholeCollection,
      // Every page has the revision in the cursor. The list has not changed between that revision and the current one.
      revision: isPage ? version : filtered.state.revision,
      isPage,
      contentType: format.contentType,
    };
  }

  render(): ResultOrSteps<Content> {
    const { limit, sort } = this.#query;
    if (this.#isWholeCollection || limit !== undefined || sort.length > 0) return this.#renderInSteps();
    return this.#content(selectEntities(this.#filtered, this.#kind, String(this.#cursor?.after ?? "")));
  }

  *#renderInSteps(): Steps<Content> {
    const { memory, dialect } = this.#context;
    const kind = this.#kind;
    if (this.#isWholeCollection)
      return wholeCollection(kind, yield* this.#filtered.state.pages(kind), dialect);
    const { items, nextAfter } = yield* selectPage(
      this.#filtered,
      kind,
      this.#query,
      this.#cursor?.after,
      (bytes) => memory.add(bytes),
    );
    return this.#content(items, nextAfter);
  }

  #content(items: Paced<EncodedValue>, nextAfter?: Cursor["after"]): Content {
    const { fields } = this.#query;
    const { dialect } = this.#context;
    const kind = this.#kind;
    const next = nextAfter === undefined ? undefined : this.#encodeCursor(nextAfter);
    const chunks =
      this.#format.name === "json"
        ? renderJson(kind, items, fields, next, dialect)
        : encodeChunks(renderFormat(kind, items, fields, this.#format, dialect));
    return next === undefined
      ? { chunks }
      : { chunks, headers: { Link: `<${nextTarget(this.#target, next)}>; rel="next"` } };
  }

  #encodeCursor(after: Cursor["after"]): string {
    const { signingKey } = this.#context.log;
    const cursor = { revision: this.info.version, after };
    return encodeCursor(cursor, cursorScope(this.#kind, this.#query), signingKey);
  }
}

/** The versions of a list. `resolved` is the text of the devices that the names in the filters mean in the rendered state. */
export function listVersions(
  view: View,
  kind: Kind,
  query: ParsedQuery,
  version: number,
  { resolved, state }: Pick<FilteredState, "resolved" | "state">,
): Versions {
  const isCurrent = query.at === undefined && !query.around && query.cursor === undefined;
  const currentVersion = isCurrent ? followVersion(view, kind, query) : undefined;
  return namesDevices(query)
    ? whileShown({ version, currentVersion }, view, shownNames(query), resolved, state)
    : { version, currentVersion };
}

/** The version of a list. A list with `at` never changes, even if `at` was the current revision when it was first read. */
export const versionOf = (
  { revision, versions }: Pick<NetworkState, "revision" | "versions">,
  kind: Kind,
  query: ParsedQuery,
): number => (query.at === undefined ? changedAt(versions, kind, query) : revision);

/**
 * The revision that last changed the data of a list. A neighbourhood changes with any device, link or host. Any other list
 * changes with its own collection, with the missing entities if it lists them, and with the devices if it is sorted by their
 * names. The cursor of a page contains this revision.
 */
function changedAt(versions: CollectionVersions, kind: Kind, query: ParsedQuery): number {
  const changed = query.around
    ? Math.max(versions.devices, versions.links, versions.hosts, versions[kind])
    : versions[kind];
  const seen = query.includesMissing ? Math.max(changed, versions.missing) : changed;
  const isPage = query.limit !== undefined || query.cursor !== undefined;
  const isSortedByDevice = query.sort.some(({ field }) => POINT_FIELDS[kind].includes(field));
  // The names in the filters of a page must mean the same devices at the revision in its cursor.
  return isSortedByDevice || (isPage && namesDevices(query)) ? Math.max(seen, versions.devices) : seen;
}

/** Returns a function that returns the version of the current list. */
const followVersion = (view: View, kind: Kind, query: ParsedQuery) => (): number =>
  versionOf(view, kind, query);

const shownNames = (query: ParsedQuery) => (state: NetworkState) => bindFilters(query, state).resolved;

function renderJson(
  kind: Kind,
  items: Paced<EncodedValue>,
  fields: ParsedQuery["fields"],
  next: string | undefined,
  dialect: Dialect,
): string | Paced<Uint8Array> {
  const close = next === undefined ? "]}" : `],"next":${JSON.stringify(next)}}`;
  const open = `{"${kind}":[`;
  // Most filtered lists have one entity or none, which need no generator and no encoder.
  if (Array.isArray(items) && items.length < 2 && !fields)
    return `${open}${items[0] ? dialect.entity(kind, items[0].text) : ""}${close}`;
  return jsonList(open, jsonOf(kind, items, fields, dialect), close);
}

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
