/**
 * The view's indexes: a name and a pure function from a value to its keys, each. All are kept in one place from (old,
 * new), so none can drift. A key of two parts is joined by NUL, which no id or port contains: a device's range of
 * keys is then [`device NUL`, `device NUL` + the highest character].
 */
import { SortedIndex } from "../lib/sorted-index.ts";
import { ipKey } from "../model/address.ts";
import type { ClaimTypes } from "../model/claim.ts";
import type { Entities, Host, Link } from "../model/entity.ts";
import type { ConnectPoint, Kind } from "../model/ids.ts";
import { referencedDevices } from "./recover.ts";

export type StoredClaims = readonly (readonly [source: string, claim: ClaimTypes[Kind]])[];
export interface StoredTypes extends Entities {
  claims: StoredClaims;
}

export const compositeKey = (first: string, second: string): string => `${first}\u0000${second}`;
/** The range of all keys whose first part is `first`. */
export const compositeKeyRange = (first: string): [string, string] => [`${first}\u0000`, `${first}\u0000\uffff`];

/** Links of other kinds (tunnels, many hosts behind an edge) may well share a port; two cables cannot. */
export const occupiesPorts = (link: Pick<Link, "type" | "state">): boolean =>
  link.type === "DIRECT" && link.state === "ACTIVE";
export const occupiedPortKey = (end: "src" | "dst", at: ConnectPoint): string =>
  compositeKey(`${end} ${at.device}`, at.port);

/** What of a value is indexed; and, where that is not it already, the key each part is found by. */
type KeysOf<T> = ((value: T) => readonly string[]) & { readonly keyOf?: (part: string) => string };
const KEYS = {
  devices: {
    type: (device) => [device.type],
    available: (device) => [String(device.available)],
    source: (device) => device.sources,
  },
  ports: {
    source: (port) => port.sources,
  },
  links: {
    src: (link) => [compositeKey(link.src.device, link.src.port)],
    dst: (link) => [compositeKey(link.dst.device, link.dst.port)],
    state: (link) => [link.state],
    source: (link) => link.sources,
    /** Which cables go in (`dst`) and out (`src`) at a port: two on one are a contradiction. */
    cable: (link) => (occupiesPorts(link) ? [occupiedPortKey("src", link.src), occupiedPortKey("dst", link.dst)] : []),
  },
  hosts: {
    ip: Object.assign((host: Host) => host.ipAddresses, { keyOf: ipKey }),
    location: (host) => host.locations.map((at) => compositeKey(at.elementId, at.port)),
    source: (host) => host.sources,
  },
  claims: {
    /** Who is held back for want of a device, or has several claimants that name it. */
    device: (claims) => [...new Set(claims.flatMap(([, claim]) => referencedDevices(claim)))],
    source: (claims) => claims.map(([source]) => source),
  },
} as const satisfies { [K in keyof StoredTypes]: Record<string, KeysOf<StoredTypes[K]>> };

const TABLE: { readonly [K in keyof StoredTypes]: Readonly<Record<string, KeysOf<StoredTypes[K]>>> } = KEYS;

export type IndexName<K extends keyof StoredTypes> = keyof (typeof KEYS)[K] & string;

export class Indexes<K extends keyof StoredTypes> {
  readonly #indexes: { name: string; keysOf: KeysOf<StoredTypes[K]>; index: SortedIndex }[];

  constructor(kind: K) {
    this.#indexes = Object.entries(TABLE[kind]).map(([name, keysOf]) => ({
      name,
      keysOf,
      index: new SortedIndex(),
    }));
  }

  find(name: string): SortedIndex | undefined {
    return this.#indexes.find((one) => one.name === name)?.index;
  }

  named(name: IndexName<K>): SortedIndex {
    const found = this.find(name);
    if (!found) throw new Error(`no index ${name}`);
    return found;
  }

  update(id: string, before: StoredTypes[K] | undefined, after: StoredTypes[K] | undefined): void {
    for (const { keysOf, index } of this.#indexes) {
      const { keyOf } = keysOf;
      const was = before ? keysOf(before) : NO_KEYS;
      const is = after ? keysOf(after) : NO_KEYS;
      for (const part of was) if (!is.includes(part)) index.delete(keyOf ? keyOf(part) : part, id);
      for (const part of is) if (!was.includes(part)) index.add(keyOf ? keyOf(part) : part, id);
    }
  }

  /** See `SortedIndex.settle`. */
  sortKeys(): void {
    for (const { index } of this.#indexes) index.sortKeys();
  }
}

const NO_KEYS: readonly string[] = [];
