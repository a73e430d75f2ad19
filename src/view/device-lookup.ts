/**
 * Finds devices by an alias or by a name (`annotations.name`) besides their ids. An id has precedence over an alias, and an
 * alias over a name. A text that is the alias or name of several devices is ambiguous and means none of them.
 *
 * The maps are persistent like the spellings, so that every state, also a historical one, resolves the aliases and names of
 * its own devices. A batch copies the lists of the names that it changes; even a list of thousands of devices is short.
 */
import { LayeredMap } from "../lib/layered-map.ts";
import { appendTo } from "../lib/multimap.ts";
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

/** The devices with one alias or name. In most cases there is one, which is stored without a list. */
type Bearers = string | readonly string[];
type BearersByKey = LayeredMap<string, Bearers>;
/** The devices that get (true) or lose (false) a key, by key. */
type KeyChanges = Map<string, [id: string, isGained: boolean][]>;

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
    return { name, candidates: bearers.slice(0, MAX_CANDIDATES).sort(), count: bearers.length };
  }

  #bearers(key: string, acceptsNames: boolean): Bearers | undefined {
    const named = this.#aliases.size === 0 ? undefined : this.#aliases.get(key);
    return named ?? (acceptsNames ? this.#names.get(key) : undefined);
  }

  /** Returns the maps after these devices changed. */
  *with(devices: Iterable<DeviceChange>): Steps<DeviceLookup> {
    const aliasChanges: KeyChanges = new Map();
    const nameChanges: KeyChanges = new Map();
    const pause = new Pause();
    for (const { id, before, after } of devices) {
      addChanges(aliasChanges, id, aliasKeysOf(before), aliasKeysOf(after));
      addChanges(nameChanges, id, nameKeysOf(id, before), nameKeysOf(id, after));
      if (pause.due(COST.key, before?.length, after?.length)) yield;
    }
    if (aliasChanges.size + nameChanges.size === 0) return this;
    const aliases = yield* changedBearers(this.#aliases, aliasChanges);
    const names = yield* changedBearers(this.#names, nameChanges);
    let { losses } = this;
    for (const bearers of [...aliases.values(), ...names.values()]) if (bearers === undefined) losses++;
    return new DeviceLookup(yield* this.#aliases.with(aliases), yield* this.#names.with(names), losses);
  }
}

function addChanges(
  changes: KeyChanges,
  id: string,
  before: readonly string[],
  after: readonly string[],
): void {
  for (const key of before) if (!after.includes(key)) appendTo(changes, key, [id, false]);
  for (const key of after) if (!before.includes(key)) appendTo(changes, key, [id, true]);
}

function* changedBearers(
  bearers: BearersByKey,
  changes: KeyChanges,
): Steps<Map<string, Bearers | undefined>> {
  const changed = new Map<string, Bearers | undefined>();
  const pause = new Pause();
  for (const [key, devices] of changes) {
    const known = bearers.get(key) ?? [];
    const lost = new Set<string>();
    for (const [id, isGained] of devices) if (!isGained) lost.add(id);
    const kept = (typeof known === "string" ? [known] : known).filter((id) => !lost.has(id));
    for (const [id, isGained] of devices) if (isGained) kept.push(id);
    changed.set(key, kept.length > 1 ? kept : kept[0]);
    if (pause.due(COST.key + (kept.length >>> 3))) yield;
  }
  return changed;
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
