/**
 * The lists: devices, ports, links, hosts. Without any question a list is the view's pages as they are; with one,
 * matches are found, cut to a page, and rendered. Pages of a paged list are of one revision, told by the cursor: what
 * changes meanwhile does not exist for that reader.
 */
import { renderCsv } from "../../formats/csv.ts";
import type { Format } from "../../formats/format.ts";
import { renderNdjsonLines } from "../../formats/ndjson.ts";
import { renderPrometheusDevices, renderPrometheusHosts } from "../../formats/prometheus.ts";
import type { Kind } from "../../model/ids.ts";
import { type Cursor, decodeCursor, encodeCursor } from "../../query/cursor.ts";
import type { Query } from "../../query/parse-query.ts";
import { type Match, select, sortMatches, withFields } from "../../query/select.ts";
import { bytesOn } from "../../view/collection.ts";
import type { EncodedPage } from "../../view/encoded-page.ts";
import { type NetworkState, parseStored } from "../../view/view.ts";
import type { Content, Representation } from "../body-renderer.ts";
import { Problem } from "../problem.ts";
import { bytesOf, jsonList } from "./json-list.ts";
import { type FilteredState, filteredStateOf, type ReadContext, stateFor } from "./read-context.ts";

export function listRead(
  context: ReadContext,
  kind: Kind,
  query: Query,
  format: Format,
  address: string,
): Representation {
  return new List(context, kind, query, format, address);
}

interface Found {
  readonly matches: Iterable<Match>;
  readonly next: string | undefined;
}

class List implements Representation {
  readonly key: string;
  /** The revision of its content: what the cursors it hands out are of. */
  readonly version: number;
  readonly currentVersion?: () => number;
  readonly revision: number;
  readonly contentType: string;
  readonly #context: ReadContext;
  readonly #kind: Kind;
  readonly #query: Query;
  readonly #format: Format;
  readonly #address: string;
  readonly #cursor: Cursor | undefined;
  readonly #sight: FilteredState;

  constructor(context: ReadContext, kind: Kind, query: Query, format: Format, address: string) {
    const cursor =
      query.cursor === undefined
        ? undefined
        : decodeCursor(query.cursor, cursorScope(kind, query), context.log.secret);
    const reading = cursor ? pinned(context, cursor) : stateFor(context, query);
    this.key = `list ${kind} ${format.name} ${query.limit ?? ""} ${query.cursor ?? ""} ${query.fingerprint}`;
    this.version = cursor?.revision ?? markOf(context, reading, kind, query);
    if (query.at === undefined && !query.around && !cursor)
      this.currentVersion = () => markOf(context, reading, kind, query);
    this.revision = reading.revision;
    this.contentType = format.contentType;
    this.#context = context;
    this.#kind = kind;
    this.#query = query;
    this.#format = format;
    this.#address = address;
    this.#cursor = cursor;
    // Found here and not in `make`: an unknown `around` must be refused before a condition is looked at.
    this.#sight = filteredStateOf(reading, query);
  }

  make(): Content {
    const { fields } = this.#query;
    if (this.#isWhole) return wholeList(this.#kind, this.#sight.reading.pages(this.#kind));
    const { matches, next } = this.#find();
    const pieces =
      this.#format.name === "json"
        ? json(this.#kind, matches, fields, next)
        : bytesOf(rendered(this.#kind, matches, fields, this.#format));
    return next === undefined
      ? { pieces }
      : { pieces, headers: { Link: `<${nextAddress(this.#address, next)}>; rel="next"` } };
  }

  /** Whether it is the collection as it lies in the view. */
  get #isWhole(): boolean {
    const { sort, limit, fields } = this.#query;
    return (
      this.#format.name === "json" &&
      this.#sight.filters(this.#kind).length === 0 &&
      sort.length === 0 &&
      limit === undefined &&
      !fields &&
      !this.#cursor
    );
  }

  #find(): Found {
    const { limit, sort } = this.#query;
    const kind = this.#kind;
    const after = this.#cursor?.after;
    const { reading } = this.#sight;
    const filters = this.#sight.filters(kind);
    const sorted = sort.length > 0;
    const matches = sorted
      ? sortMatches(kind, select(reading, kind, filters), sort).slice(Number(after ?? 0))
      : select(reading, kind, filters, String(after ?? ""));
    if (limit === undefined) return { matches, next: undefined };
    const page: Match[] = [];
    let more = false;
    for (const match of matches) {
      more = page.length === limit;
      if (more) break;
      page.push(match);
    }
    if (!more) return { matches: page, next: undefined };
    const reached = sorted ? Number(after ?? 0) + page.length : (page.at(-1)?.id ?? "");
    const cursor = { revision: this.version, after: reached };
    const next = encodeCursor(cursor, cursorScope(kind, this.#query), this.#context.log.secret);
    return { matches: page, next };
  }
}

/**
 * The revision that last changed what a list is made of. A neighbourhood changes with any device or link; everything
 * else with its own collection. A page hands out that revision in its cursor, so it must be one that is still kept.
 */
function markOf({ log }: ReadContext, { marks }: NetworkState, kind: Kind, query: Query): number {
  const changed = query.around ? Math.max(marks.devices, marks.links, marks.hosts, marks[kind]) : marks[kind];
  return query.limit === undefined ? changed : Math.max(changed, log.facts().oldest);
}

const cursorScope = (kind: Kind, query: Query): string => `${kind} ${query.fingerprint}`;

function pinned({ history }: ReadContext, { revision }: Cursor): NetworkState {
  if (history.resolve(revision).ok) return history.at(revision);
  throw new Problem(
    "cursor-expired",
    `The list this cursor walks is of revision ${revision}, which is no longer kept; begin again without the cursor.`,
  );
}

/** The same address, with the query as it came, and the cursor put in place of the old one. */
function nextAddress(address: string, next: string): string {
  const question = address.indexOf("?");
  const base = address.slice(0, question);
  const kept = address
    .slice(question + 1)
    .split("&")
    .filter((part) => part !== "" && !/^cursor(=|$)/.test(part));
  return `${base}?${[...kept, `cursor=${next}`].join("&")}`;
}

function json(
  kind: Kind,
  matches: Iterable<Match>,
  fields: Query["fields"],
  next: string | undefined,
): string | Iterable<Uint8Array> {
  const close = next === undefined ? "]}" : `],"next":${JSON.stringify(next)}}`;
  const open = `{"${kind}":[`;
  // Most questions have one answer or none.
  if (Array.isArray(matches) && matches.length < 2 && !fields)
    return `${open}${matches[0]?.text ?? ""}${close}`;
  return jsonList(open, texts(matches, fields), close);
}

function rendered(
  kind: Kind,
  matches: Iterable<Match>,
  fields: Query["fields"],
  { name }: Format,
): Iterable<string> {
  switch (name) {
    case "ndjson":
      return renderNdjsonLines(texts(matches, fields));
    case "csv":
      return renderCsv(kind, valuesOf(kind, matches), fields);
    case "prometheus":
      return kind === "devices"
        ? renderPrometheusDevices(valuesOf("devices", matches))
        : renderPrometheusHosts(valuesOf("hosts", matches));
    default:
      throw new Error(`there are no lists as ${name}`);
  }
}

function* texts(matches: Iterable<Match>, fields: Query["fields"]): Generator<string> {
  for (const { text } of matches) yield fields ? withFields(text, fields) : text;
}

function* valuesOf<K extends Kind>(kind: K, matches: Iterable<Match>) {
  for (const { text } of matches) yield parseStored(kind, text);
}

const OPEN: Readonly<Record<Kind, Buffer>> = {
  devices: Buffer.from('{"devices":['),
  ports: Buffer.from('{"ports":['),
  links: Buffer.from('{"links":['),
  hosts: Buffer.from('{"hosts":['),
};
const CLOSE = Buffer.from("]}");

/** A whole list as it lies in the view. Every piece is the same object each time, so what is remembered of it holds. */
function wholeList(kind: Kind, pages: readonly EncodedPage[]): Content {
  const last = pages.at(-1);
  function* pieces(): Generator<Uint8Array> {
    yield OPEN[kind];
    for (const page of pages) yield page === last ? page.bytes : page.followed;
    yield CLOSE;
  }
  const commas = Math.max(0, pages.length - 1);
  const length = OPEN[kind].length + bytesOn(pages) + commas + CLOSE.length;
  return { pieces: pieces(), lasting: true, length };
}
