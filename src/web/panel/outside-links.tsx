/** The links out of the map that the configuration has for the selected entity: a shell, a dashboard, a ticket. */
import { expandLinkTemplate, parseLinkTemplate } from "../../model/link-template.ts";
import type { MapLink } from "../../model/map-settings.ts";
import type { Network } from "../data/loaded-network.ts";
import { outsideValues } from "../data/outside-values.ts";
import { usePlannedNetwork, useStore } from "../data/page-store.ts";
import type { EntityRef } from "../data/view-state.ts";

const KINDS: Readonly<Record<EntityRef["kind"], MapLink["kind"]>> = {
  devices: "device",
  links: "link",
  hosts: "host",
};

export function OutsideLinks({ entityRef }: { readonly entityRef: EntityRef }) {
  const { settings } = useStore();
  const network = usePlannedNetwork();
  const links = network ? addressesOf(settings.value?.links ?? [], network, entityRef) : [];
  if (links.length === 0) return null;
  return (
    <ul class="outside-links" aria-label="Links out of the map">
      {links.map(({ name, address }) => (
        <li key={name}>
          {/^https?:/i.test(address) ? (
            <a href={address} target="_blank" rel="noopener noreferrer">
              {name}
            </a>
          ) : (
            <a href={address} rel="noopener noreferrer">
              {name}
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Without those that lack a value. */
function addressesOf(
  links: readonly MapLink[],
  network: Network,
  entityRef: EntityRef,
): { readonly name: string; readonly address: string }[] {
  const findValue = outsideValues(network, entityRef);
  return links.flatMap(({ name, kind, url }) => {
    const parsed = kind === KINDS[entityRef.kind] ? parseLinkTemplate(url) : undefined;
    const address = parsed?.ok ? expandLinkTemplate(parsed.template, findValue) : undefined;
    return address === undefined ? [] : [{ name, address }];
  });
}
