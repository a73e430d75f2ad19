/**
 * Finds devices by an alias or by a name (`annotations.name`) besides their ids. An id has precedence over an alias, and an
 * alias over a name. A text that is the alias or name of several devices is ambiguous and means none of them.
 *
 * The maps are persistent like the spellings, so that every state, also a historical one, resolves the aliases and names of
 * its own devices, and the cost of a batch depends on what it changes, even if thousands of devices have the same name.
 */
import { LayeredMap } from "../lib/layered-map.ts";
import { COST, Pause, type Steps } from "../lib/steps.ts";
import {
  type ConnectPoint,
  deviceKey,
  type Kind,
  linkId,
  pointOfPortId,
  portId,
  splitLinkId,
} from "../model/ids.ts";

/** The devices with one alias or name. In most cases there is one, which is stored without a set. */
type Bearers = string | LayeredMap<string, true>;
type BearersByKey = LayeredMap<string, Bearers>;

/** The JSON of a device before and after a change; null where it does not exist. */
export interface DeviceChange {
  readonly id: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** An alias or name that several devices have. */
export interface AmbiguousName {
  readonly name: string;
  /** The ids of the devices, sorted; at most `MAX_CANDIDATES`. */
  readonly candidates: readonly string[];
  /** The number of all these devices. */
  readonly count: number;
}

const MAX_CANDIDATES = 10;
const NO_KEYS: readonly string[] = [];

/** The key of an alias or name, which is found in any case and without the spaces around it. */
export const nameKey = (text: string): string => deviceKey(text.trim());

export class DeviceLookup {
  static readonly empty = new DeviceLookup(new LayeredMap(), new LayeredMap(), 0);
  /** Number of aliases and names that no device has any more, counted over all changes since the first of these maps. */
  readonly losses: number;
  readonly #aliases: BearersByKey;
  readonly #names: BearersByKey;

  constructor(aliases: BearersByKey, names: BearersByKey, losses: number) {
    this.#aliases = aliases;
    this.#names = names;
    this.losses = losses;
  }

  /** Whether any device has this alias or name. */
  has(key: string): boolean {
    return (this.#aliases.size > 0 && this.#aliases.has(key)) || this.#names.has(key);
  }

  /** The device with this alias or name; undefined if there is none, or more than one. */
  find(key: string, acceptsNames: boolean): string | undefined {
    const bearers = this.#bearers(key, acceptsNames);
    return typeof bearers === "string" ? bearers : undefined;
  }

  findAmbiguous(key: string, name: string): AmbiguousName | undefined {
    const bearers = this.#bearers(key, true);
    if (bearers === undefined || typeof bearers === "string") return undefined;
    const candidates = bearers
      .entries()
      .take(MAX_CANDIDATES)
      .map(([id]) => id);
    return { name, candidates: [...candidates].sort(), count: bearers.size };
  }

  #bearers(key: string, acceptsNames: boolean): Bearers | undefined {
    const named = this.#aliases.size === 0 ? undefined : this.#aliases.get(key);
    return named ?? (acceptsNames ? this.#names.get(key) : undefined);
  }

  /** Returns the maps after these devices changed. */
  *with(devices: Iterable<DeviceChange>): Steps<DeviceLookup> {
    const changes = new LookupChanges();
    const pause = new Pause();
    for (const device of devices) {
      changes.add(device);
      if (pause.due(COST.key, device.before?.length, device.after?.length)) yield;
    }
    return yield* this.withChanges(changes);
  }

  *withChanges({ aliases, names }: LookupChanges): Steps<DeviceLookup> {
    if (aliases.isEmpty && names.isEmpty) return this;
    const nextAliases = yield* aliases.applyTo(this.#aliases);
    const nextNames = yield* names.applyTo(this.#names);
    return new DeviceLookup(nextAliases, nextNames, this.losses + aliases.losses + names.losses);
  }
}

/** Collects the aliases and names that devices lose and get. */
export class LookupChanges {
  readonly aliases = new BearerChanges();
  readonly names = new BearerChanges();

  add({ id, before, after }: DeviceChange): void {
    this.aliases.replace(id, aliasKeysOf(before), aliasKeysOf(after));
    this.names.replace(id, nameKeysOf(id, before), nameKeysOf(id, after));
  }
}

class BearerChanges {
  /** Number of keys that no device has any more. */
  losses = 0;
  /** The devices that get (true) or lose (undefined) a key, by key. */
  readonly #changes = new Map<string, Map<string, true | undefined>>();

  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  replace(id: string, before: readonly string[], after: readonly string[]): void {
    for (const key of before) if (!after.includes(key)) this.#set(key, id, undefined);
    for (const key of after) if (!before.includes(key)) this.#set(key, id, true);
  }

  #set(key: string, id: string, has: true | undefined): void {
    const known = this.#changes.get(key);
    if (known) known.set(id, has);
    else this.#changes.set(key, new Map([[id, has]]));
  }

  *applyTo(bearers: BearersByKey): Steps<BearersByKey> {
    const changed = new Map<string, Bearers | undefined>();
    const pause = new Pause();
    for (const [key, changes] of this.#changes) {
      const next = yield* withBearers(bearers.get(key), changes);
      if (next === undefined) this.losses++;
      changed.set(key, next);
      if (pause.due(COST.key)) yield;
    }
    return changed.size === 0 ? bearers : yield* bearers.with(changed);
  }
}

function* withBearers(
  bearers: Bearers | undefined,
  changes: ReadonlyMap<string, true | undefined>,
): Steps<Bearers | undefined> {
  if (changes.size === 1 && typeof bearers !== "object")
    for (const [id, has] of changes) {
      if (!has) return bearers === id ? undefined : bearers;
      if (bearers === undefined || bearers === id) return id;
    }
  const set =
    typeof bearers === "object"
      ? bearers
      : new LayeredMap<string, true>(new Map(bearers === undefined ? [] : [[bearers, true]]));
  const next = yield* set.with(changes);
  if (next.size > 1) return next;
  for (const [only] of next.entries()) return only;
  return undefined;
}

/** Text in the JSON of every device with aliases. A quote in a string is escaped, so no text of the network contains it. */
const ALIASES_MEMBER = '"aliases":[';

/** The keys of a device's aliases, from its JSON. */
function aliasKeysOf(json: string | null): readonly string[] {
  if (json === null || !json.includes(ALIASES_MEMBER)) return NO_KEYS;
  const { aliases = [] }: { readonly aliases?: readonly string[] } = JSON.parse(json);
  return aliases.map(nameKey);
}

/** The key of a device's name. A name that equals the id is left out, because the id is found anyway. */
function nameKeysOf(id: string, json: string | null): readonly string[] {
  const name = json === null ? undefined : nameIn(json);
  const key = name === undefined ? "" : nameKey(name);
  return key === "" || key === deviceKey(id) ? NO_KEYS : [key];
}

/** The keys of all aliases and names of a device, from its JSON. */
export const lookupKeysOf = (id: string, json: string | null): readonly string[] => [
  ...aliasKeysOf(json),
  ...nameKeysOf(id, json),
];

const ANNOTATIONS_MEMBER = '"annotations":{';
const NAME_MEMBER = '"name":"';

/**
 * The name in the JSON of a device. In most cases it is read without parsing the rest, which loading many devices would
 * otherwise have to do for each: annotations are texts, so a member `name` before the first closing brace is one of them.
 */
function nameIn(json: string): string | undefined {
  const start = json.indexOf(ANNOTATIONS_MEMBER);
  const at = start < 0 ? -1 : json.indexOf(NAME_MEMBER, start);
  if (at < 0) return undefined;
  const valueAt = at + NAME_MEMBER.length;
  const end = json.indexOf('"', valueAt);
  const isMember = json[at - 1] === "," || json[at - 1] === "{";
  if (isMember && json.indexOf("}", start) > at && !json.slice(valueAt, end).includes("\\"))
    // The value is parsed and not sliced, because a slice keeps the whole string in memory.
    return JSON.parse(json.slice(valueAt - 1, end + 1));
  const { annotations }: { readonly annotations?: Readonly<Record<string, string>> } = JSON.parse(json);
  return annotations?.name;
}

/** Resolves the device that an id means; returns the same id if it is neither an alias nor a name. */
export type ResolveDevice = (id: string) => string;

/**
 * The ids that an id may mean once the devices in it are resolved, without the id itself. The id of a link may be split in
 * several ways, because ids of devices may contain both separators.
 */
export function resolvedIds(kind: Kind, id: string, resolve: ResolveDevice): string[] {
  const point = ({ device, port }: ConnectPoint): ConnectPoint => ({ device: resolve(device), port });
  return possibleIds(kind, id, point, resolve).filter((candidate) => candidate !== id);
}

function possibleIds(
  kind: Kind,
  id: string,
  point: (given: ConnectPoint) => ConnectPoint,
  resolve: ResolveDevice,
): string[] {
  switch (kind) {
    case "devices":
      return [resolve(id)];
    case "ports": {
      const given = pointOfPortId(id);
      if (!given) return [];
      const { device, port } = point(given);
      return [portId(device, port)];
    }
    case "links":
      return splitLinkId(id).map(([src, dst]) => linkId(point(src), point(dst)));
    case "hosts":
      return [];
  }
}

/** All devices that an id may contain, as they are written in it. */
export function devicesNamedIn(kind: Kind, id: string): string[] {
  if (kind === "devices") return [id];
  const names = new Set<string>();
  resolvedIds(kind, id, (device) => {
    names.add(device);
    return device;
  });
  return [...names];
}
