/**
 * The representations of lists: devices, ports, links, hosts. A list without parameters is the pages of the view, which
 * are encoded already; any other is selected, cut to a page and rendered. All pages of one walk are of the revision in
 * the cursor, so that changes between two requests do not show.
 */

import type { Format } from "../../formats/formats.ts";
import { runToEnd } from "../../lib/steps.ts";
import type { Kind } from "../../model/ids.ts";
import { type Cursor, cursorScope, decodeCursor, encodeCursor, stateOfCursor } from "../../query/cursor.ts";
import { type FilteredState, filterState } from "../../query/filtered-state.ts";
import { selectPage } from "../../query/list-page.ts";
import type { Query } from "../../query/query.ts";
import { resolveState } from "../../query/revision.ts";
import { projectFields } from "../../query/select.ts";
import { type EncodedValue, totalBytes } from "../../view/collection.ts";
import type { EncodedPage } from "../../view/encoded-page.ts";
import { type NetworkState, parseStored } from "../../view/view.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { throwIfFault } from "../query-problem.ts";
import type { Content, Representation } from "../representation.ts";
import { encodeChunks, jsonList } from "./json-list.ts";
import type { ReadContext, RequestContext } from "./read-context.ts";

/** `target` is the request target: the `Link` to the next page repeats it. */
export function listRepresentation(
  context: RequestContext,
  kind: Kind,
  query: Query,
  format: Format,
  target: string,
): Representation {
  return new ListRepresentation(context, kind, query, format, target);
}

class ListRepresentation implements Representation {
  readonly key: string;
  /** Also the revision of the cursors that the list hands out. */
  readonly version: number;
  readonly currentVersion?: () => number;
  readonly tagIsVersion: boolean;
  readonly revision: number;
  readonly isPage: boolean;
  readonly contentType: string;
  readonly #context: RequestContext;
  readonly #kind: Kind;
  readonly #query: Query;
  readonly #format: Format;
  readonly #target: string;
  readonly #cursor: Cursor | undefined;
  readonly #filtered: FilteredState;

  constructor(context: RequestContext, kind: Kind, query: Query, format: Format, target: string) {
    const { history, log, dialect } = context;
    const cursor =
      query.cursor === undefined
        ? undefined
        : throwIfFault(decodeCursor(query.cursor, cursorScope(kind, query), log.signingKey));
    const state = throwIfFault(cursor ? stateOfCursor(history, cursor) : resolveState(history, query));
    const page = `${query.limit ?? ""} ${query.cursor ?? ""}`;
    this.key = `${dialect.keyPrefix}list ${kind} ${format.name} ${page} ${query.fingerprint}`;
    this.version = cursor?.revision ?? versionOf(context, state, kind, query);
    if (query.at === undefined && !query.around && !cursor)
      this.currentVersion = () => versionOf(context, state, kind, query);
    this.isPage = query.limit !== undefined || cursor !== undefined;
    // Every page says the revision in the cursor. The list did not change between that and the current one.
    this.revision = this.isPage ? this.version : state.revision;
    this.contentType = format.contentType;
    this.#context = context;
    this.#kind = kind;
    this.#query = query;
    this.#format = format;
    this.#target = target;
    this.#cursor = cursor;
    // Resolved here and not in `render`: an unknown `around` must be a 400 whatever the condition of the request.
    this.#filtered = throwIfFault(filterState(state, query));
    this.tagIsVersion = dialect.showsRevision && this.#isWholeCollection;
  }

  render(): Content {
    const { fields } = this.#query;
    const { dialect } = this.#context;
    const kind = this.#kind;
    if (this.#isWholeCollection)
      return wholeCollection(kind, dialect.pages(kind, runToEnd(this.#filtered.state.pages(kind))));
    const { items, nextAfter } = selectPage(this.#filtered, kind, this.#query, this.#cursor?.after);
    const next = nextAfter === undefined ? undefined : this.#encodeCursor(nextAfter);
    const chunks =
      this.#format.name === "json"
        ? renderJson(kind, items, fields, next, dialect)
        : encodeChunks(renderFormat(kind, items, fields, this.#format, dialect));
    return next === undefined
      ? { chunks }
      : { chunks, headers: { Link: `<${nextTarget(this.#target, next)}>; rel="next"` } };
  }

  get #isWholeCollection(): boolean {
    const { sort, fields } = this.#query;
    return (
      this.#format.name === "json" &&
      this.#filtered.filters(this.#kind).length === 0 &&
      sort.length === 0 &&
      !fields &&
      !this.isPage
    );
  }

  #encodeCursor(after: Cursor["after"]): string {
    const { signingKey } = this.#context.log;
    return encodeCursor({ revision: this.version, after }, cursorScope(this.#kind, this.#query), signingKey);
  }
}

/**
 * The revision that last changed what a list is rendered from. A neighbourhood changes with any device, link or host; any
 * other list with its own collection. A page puts this revision in its cursor, so it must be one that is still kept. A
 * list of the past never changes, also when `at` was the current revision when it was read first.
 */
function versionOf({ log }: ReadContext, state: NetworkState, kind: Kind, query: Query): number {
  if (query.at !== undefined) return state.revision;
  const { versions } = state;
  const changed = query.around
    ? Math.max(versions.devices, versions.links, versions.hosts, versions[kind])
    : versions[kind];
  return query.limit === undefined ? changed : Math.max(changed, log.stats().oldest);
}

/** The same request target with another cursor. */
export function nextTarget(target: string, cursor: string): string {
  const [path = "", queryText = ""] = target.split(/\?(.*)/s);
  const parameters = queryText.split("&").filter((part) => part !== "" && !/^cursor(=|$)/.test(part));
  return `${path}?${[...parameters, `cursor=${cursor}`].join("&")}`;
}

function renderJson(
  kind: Kind,
  items: Iterable<EncodedValue>,
  fields: Query["fields"],
  next: string | undefined,
  dialect: Dialect,
): string | Iterable<Uint8Array> {
  const close = next === undefined ? "]}" : `],"next":${JSON.stringify(next)}}`;
  const open = `{"${kind}":[`;
  // Most filtered lists hold one entity or none: then no generator and no encoder is needed.
  if (Array.isArray(items) && items.length < 2 && !fields)
    return `${open}${items[0] ? dialect.entity(kind, items[0].text) : ""}${close}`;
  return jsonList(open, jsonOf(kind, items, fields, dialect), close);
}

function renderFormat(
  kind: Kind,
  items: Iterable<EncodedValue>,
  fields: Query["fields"],
  { name, renderList }: Format,
  dialect: Dialect,
): Iterable<string> {
  if (!renderList) throw new Error(`lists have no format ${name}`);
  return renderList({
    kind,
    fields: selectFields(fields, dialect.fields(kind)),
    jsonTexts: () => jsonOf(kind, items, fields, dialect),
    entities: (itemKind) => parseItems(itemKind, items, dialect),
  });
}

const selectFields = (fields: Query["fields"], existing: Query["fields"]): Query["fields"] =>
  fields && existing ? fields.filter((field) => existing.includes(field)) : (fields ?? existing);

function* jsonOf(
  kind: Kind,
  items: Iterable<EncodedValue>,
  fields: Query["fields"],
  dialect: Dialect,
): Generator<string> {
  for (const { text } of items) {
    const json = dialect.entity(kind, text);
    yield fields ? projectFields(json, fields) : json;
  }
}

/** With all fields: a format that needs those that the dialect does not have (Prometheus) is the same in every dialect. */
function* parseItems<K extends Kind>(kind: K, items: Iterable<EncodedValue>, dialect: Dialect) {
  for (const { text } of items) {
    const entity = parseStored(kind, text);
    const json = dialect.entity(kind, text);
    yield json === text ? entity : { ...entity, ...parseStored(kind, json) };
  }
}

const OPEN: Readonly<Record<Kind, Buffer>> = {
  devices: Buffer.from('{"devices":['),
  ports: Buffer.from('{"ports":['),
  links: Buffer.from('{"links":['),
  hosts: Buffer.from('{"hosts":['),
};
const CLOSE = Buffer.from("]}");

/** The encoded pages of the view. Each chunk is the same object every time, so its compressed form can be cached. */
function wholeCollection(kind: Kind, pages: readonly EncodedPage[]): Content {
  const last = pages.at(-1);
  function* chunks(): Generator<Uint8Array> {
    yield OPEN[kind];
    for (const page of pages) yield page === last ? page.bytes : page.bytesWithComma;
    yield CLOSE;
  }
  const commas = Math.max(0, pages.length - 1);
  const length = OPEN[kind].length + totalBytes(pages) + commas + CLOSE.length;
  return { chunks: chunks(), persistent: true, length };
}
