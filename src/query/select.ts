/**
 * Finds what passes all filters, in order of id. Where an index (or the order of ids itself) narrows it down, only the
 * candidates are looked at; otherwise pages are scanned, and where the filters know what a match must contain, the
 * bytes are searched first and only likely values parsed. The past has no indexes and is always scanned.
 */

import type { Kind } from "../model/ids.ts";
import { itemsBetween, pageFor } from "../view/collection.ts";
import type { EncodedPage } from "../view/encoded-page.ts";
import { type NetworkState, parseStored, View } from "../view/view.ts";
import { type Filter, fieldOf, type Indexed, passes, type Range, type Value } from "./filter.ts";
import type { SortKey } from "./parse-query.ts";

export interface Match {
  readonly id: string;
  readonly text: string;
}

/** Beyond this many candidates a scan is as good, and needs no sorting. */
const MAX_CANDIDATES = 20_000;

/**
 * Matches with ids after `after`, in order. What is read is settled by the call, not as the matches are taken: the
 * network may go on meanwhile.
 */
export function select(
  reading: NetworkState,
  kind: Kind,
  filters: readonly Filter[],
  after = "",
): Iterable<Match> {
  if (filters.length === 0) return everything(reading.pages(kind), after);
  const byId = filters.find((filter) => filter.ids);
  if (byId?.ids) return checked(inRanges(reading, kind, byId.ids, after), kind, byId, filters);
  const found = reading instanceof View ? narrowest(reading, kind, filters) : undefined;
  if (!found) return scanned(kind, reading.pages(kind), filters, after);
  return checked(withIds(reading, kind, found.ids, after), kind, found.filter, filters);
}

/** What the hint of one filter found, put to the test of all; if the hint is exact, of the others. */
function checked(matches: Match[], kind: Kind, hint: Filter, filters: readonly Filter[]): Match[] {
  const rest = hint.exact ? filters.filter((filter) => filter !== hint) : filters;
  return rest.length === 0 ? matches : matches.filter(({ text }) => passes(kind, text, rest));
}

function* scanned(
  kind: Kind,
  pages: readonly EncodedPage[],
  filters: readonly Filter[],
  after: string,
): Generator<Match> {
  const needles = filters.find((filter) => filter.needles)?.needles?.map((needle) => Buffer.from(needle));
  const anyCase = filters.find((filter) => filter.anyCase !== undefined)?.anyCase;
  const worthALook = (page: EncodedPage): Iterable<number> => {
    if (needles) return likely(page, needles);
    return anyCase === undefined ? page.ids.keys() : likelyInAnyCase(page, anyCase);
  };
  for (let at = after === "" ? 0 : pageFor(pages, after); at < pages.length; at++) {
    const page = pages[at];
    if (!page) return;
    for (const i of worthALook(page)) {
      const id = page.ids[i] ?? "";
      if (id <= after) continue;
      const text = page.value(i);
      if (passes(kind, text, filters)) yield { id, text };
    }
  }
}

function* everything(pages: readonly EncodedPage[], after: string): Generator<Match> {
  for (let at = after === "" ? 0 : pageFor(pages, after); at < pages.length; at++) {
    const page = pages[at];
    if (!page) return;
    let i = page.position(after);
    if (page.ids[i] === after) i++;
    for (; i < page.length; i++) yield { id: page.ids[i] ?? "", text: page.value(i) };
  }
}

/** The values of a page that contain one of the needles, in order. */
function likely(page: EncodedPage, needles: readonly Buffer[]): Iterable<number> {
  const found = new Set<number>();
  for (const needle of needles) {
    for (let at = page.bytes.indexOf(needle); at >= 0; ) {
      const i = page.indexAt(at);
      found.add(i);
      // On to the next value: one hit in a value is enough.
      at = page.bytes.indexOf(needle, (page.ends[i] ?? page.bytes.length) + 1);
    }
  }
  return found.size < 2 ? found : [...found].sort((a, b) => a - b);
}

/** The only letters outside ASCII whose lower case has ASCII in it: the Kelvin sign, and the capital dotted I. */
const LOWERED_TO_ASCII = ["\u212a", "\u0130"].map((letter) => Buffer.from(letter));

/** The same for text in upper or lower case. As Latin-1 a byte is a character, so that places in both are the same. */
function likelyInAnyCase(page: EncodedPage, wanted: string): Iterable<number> {
  const found = new Set(likely(page, LOWERED_TO_ASCII));
  const text = page.bytes.toString("latin1").toLowerCase();
  for (let at = text.indexOf(wanted); at >= 0; ) {
    const i = page.indexAt(at);
    found.add(i);
    at = text.indexOf(wanted, (page.ends[i] ?? text.length) + 1);
  }
  return found.size < 2 ? found : [...found].sort((a, b) => a - b);
}

interface Found {
  readonly filter: Filter;
  readonly ids: readonly string[];
}

/** The ids that the indexes of one filter give, where they give the fewest; undefined when none is narrow enough. */
function narrowest(view: View, kind: Kind, filters: readonly Filter[]): Found | undefined {
  let best: Found | undefined;
  let most = Math.min(MAX_CANDIDATES, view.size(kind) / 2);
  for (const filter of filters) {
    const ids = filter.indexed && gathered(view, kind, filter.indexed, most);
    if (!ids) continue;
    best = { filter, ids };
    most = ids.length;
  }
  return best;
}

/** Undefined when there are more than `most`, and when the kind has none of the indexes. */
function gathered(view: View, kind: Kind, indexed: readonly Indexed[], most: number): string[] | undefined {
  let ids: string[] | undefined;
  for (const { name, ranges } of indexed) {
    const index = view.indexNamed(kind, name);
    if (!index) continue;
    ids ??= [];
    for (const [from, to] of ranges) if (!index.gather(from, to, ids, most)) return undefined;
  }
  return ids;
}

/** Value by value and not by page: making pages anew for a look-up would cost more than the look-up. */
function withIds(reading: NetworkState, kind: Kind, ids: readonly string[], after: string): Match[] {
  const matches: Match[] = [];
  for (const id of ids.length < 2 ? ids : [...new Set(ids)].sort()) addOne(matches, reading, kind, id, after);
  return matches;
}

function inRanges(reading: NetworkState, kind: Kind, ranges: readonly Range[], after: string): Match[] {
  const matches: Match[] = [];
  for (const [from, to] of ranges) {
    if (from === to) addOne(matches, reading, kind, from, after);
    else for (const match of between(reading, kind, from, to)) if (match.id > after) matches.push(match);
  }
  if (matches.length < 2) return matches;
  // Each once, in order: two ranges may hold the same.
  matches.sort((a, b) => (a.id < b.id ? -1 : 1));
  return matches.filter(({ id }, i) => id !== matches[i + 1]?.id);
}

function addOne(matches: Match[], reading: NetworkState, kind: Kind, id: string, after: string): void {
  if (id <= after) return;
  const text = reading.get(kind, id);
  if (text !== undefined) matches.push({ id, text });
}

const between = (reading: NetworkState, kind: Kind, from: string, to: string): readonly Match[] =>
  reading instanceof View ? reading.between(kind, from, to) : itemsBetween(reading.pages(kind), from, to);

/** Matches in the order asked for; equal ones in order of id. */
export function sortMatches(kind: Kind, matches: Iterable<Match>, sort: readonly SortKey[]): Match[] {
  const rows = [...matches].map((match) => {
    const value: Value = parseStored(kind, match.text);
    return { match, keys: sort.map(({ field }) => fieldOf(value, field)) };
  });
  rows.sort((a, b) => {
    for (const [i, { descending }] of sort.entries()) {
      const left = a.keys[i] ?? "";
      const right = b.keys[i] ?? "";
      if (left !== right) return left < right === descending ? 1 : -1;
    }
    return a.match.id < b.match.id ? -1 : 1;
  });
  return rows.map((row) => row.match);
}

/** Only the asked-for fields of a value, in the order of the JSON. */
export function withFields(text: string, fields: readonly string[]): string {
  const value: Record<string, unknown> = JSON.parse(text);
  const chosen: Record<string, unknown> = {};
  for (const field of fields) if (field in value) chosen[field] = value[field];
  return JSON.stringify(chosen);
}
