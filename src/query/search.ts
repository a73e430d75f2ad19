/**
 * The search for devices and hosts by the beginnings of words: names, ids, MAC and IP addresses, serial numbers, and blocks
 * of addresses. It reads the indexes of all pages (`search-index.ts`) in steps and keeps only as many hits as requested,
 * best first: the whole field, the beginning of a field, the beginning of a word, a word of the description, several words
 * in any order. Devices come before hosts, and shorter fields before longer ones: of `leaf-1`, `leaf-10` and `leaf-2`, the
 * longest is last.
 */
import { compareTexts, lowerBound } from "../lib/sorted.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import { canonicalMac, ipKeyRange } from "../model/address.ts";
import type { EncodedPage } from "../view/encoded-page.ts";
import {
  addressBytes,
  FIELD_CLASS,
  indexPage,
  type PageWords,
  SEARCHED_KINDS,
  type SearchedKind,
  wordsOf,
} from "../view/search-index.ts";
import type { NetworkState } from "../view/view.ts";

export interface SearchHit {
  readonly kind: SearchedKind;
  /** The stored JSON of the entity. */
  readonly text: string;
}

export interface SearchMatches {
  readonly hits: readonly SearchHit[];
  /** Whether these are all hits. */
  readonly complete: boolean;
}

/** The parsed text of a search. */
export interface SearchTerms {
  /** The whole text, as the beginning of a word, and the MAC address that it may be in canonical form. */
  readonly phrases: readonly Uint8Array[];
  /** The words, where there are several. */
  readonly words: readonly Uint8Array[];
  /** The range of a block of addresses, or of one address. */
  readonly addresses: { readonly from: Uint8Array; readonly to: Uint8Array } | undefined;
}

/** Number of hits that a search returns at most. */
export const MAX_HITS = 100;
/** A longer text is truncated, so it is found by its beginning. */
const MAX_TEXT_BYTES = 256;
/** The cost of a lookup in a page. The search pauses after a page that had to be indexed. */
const PAGE_COST = 5 * COST.entity;

const RANKS = { field: 0, fieldStart: 1, wordStart: 2, description: 3, allWords: 4 } as const;
const RANK_WEIGHT = 0x1000;
const HOST_WEIGHT = 0x800;
const MAX_LENGTH = 0x7ff;
const NO_MATCH = Number.POSITIVE_INFINITY;

export function parseSearch(input: string): SearchTerms {
  const text = input.trim().toLowerCase();
  const range = ipKeyRange(text);
  const words = text.split(/\s+/);
  return {
    phrases: [...new Set([text, canonicalMac(text)?.toLowerCase() ?? text])].map(bytesOf),
    words: words.length > 1 ? words.map(bytesOf) : [],
    addresses: range && { from: addressBytes(range.from), to: addressBytes(range.to) },
  };
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text).subarray(0, MAX_TEXT_BYTES);

interface Candidate {
  readonly score: number;
  /** The text of the field, in lower case. */
  readonly field: string;
  readonly kind: SearchedKind;
  readonly page: EncodedPage;
  readonly index: number;
}

export function* searchState(state: NetworkState, terms: SearchTerms, limit: number): Steps<SearchMatches> {
  const best: Candidate[] = [];
  const matches = new PageMatches();
  const pause = new Pause();
  let found = 0;
  for (const kind of SEARCHED_KINDS) {
    for (const page of yield* state.pages(kind)) {
      const known = wordsOf(page);
      matches.find(known ?? (yield* indexPage(kind, page)), terms);
      found += matches.owners.length;
      const weight = kind === "hosts" ? HOST_WEIGHT : 0;
      for (const index of matches.owners) {
        const score = matches.score(index) + weight;
        // Most matches are worse than the last of many, which their scores show without their fields.
        if (best.length < limit || score <= (best.at(-1)?.score ?? score))
          insert(best, limit, { score, field: matches.field(index), kind, page, index });
      }
      if (!known || pause.due(PAGE_COST)) yield;
    }
  }
  const hits = best.map(({ kind, page, index }) => ({ kind, text: page.value(index) }));
  return { hits, complete: found <= limit };
}

/** Keeps the first `limit` candidates in order. */
function insert(best: Candidate[], limit: number, candidate: Candidate): void {
  const at = lowerBound(best.length, (i) => compareCandidates(best[i] ?? candidate, candidate) <= 0);
  if (at < limit) best.splice(at, 0, candidate);
  if (best.length > limit) best.pop();
}

function compareCandidates(a: Candidate, b: Candidate): number {
  const idOf = ({ page, index }: Candidate): string => page.id(index);
  return a.score - b.score || compareTexts(a.field, b.field) || compareTexts(idOf(a), idOf(b));
}

/** The matching entities of one page, each with its best word. The object is reused for the next page. */
class PageMatches {
  /** The indexes of the matching entities on the page. */
  readonly owners: number[] = [];
  readonly #scores: number[] = [];
  /** The best word of each entity. */
  readonly #words: number[] = [];
  #index: PageWords | undefined;

  find(index: PageWords, { phrases, words, addresses }: SearchTerms): void {
    for (const owner of this.owners) this.#scores[owner] = NO_MATCH;
    this.owners.length = 0;
    this.#index = index;
    for (const phrase of phrases)
      for (let at = index.lowerBound(phrase); at < index.length && index.beginsWith(at, phrase); at++)
        if (this.#canImprove(index, at)) this.#add(index, at, rankOf(index, at, phrase.length));
    if (addresses) {
      const { from, to } = addresses;
      for (let at = index.lowerBound(from); at < index.length && index.isNotAfter(at, to); at++)
        this.#add(index, at, RANKS.field);
    }
    if (words.length > 0) this.#findAllWords(index, words);
  }

  #findAllWords(index: PageWords, words: readonly Uint8Array[]): void {
    let matching: Map<number, number> | undefined;
    for (const word of words) {
      const found = new Map<number, number>();
      for (let at = index.lowerBound(word); at < index.length && index.beginsWith(at, word); at++) {
        const owner = index.owner(at);
        if (!matching || matching.has(owner)) found.set(owner, matching?.get(owner) ?? at);
      }
      matching = found;
      if (found.size === 0) return;
    }
    for (const at of matching?.values() ?? []) this.#add(index, at, RANKS.allWords);
  }

  /** Whether the word can improve the score, without the comparison of fields, which is slow if almost every word matches. */
  #canImprove(index: PageWords, at: number): boolean {
    const known = this.#scores[index.owner(at)] ?? NO_MATCH;
    return known >= RANKS.wordStart * RANK_WEIGHT || index.isFieldStart(at);
  }

  #add(index: PageWords, at: number, rank: number): void {
    const owner = index.owner(at);
    const score = rank * RANK_WEIGHT + Math.min(index.fieldLength(at), MAX_LENGTH);
    const known = this.#scores[owner] ?? NO_MATCH;
    if (known === NO_MATCH) this.owners.push(owner);
    if (score >= known) return;
    this.#scores[owner] = score;
    this.#words[owner] = at;
  }

  score(owner: number): number {
    return this.#scores[owner] ?? NO_MATCH;
  }

  field(owner: number): string {
    return this.#index?.fieldText(this.#words[owner] ?? 0) ?? "";
  }
}

function rankOf(index: PageWords, at: number, length: number): number {
  if (index.fieldClass(at) === FIELD_CLASS.description) return RANKS.description;
  if (!index.isFieldStart(at)) return RANKS.wordStart;
  return index.endsAfter(at, length) ? RANKS.field : RANKS.fieldStart;
}
