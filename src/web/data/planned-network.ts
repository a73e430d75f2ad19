/**
 * The network together with what is only planned, as one copy that follows the changes of the network. A new copy for each
 * change would cost the whole network several times a second, and the map compares a copy with the one before entity by
 * entity.
 */
import { cableId } from "../../model/cable.ts";
import type { Device, Link } from "../../model/entity.ts";
import type { Network, NetworkEntity } from "./loaded-network.ts";

interface Followed {
  readonly base: Network;
  readonly planned: readonly NetworkEntity[];
  readonly copy: Network;
  readonly stop: () => void;
}

/** Returns the network with the planned entities: the same object while both arguments have the same content. */
export type PlannedNetworks = (base: Network, planned: readonly NetworkEntity[]) => Network;

export function createPlannedNetworks(): PlannedNetworks {
  let current: Followed | undefined;
  return (base, planned) => {
    if (current?.base === base && isSameList(current.planned, planned)) return current.copy;
    current?.stop();
    current = undefined;
    if (planned.length === 0) return base;
    const copy = base.withPlanned(planned);
    current = { base, planned, copy, stop: follow(base, planned, copy) };
    return copy;
  };
}

/** The list is made anew after each change of drift; its entities are the same objects unless they changed. */
const isSameList = (a: readonly NetworkEntity[], b: readonly NetworkEntity[]): boolean =>
  a.length === b.length && a.every(({ value }, i) => value === b[i]?.value);

/** By the rules of `Network.withPlanned`. Returns the function that ends it. */
function follow(base: Network, planned: readonly NetworkEntity[], copy: Network): () => void {
  const devices = new Map<string, Device>();
  const linksByCable = new Map<string, Link[]>();
  for (const { resource, value } of planned) {
    if (resource === "devices") devices.set(value.id, value);
    if (resource !== "links") continue;
    const links = linksByCable.get(cableId(value)) ?? [];
    linksByCable.set(cableId(value), [...links, value]);
  }
  return base.onChange((kind, id) => {
    if (kind === "devices") {
      const value = base.devices.get(id) ?? devices.get(id);
      if (value) copy.set({ resource: kind, value });
      else copy.remove(kind, id);
      return;
    }
    const observed = base.links.get(id);
    const link = observed ?? copy.links.get(id);
    if (!link) return;
    if (observed) copy.set({ resource: kind, value: observed });
    else copy.remove(kind, id);
    const cable = cableId(link);
    const isObserved = base.cables.has(cable);
    for (const value of linksByCable.get(cable) ?? []) {
      if (base.links.has(value.id)) continue;
      if (!isObserved) copy.set({ resource: kind, value });
      else if (copy.links.has(value.id)) copy.remove(kind, value.id);
    }
  });
}
