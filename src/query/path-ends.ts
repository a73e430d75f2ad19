/** The ends of a path: devices, or hosts, which lie one EDGE link away from the device where they are located. */
import { canonicalHostId } from "../model/address.ts";
import type { Host, HostLocation } from "../model/entity.ts";
import { type NetworkState, parseStored } from "../view/view.ts";

export interface PathEnd {
  readonly device: string;
  /** Where the end is a host. */
  readonly host?: { readonly id: Host["id"]; readonly location: HostLocation };
}

/** Undefined when the id is that of no device and no host in this state. */
export function resolvePathEnd(state: NetworkState, id: string): PathEnd | undefined {
  const device = state.shownId("devices", id);
  if (state.get("devices", device) !== undefined) return { device };
  const json = state.get("hosts", canonicalHostId(id) ?? id);
  if (json === undefined) return undefined;
  const host = parseStored("hosts", json);
  return { device: host.location.elementId, host: { id: host.id, location: host.location } };
}
