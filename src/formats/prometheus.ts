/**
 * Prometheus HTTP service discovery: a JSON array with a group `{"targets":[host],"labels":{…}}` for each device or host
 * (https://prometheus.io/docs/prometheus/latest/http_sd/).
 *
 * - Each entity has one target, not one for each address: otherwise a host with two addresses would be scraped, and
 *   alerted on, twice. A label has all the addresses of a host.
 * - The target has no port: the scrape job adds the port of what it queries (an exporter, SNMP, ICMP) by relabelling.
 *   An IPv6 address is in brackets so that `$1:9100` is valid; the `…_address` label has it without brackets.
 * - An entity without a usable address has no group. Unavailable entities are included, because their alerts must fire.
 */
import { mapPaced, type Paced } from "../lib/steps.ts";
import { parseHostAddress } from "../model/address.ts";
import type { Device, Host } from "../model/entity.ts";
import { renderJsonItems } from "./chunks.ts";

type Labels = Record<string, string>;

export const renderPrometheusDevices = (devices: Paced<Device>): Paced<string> =>
  renderGroups(devices, deviceAddress, deviceLabels);

export const renderPrometheusHosts = (hosts: Paced<Host>): Paced<string> =>
  renderGroups(hosts, hostAddress, hostLabels);

function renderGroups<E>(
  entities: Paced<E>,
  addressOf: (entity: E) => string | undefined,
  labelsOf: (entity: E, address: string) => Labels,
): Paced<string> {
  const groups = mapPaced(entities, (entity) => {
    const address = addressOf(entity);
    if (address === undefined) return undefined;
    const target = address.includes(":") ? `[${address}]` : address;
    return JSON.stringify({ targets: [target], labels: labelsOf(entity, address) });
  });
  return renderJsonItems("[", groups, "\n]\n");
}

const deviceAddress = (device: Device): string | undefined =>
  parseHostAddress(device.annotations.managementAddress ?? "");

/** The first address that is not link-local. IPv4 addresses come first in the list. */
function hostAddress(host: Host): string | undefined {
  return host.ipAddresses.find((ip) => !/^fe[89ab][0-9a-f]:/i.test(ip) && !ip.startsWith("169.254."));
}

function deviceLabels(device: Device, address: string): Labels {
  return createLabels("device", device.annotations, {
    id: device.id,
    type: device.type,
    available: String(device.available),
    role: device.role,
    mfr: device.mfr,
    hw: device.hw,
    sw: device.sw,
    serial: device.serial,
    driver: device.driver,
    chassis_id: device.chassisId,
    address,
    sources: joinList(device.sources),
  });
}

function hostLabels(host: Host, address: string): Labels {
  return createLabels("host", host.annotations ?? {}, {
    id: host.id,
    mac: host.mac,
    vlan: host.vlan,
    inner_vlan: host.innerVlan,
    configured: String(host.configured),
    suspended: String(host.suspended),
    address,
    addresses: joinList(host.ipAddresses),
    device: host.location.elementId,
    port: host.location.port,
    sources: joinList(host.sources),
  });
}

/** Joins values with commas, also at both ends as Prometheus' own discoveries do, so that relabelling can match `,name,`. */
const joinList = (values: readonly string[]): string => `,${values.join(",")},`;

function createLabels(kind: string, annotations: Record<string, string>, fields: Labels): Labels {
  const labels: Labels = {};
  const prefix = `__meta_gazetteer_${kind}_`;
  for (const [name, value] of Object.entries(fields)) labels[prefix + name] = value.toWellFormed();
  for (const [key, value] of Object.entries(annotations)) {
    const name = `${prefix}annotation_${key.replace(/[^a-zA-Z0-9_]/g, "_")}`;
    // Two keys may become one name. The first key is used, so that the result does not vary.
    labels[name] ??= value.toWellFormed();
  }
  return labels;
}
