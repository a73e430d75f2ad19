/**
 * A device or a host that a request names: an end of a path, or the centre of a neighbourhood. The id or an alias of a
 * device has precedence over the id of a host, and that over the name of a device. A host is one EDGE link away from the
 * device where it is located.
 */
import { canonicalHostId } from "../model/address.ts";
import type { Host, HostLocation } from "../model/entity.ts";
import type { AmbiguousName } from "../view/device-lookup.ts";
import { type NetworkState, parseStored } from "../view/view.ts";
import { AmbiguousNameFault, type QueryFault } from "./fault.ts";

export interface PathEnd {
  readonly device: string;
  /** The host, where the end is one. */
  readonly host?: { readonly id: Host["id"]; readonly location: HostLocation };
}

/** The ends of a path. An unknown end is undefined. */
export interface PathEnds {
  readonly src: PathEnd | undefined;
  readonly dst: PathEnd | undefined;
}

/** The shown id of a device, or a host. Undefined for a text that names neither in this state. */
export function findDeviceOrHost(
  state: NetworkState,
  id: string,
  acceptsNames: boolean,
): string | Host | AmbiguousName | undefined {
  const device = state.shownId("devices", id, false);
  if (state.get("devices", device) !== undefined) return device;
  const host = state.get("hosts", canonicalHostId(id) ?? id);
  if (host !== undefined) return parseStored("hosts", host);
  if (!acceptsNames) return undefined;
  const named = state.shownId("devices", id, true);
  return state.get("devices", named) !== undefined ? named : state.findAmbiguousName("devices", id);
}

export function findPathEnds(
  state: NetworkState,
  ids: { readonly src: string; readonly dst: string },
  acceptsNames: boolean,
): PathEnds | QueryFault {
  const src = findDeviceOrHost(state, ids.src, acceptsNames);
  if (isAmbiguous(src)) return new AmbiguousNameFault(src);
  const dst = findDeviceOrHost(state, ids.dst, acceptsNames);
  if (isAmbiguous(dst)) return new AmbiguousNameFault(dst);
  return { src: endAt(src), dst: endAt(dst) };
}

export const isAmbiguous = (found: ReturnType<typeof findDeviceOrHost>): found is AmbiguousName =>
  typeof found === "object" && "candidates" in found;

function endAt(found: string | Host | undefined): PathEnd | undefined {
  if (typeof found !== "object") return found === undefined ? undefined : { device: found };
  return { device: found.location.elementId, host: { id: found.id, location: found.location } };
}
