/**
 * The view's indexes. An index is a name and a pure function from a value to its keys. All indexes of a kind are updated in
 * one place from the old and the new value, so that none can become inconsistent. A key of two parts is joined by NUL,
 * which no id or port contains. Keys contain devices as `deviceKey`, so that every spelling of an id finds them.
 */
import { IdNumbers, SortedIndex } from "../lib/sorted-index.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import { ipKey, writeIpv4Key } from "../model/address.ts";
import { type ClaimTypes, claimedId, referencedDevices } from "../model/claim.ts";
import { hasConflict } from "../model/conflict.ts";
import { type Device, type Entities, entityId, type Host, type Link } from "../model/entity.ts";
import { type ConnectPoint, deviceKey, idKey, isKind, type Kind } from "../model/ids.ts";
import { identityKey, identityValues } from "./identity/identity-values.ts";

/**
 * A claim as it is stored. The claim of an intended source has a role, so that indexes and counts need no rules. The first
 * claim of a device that was renamed has its former ids (`former-ids.ts`).
 */
export type StoredClaim<K extends Kind = Kind> = readonly [
  source: string,
  claim: ClaimTypes[K],
  role?: typeof INTENDED | null,
  formerIds?: readonly string[],
];
export type StoredClaims = readonly StoredClaim[];
export interface StoredTypes extends Entities {
  claims: StoredClaims;
  /** The intended value, with `drift`. */
  missing: Entities[Kind];
  settings: StoredSetting;
}
/** See `merge-rules.ts`. */
export type StoredSetting = Readonly<Record<string, unknown>>;

export const INTENDED = "intended";
/** The key of an entity in the collection `missing`. */
export const missingKey = (kind: Kind, id: string): string => `${kind} ${id}`;
/** The index key of all entities of a kind that an intended source claims. */
export const plannedKindKey = (source: string, kind: Kind): string => `${source}\u0000${kind}`;
/** The index key of all intended ports of one source at one device, in any spelling of the id that the source uses. */
export const plannedPortsKey = (source: string, device: string): string =>
  `${source}\u0000${deviceKey(device)}`;

/** Two active direct links cannot use the same port. Links of other types (tunnels, edge links) can. */
export const occupiesPorts = (link: Pick<Link, "type" | "state">): boolean =>
  link.type === "DIRECT" && link.state === "ACTIVE";
export const occupiedPortKey = (end: "src" | "dst", { device, port }: ConnectPoint): string =>
  `${end} ${deviceKey(device)}\u0000${port}`;

/** The key of an entity's stored claims. Ids contain no white space, so the space separates kind and id. */
export const claimsKey = (kind: Kind, id: string): string => `${kind} ${idKey(kind, id)}`;

/** The inverse of `claimsKey` and of `missingKey`. */
export function parseClaimsKey(stored: string): { readonly kind: Kind; readonly key: string } | undefined {
  const space = stored.indexOf(" ");
  const kind = stored.slice(0, space);
  return isKind(kind) ? { kind, key: stored.slice(space + 1) } : undefined;
}

/** The claims under another id than that of the entity, by their own `claimsKey`: see `identity/device-groups.ts`. */
function* claimedElsewhere(claims: StoredClaims, stored: string): Generator<[source: string, key: string]> {
  const kind = parseClaimsKey(stored)?.kind;
  // The id of a host contains no device.
  if (!kind || kind === "hosts") return;
  for (const [source, claim] of claims) {
    const key = claimsKey(kind, claimedId(claim));
    if (key !== stored) yield [source, key];
  }
}

const NO_KEYS: readonly string[] = [];
/** The key of all entities in an index of flagged ones. */
const FLAGGED: readonly string[] = ["true"];
const NO_CLAIMS: StoredClaims = [];

/** The name keys of devices and hosts. Ports have names too, but far more of them than are ever looked up. */
function nameKeys({ annotations }: Device | Host): readonly string[] {
  return annotations?.name ? [annotations.name] : NO_KEYS;
}
const unique = (keys: Iterable<string>): readonly string[] => [...new Set(keys)];

/** The devices of the locations. Ports are not in the keys: few hosts are at each device, and its keys need no order. */
function locatedAt({ locations }: Host): readonly string[] {
  const [first, ...others] = locations;
  if (!first) return NO_KEYS;
  if (others.length === 0) return [deviceKey(first.elementId)];
  return unique(locations.map(({ elementId }) => deviceKey(elementId)));
}

function conflictKeys(entity: Entities[Kind]): readonly string[] {
  return hasConflict(entity) ? FLAGGED : NO_KEYS;
}

function driftState({ drift }: Entities[Kind]): readonly string[] {
  return drift ? [drift.state] : NO_KEYS;
}

function identityKeys(device: Device): readonly string[] {
  const [source, ...others] = device.sources;
  if (source === undefined || others.length > 0) return NO_KEYS;
  return identityValues(device).map((value) => identityKey(source, value));
}

function intendedClaims(claims: StoredClaims): StoredClaims {
  return claims.some(([, , role]) => role) ? claims.filter(([, , role]) => role) : NO_CLAIMS;
}

/** The kind of an entity or of a claim. */
function kindOf(record: Entities[Kind] | ClaimTypes[Kind]): Kind {
  if ("element" in record) return "ports";
  if ("src" in record) return "links";
  return "mac" in record ? "hosts" : "devices";
}

/** Writes the encoded key of a part whose text is in `bytes`. Returns its length; 0 if `keyOf` must be used. */
type WriteKey = (bytes: Uint8Array, start: number, end: number, into: Uint8Array) => number;

/**
 * Returns the indexed parts of a value. `keyOf` converts a part to its key, if the part is not the key itself. An index
 * that is built on demand does not exist before `Indexes.build`.
 */
type KeysOf<T> = ((value: T, id: string) => readonly string[]) & {
  readonly keyOf?: (part: string) => string;
  readonly writeKey?: WriteKey;
  readonly onDemand?: true;
};
const KEYS = {
  devices: {
    type: (device) => [device.type],
    available: (device) => [String(device.available)],
    source: (device) => device.sources,
    alias: (device) => device.aliases?.map(deviceKey) ?? NO_KEYS,
    name: nameKeys,
    /** The values of a device of one source. Those of a device of several sources are in the index of the stored claims. */
    identity: Object.assign(identityKeys, { onDemand: true } as const),
    drift: driftState,
    conflict: conflictKeys,
  },
  ports: {
    source: (port) => port.sources,
    drift: driftState,
    conflict: conflictKeys,
  },
  links: {
    src: (link) => [deviceKey(link.src.device)],
    dst: (link) => [deviceKey(link.dst.device)],
    state: (link) => [link.state],
    source: (link) => link.sources,
    drift: driftState,
    conflict: conflictKeys,
    oneSided: (link) => (link.bidirectional ? NO_KEYS : FLAGGED),
    /** The links that occupy a port as `src` or as `dst`. Two links on one port are a conflict. */
    occupiedPort: (link) =>
      occupiesPorts(link) ? [occupiedPortKey("src", link.src), occupiedPortKey("dst", link.dst)] : [],
  },
  hosts: {
    ip: Object.assign((host: Host) => host.ipAddresses, { keyOf: ipKey, writeKey: writeIpv4Key }),
    location: locatedAt,
    name: nameKeys,
    source: (host) => host.sources,
    drift: driftState,
    conflict: conflictKeys,
  },
  claims: {
    /** The devices that the claims refer to. An entity is held back until its devices exist. */
    device: (claims) => [...new Set(claims.flatMap(([, claim]) => referencedDevices(claim).map(deviceKey)))],
    source: (claims) => unique(claims.map(([source]) => source)),
    /** The devices whose ports are claimed. */
    portsOf: (claims) =>
      unique(claims.flatMap(([, claim]) => ("element" in claim ? [deviceKey(claim.element)] : []))),
    identity: (claims) =>
      unique(
        claims.flatMap(([source, claim]) =>
          "id" in claim ? identityValues(claim).map((value) => identityKey(source, value)) : [],
        ),
      ),
    alias: (claims) =>
      unique(claims.flatMap(([, claim]) => ("id" in claim ? (claim.aliases?.map(deviceKey) ?? []) : []))),
    /** The entity that has the claims about an id, if it is not the entity of that id. */
    claimedAs: (claims, id) => unique(claimedElsewhere(claims, id).map(([, key]) => key)),
    /** The key of a device that is claimed under several ids. */
    joined: (claims, id) => {
      const parsed = parseClaimsKey(id);
      const isJoined = parsed?.kind === "devices" && !claimedElsewhere(claims, id).next().done;
      return isJoined ? [parsed.key] : NO_KEYS;
    },
    /** The entities that have claims of a source under another id. */
    movedFrom: (claims, id) => unique(claimedElsewhere(claims, id).map(([source]) => source)),
    plannedKind: (claims) =>
      unique(intendedClaims(claims).map(([source, claim]) => plannedKindKey(source, kindOf(claim)))),
    plannedPorts: (claims) =>
      unique(
        intendedClaims(claims).flatMap(([source, claim]) =>
          "element" in claim ? [plannedPortsKey(source, claim.element)] : [],
        ),
      ),
  },
  missing: {
    /** The kind of the entity. */
    drift: (entity) => [kindOf(entity)],
    /** Finds an entity by its `idKey`. */
    key: (entity) => [missingKey(kindOf(entity), idKey(kindOf(entity), entityId(entity)))],
  },
  settings: {},
} as const satisfies { [K in keyof StoredTypes]: Record<string, KeysOf<StoredTypes[K]>> };

const TABLE: { readonly [K in keyof StoredTypes]: Readonly<Record<string, KeysOf<StoredTypes[K]>>> } = KEYS;

export type IndexName<K extends keyof StoredTypes> = keyof (typeof KEYS)[K] & string;

export interface NamedIndex<T> {
  readonly name: string;
  readonly keysOf: KeysOf<T>;
  readonly index: SortedIndex;
}

export class Indexes<K extends keyof StoredTypes> {
  readonly kind: K;
  readonly ids = new IdNumbers();
  readonly #indexes: NamedIndex<StoredTypes[K]>[] = [];

  constructor(kind: K) {
    this.kind = kind;
    for (const [name, keysOf] of Object.entries(TABLE[kind]))
      if (!keysOf.onDemand) this.#indexes.push({ name, keysOf, index: new SortedIndex(this.ids) });
  }

  /** Builds an index on demand from all values, which must not change meanwhile. */
  *build(
    name: IndexName<K>,
    values: Iterable<readonly [id: string, value: StoredTypes[K], length: number]>,
  ): Steps<void> {
    const keysOf = TABLE[this.kind][name];
    if (!keysOf || this.find(name)) return;
    const built = { name, keysOf, index: new SortedIndex(this.ids) };
    const pause = new Pause();
    for (const [id, value, length] of values) {
      replaceKeys(built, id, undefined, value, undefined);
      if (pause.due(COST.entity, length)) yield;
    }
    this.#indexes.push(built);
  }

  all(): readonly NamedIndex<StoredTypes[K]>[] {
    return this.#indexes;
  }

  find(name: string): SortedIndex | undefined {
    return this.#indexes.find((candidate) => candidate.name === name)?.index;
  }

  named(name: IndexName<K>): SortedIndex {
    const found = this.find(name);
    if (!found) throw new Error(`no index ${name}`);
    return found;
  }

  /**
   * Replaces a value, while readers still see `base` (the commit is not visible yet): keys of `base` are retired, so that
   * readers find them. Without `base` they are deleted.
   */
  update(
    id: string,
    before: StoredTypes[K] | undefined,
    after: StoredTypes[K] | undefined,
    base?: StoredTypes[K],
  ): void {
    for (const named of this.#indexes) replaceKeys(named, id, before, after, base);
  }

  /** See `SortedIndex.dropRetired`. */
  dropRetired(): void {
    for (const { index } of this.#indexes) index.dropRetired();
  }

  /** Frees the memory of removed ids, and sorts the keys in which too many are unsorted. No batch may be in preparation. */
  *tidy(): Steps<void> {
    yield* this.ids.freeUnused();
    for (const { index } of this.#indexes) if (index.needsSorting) yield* index.sortKeys();
  }
}

function replaceKeys<T>(
  { keysOf, index }: NamedIndex<T>,
  id: string,
  before: T | undefined,
  after: T | undefined,
  base: T | undefined,
): void {
  const { keyOf } = keysOf;
  const oldParts = before ? keysOf(before, id) : NO_KEYS;
  const newParts = after ? keysOf(after, id) : NO_KEYS;
  if (oldParts === newParts) return;
  for (const part of oldParts) {
    if (newParts.includes(part)) continue;
    const key = keyOf ? keyOf(part) : part;
    if (base && (base === before || keysOf(base, id).includes(part))) index.retire(key, id);
    else index.delete(key, id);
  }
  for (const part of newParts) if (!oldParts.includes(part)) index.add(keyOf ? keyOf(part) : part, id);
}
