/**
 * The aliases of a state: by the key of an alias, the devices that have it. The map is persistent like the spellings, so
 * that every state, also of the past, resolves the aliases that it has, and a batch costs as much as it changes.
 */
import { LayeredMap } from "../lib/layered-map.ts";
import { Pace, type Steps } from "../lib/steps.ts";
import {
  type ConnectPoint,
  deviceKey,
  type Kind,
  linkId,
  pointOfPortId,
  portId,
  splitLinkId,
} from "../model/ids.ts";

/** The ids of the devices are sorted. In most networks the map is empty. */
export type DeviceAliases = LayeredMap<string, readonly string[]>;
export const NO_ALIASES: DeviceAliases = new LayeredMap();

/** The JSON of a device before and after a change; null where it does not exist. */
export interface DeviceChange {
  readonly id: string;
  readonly before: string | null;
  readonly after: string | null;
}

const CHANGES_PER_STEP = 200;
const NO_KEYS: readonly string[] = [];
/** In the JSON of every device with aliases. A quote in a string is escaped, so that no text of the network contains it. */
const MEMBER = '"aliases":[';

export const hasAliases = (json: string): boolean => json.includes(MEMBER);

/** The keys of a device's aliases, from its JSON. */
export function aliasKeysOf(json: string | null): readonly string[] {
  if (json === null || !hasAliases(json)) return NO_KEYS;
  const { aliases = [] }: { readonly aliases?: readonly string[] } = JSON.parse(json);
  return aliases.map(deviceKey);
}

/** The aliases after these devices changed. */
export function* withAliases(aliases: DeviceAliases, devices: Iterable<DeviceChange>): Steps<DeviceAliases> {
  const changed = new Map<string, readonly string[] | undefined>();
  const idsOf = (key: string): readonly string[] =>
    (changed.has(key) ? changed.get(key) : aliases.get(key)) ?? NO_KEYS;
  const pace = new Pace(CHANGES_PER_STEP);
  for (const { id, before, after } of devices) {
    if (pace.isDue(before?.length, after?.length)) yield;
    const oldKeys = aliasKeysOf(before);
    const newKeys = aliasKeysOf(after);
    for (const key of oldKeys) {
      if (newKeys.includes(key)) continue;
      const others = idsOf(key).filter((other) => other !== id);
      changed.set(key, others.length > 0 ? others : undefined);
    }
    for (const key of newKeys)
      if (!oldKeys.includes(key)) changed.set(key, [...new Set([...idsOf(key), id])].sort());
  }
  return changed.size === 0 ? aliases : yield* aliases.with(changed);
}

/** The device that an id means; the same id where it is no alias. */
export type ResolveDevice = (id: string) => string;

/**
 * The ids that an id may mean once the devices in it are resolved; without the id itself. The id of a link may be split
 * in several ways, because ids of devices may contain both separators.
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

/** The keys of all devices that an id may name. */
export function devicesNamedIn(kind: Kind, id: string): string[] {
  const keys = new Set<string>();
  resolvedIds(kind, id, (device) => {
    keys.add(deviceKey(device));
    return device;
  });
  return [...keys];
}
