/**
 * Finds what passes all filters, in order of id. Where an index (or the order of ids itself) narrows it down, only the
 * candidates are looked at; otherwise pages are scanned, and where the filters know what a match must contain, the
 * bytes are searched first and only likely values parsed. The past has no indexes and is always scanned.
 */

import type { SortedIndex } from "../../lib/sorted-index.ts";
import type { Kind } from "../../model/ids.ts";
import { pageFor } from "../../view/collection.ts";
import type { Page } from "../../view/page.ts";
import { parseStored, type Reading, View } from "../../view/view.ts";
import { type Filter, fieldOf, type Value } from "./filter.ts";
import type { SortKey } from "./query.ts";

export interface Match {
  readonly id: string;
  readonly text: string;
}

/** Beyond this many candidates a scan is as good, and needs no sorting. */
const MOST_CANDIDATES = 20_000;

/**
 * Matches with ids after `after`, in order. What is read is settled by the call, not as the matches are taken: the
 * network may go on meanwhile.
 */
export function select(
  reading: Reading,
  kind: Kind,
  filters: readonly Filter[],
  after = "",
): Iterable<Match> {
  if (filters.length === 0) return everything(reading.pages(kind), after);
  const passes = (text: string) => {
    const value = parseStored(kind, text);
    return filters.every((filter) => filter.test(value));
  };
  const ids = candidates(reading, kind, filters);
  return ids
    ? among(reading, kind, ids, passes, after)
    : scanned(reading.pages(kind), filters, passes, after);
}

/** Value by value and not by page: making pages anew for a look-up would cost more than the look-up. */
function among(
  reading: Reading,
  kind: Kind,
  ids: readonly string[],
  passes: (text: string) => boolean,
  after: string,
): Match[] {
  const found: Match[] = [];
  for (const id of ids) {
    if (id <= after) continue;
    const text = reading.get(kind, id);
    if (text !== undefined && passes(text)) found.push({ id, text });
  }
  return found;
}

function* scanned(
  pages: readonly Page[],
  filters: readonly Filter[],
  passes: (text: string) => boolean,
  after: string,
): Generator<Match> {
  const needles = filters.find((filter) => filter.needles)?.needles?.map((needle) => Buffer.from(needle));
  const anyCase = filters.find((filter) => filter.anyCase !== undefined)?.anyCase;
  const worthALook = (page: Page): Iterable<number> => {
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
      if (passes(text)) yield { id, text };
    }
  }
}

function* everything(pages: readonly Page[], after: string): Generator<Match> {
  for (let at = after === "" ? 0 : pageFor(pages, after); at < pages.length; at++) {
    const page = pages[at];
    if (!page) return;
    let i = page.position(after);
    if (page.ids[i] === after) i++;
    for (; i < page.length; i++) yield { id: page.ids[i] ?? "", text: page.value(i) };
  }
}

/** The values of a page that contain one of the needles, in order. */
function likely(page: Page, needles: readonly Buffer[]): Iterable<number> {
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
function likelyInAnyCase(page: Page, wanted: string): Iterable<number> {
  const found = new Set(likely(page, LOWERED_TO_ASCII));
  const text = page.bytes.toString("latin1").toLowerCase();
  for (let at = text.indexOf(wanted); at >= 0; ) {
    const i = page.indexAt(at);
    found.add(i);
    at = text.indexOf(wanted, (page.ends[i] ?? text.length) + 1);
  }
  return found.size < 2 ? found : [...found].sort((a, b) => a - b);
}

/** The ids of the narrowest hint any filter gives, in order; undefined when none is narrow enough. */
function candidates(reading: Reading, kind: Kind, filters: readonly Filter[]): string[] | undefined {
  const byId = filters.find((filter) => filter.ids)?.ids;
  if (byId)
    return inOrder(byId.map(([from, to]) => (from === to ? [from] : idsBetween(reading, kind, from, to))));
  if (!(reading instanceof View)) return undefined;
  let best: Span[] | undefined;
  let least = Math.min(MOST_CANDIDATES, reading.size(kind) / 2);
  for (const filter of filters) {
    const spans = (filter.indexed ?? []).flatMap(({ name, ranges }) => {
      const index = reading.indexNamed(kind, name);
      return index ? ranges.map(([from, to]) => ({ index, from, to })) : [];
    });
    if (spans.length === 0) continue;
    let count = 0;
    for (const { index, from, to } of spans) if (count <= least) count += index.count(from, to, least + 1);
    if (count > least) continue;
    best = spans;
    least = count;
  }
  return best && inOrder(best.map(({ index, from, to }) => index.range(from, to)));
}

interface Span {
  readonly index: SortedIndex;
  readonly from: string;
  readonly to: string;
}

function* idsBetween(reading: Reading, kind: Kind, from: string, to: string): Generator<string> {
  const pages = reading.pages(kind);
  for (let at = pageFor(pages, from); at < pages.length; at++) {
    const page = pages[at];
    if (!page) return;
    for (let i = page.position(from); i < page.length; i++) {
      const id = page.ids[i] ?? "";
      if (id > to) return;
      yield id;
    }
  }
}

function inOrder(parts: readonly Iterable<string>[]): string[] {
  const all = new Set<string>();
  for (const part of parts) for (const id of part) all.add(id);
  return [...all].sort();
}

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
