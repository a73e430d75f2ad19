/** The links out of the map that the configuration defines for the selected entity: a shell, a dashboard, a ticket. */

import type { Annotations, Device, Host, Link } from "../../model/entity.ts";
import { expandLinkTemplate, parseLinkTemplate } from "../../model/link-template.ts";
import type { MapLink } from "../../model/map-settings.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { usePlannedNetwork, useStore } from "../data/page-store.ts";
import type { EntityRef } from "../data/view-state.ts";

export function OutsideLinks({ entityRef }: { readonly entityRef: EntityRef }) {
  const { settings } = useStore();
  const network = usePlannedNetwork();
  const links = network ? addressesOf(settings.value?.links ?? [], network, entityRef) : [];
  if (links.length === 0) return null;
  return (
    <ul class="outside-links" aria-label="Links out of the map">
      {links.map(({ name, address }) => (
        <li key={name}>
          <a
            href={address}
            target={/^https?:/i.test(address) ? "_blank" : undefined}
            rel="noopener noreferrer"
          >
            {name}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The addresses of the links for which the entity has all values. */
function addressesOf(
  links: readonly MapLink[],
  network: PageNetwork,
  entityRef: EntityRef,
): { readonly name: string; readonly address: string }[] {
  const findValue = outsideValues(network, entityRef);
  return links.flatMap(({ name, kind, url }) => {
    const parsed = `${kind}s` === entityRef.kind ? parseLinkTemplate(url) : undefined;
    const address = parsed?.ok ? expandLinkTemplate(parsed.template, findValue) : undefined;
    return address === undefined ? [] : [{ name, address }];
  });
}

/** Returns undefined for a value that the entity does not have. */
type FindValue = (name: string) => string | undefined;

const NO_VALUES: FindValue = () => undefined;

/**
 * The values that the template of a link out of the map can use: fields and annotations of the entity and of the devices at
 * its ends. A value that is empty or unknown counts as missing.
 */
function outsideValues(network: PageNetwork, { kind, id }: EntityRef): FindValue {
  if (kind === "devices") return deviceValues(network.devices.get(id));
  if (kind === "links") return linkValues(network, network.links.get(id));
  return hostValues(network, network.hosts.get(id));
}

function deviceValues(device: Device | undefined): FindValue {
  if (!device) return NO_VALUES;
  const { id, type, role, mfr, hw, sw, serial, driver, chassisId } = device;
  return valuesOf({ id, type, role, mfr, hw, sw, serial, driver, chassisId }, device.annotations);
}

/** The values of each end have a prefix: `src.device`, `src.port`, and those of its device, as `src.managementAddress`. */
function linkValues(network: PageNetwork, link: Link | undefined): FindValue {
  if (!link) return NO_VALUES;
  const { id, type, state, src, dst } = link;
  const ends = {
    "src.device": src.device,
    "src.port": src.port,
    "dst.device": dst.device,
    "dst.port": dst.port,
  };
  const own = valuesOf({ id, type, state, ...ends }, link.annotations);
  const ofSrc = deviceValues(network.devices.get(src.device));
  const ofDst = deviceValues(network.devices.get(dst.device));
  return (name) => own(name) ?? below("src.", name, ofSrc) ?? below("dst.", name, ofDst);
}

/** `ip` is the first address, `device` and `port` are its location, and `device.` is the prefix of values of that device. */
function hostValues(network: PageNetwork, host: Host | undefined): FindValue {
  if (!host) return NO_VALUES;
  const { id, mac, vlan, ipAddresses, location } = host;
  const fields = { id, mac, vlan, ip: ipAddresses[0] ?? "", device: location.elementId, port: location.port };
  const own = valuesOf(fields, host.annotations);
  const ofDevice = deviceValues(network.devices.get(location.elementId));
  return (name) => own(name) ?? below("device.", name, ofDevice);
}

const ANNOTATIONS = "annotations.";

/** A field has priority over an annotation of the same name; `annotations.NAME` is always the annotation. */
function valuesOf(fields: Readonly<Record<string, string>>, annotations: Annotations = {}): FindValue {
  const find = (values: Readonly<Record<string, string>>, name: string) =>
    Object.hasOwn(values, name) ? known(values[name]) : undefined;
  return (name) =>
    find(fields, name) ??
    find(annotations, name.startsWith(ANNOTATIONS) ? name.slice(ANNOTATIONS.length) : name);
}

const below = (prefix: string, name: string, find: FindValue): string | undefined =>
  name.startsWith(prefix) ? find(name.slice(prefix.length)) : undefined;

/** Undefined for an empty value and for "unknown", which the service reports for a field that no source knows. */
const known = (value: string | undefined): string | undefined => {
  const text = value?.trim();
  return text === "" || text === "unknown" ? undefined : text;
};
