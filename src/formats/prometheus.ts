/**
 * Prometheus HTTP service discovery: a JSON array of `{"targets":[host],"labels":{…}}`, one group a device or host
 * (https://prometheus.io/docs/prometheus/latest/http_sd/).
 *
 * - One target for each thing, never one per address: two addresses of one host would be scraped, and alerted on,
 *   twice. All the addresses of a host are in a label.
 * - The target has no port: what listens there (an exporter, SNMP, ICMP) is the job's to say, by relabelling. An
 *   IPv6 address stands in brackets so that `$1:9100` makes sense; the `…_address` label has it bare.
 * - A thing without a usable address has no group. Down is not a reason to leave a thing out: that is when its
 *   alert must fire.
 */
import { canonicalIp } from "../model/address.ts";
import type { Device, Host } from "../model/entity.ts";
import { inChunks, jsonItems } from "./chunks.ts";

type Labels = Record<string, string>;

export function renderPrometheusDevices(devices: Iterable<Device>): Iterable<string> {
  return inChunks(jsonItems("[", groups(devices, deviceAddress, deviceLabels), "\n]\n"));
}

export function renderPrometheusHosts(hosts: Iterable<Host>): Iterable<string> {
  return inChunks(jsonItems("[", groups(hosts, hostAddress, hostLabels), "\n]\n"));
}

function* groups<E>(
  entities: Iterable<E>,
  addressOf: (entity: E) => string | undefined,
  labelsOf: (entity: E, address: string) => Labels,
): Generator<string> {
  for (const entity of entities) {
    const address = addressOf(entity);
    if (address === undefined) continue;
    const target = address.includes(":") ? `[${address}]` : address;
    yield JSON.stringify({ targets: [target], labels: labelsOf(entity, address) });
  }
}

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/i;

/** The management address without a port. What is neither an address nor a host name is no target: it is hostile. */
function deviceAddress(device: Device): string | undefined {
  const given = device.annotations.managementAddress?.trim() ?? "";
  const whole = canonicalIp(given);
  if (whole !== undefined) return whole;
  const bare = /^\[(.*)\](?::\d{1,5})?$/.exec(given)?.[1] ?? given.replace(/:\d{1,5}$/, "");
  return canonicalIp(bare) ?? (HOST_NAME.test(bare) ? bare : undefined);
}

/** The first that can be reached from elsewhere: IPv4 comes first in the list, link-local IPv6 needs a zone. */
function hostAddress(host: Host): string | undefined {
  return host.ipAddresses.find((ip) => !/^fe[89ab][0-9a-f]:/i.test(ip) && !ip.startsWith("169.254."));
}

function deviceLabels(device: Device, address: string): Labels {
  return labelled("device", device.annotations, {
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
    sources: listed(device.sources),
  });
}

function hostLabels(host: Host, address: string): Labels {
  return labelled("host", host.annotations ?? {}, {
    id: host.id,
    mac: host.mac,
    vlan: host.vlan,
    inner_vlan: host.innerVlan,
    configured: String(host.configured),
    suspended: String(host.suspended),
    address,
    addresses: listed(host.ipAddresses),
    device: host.location.elementId,
    port: host.location.port,
    sources: listed(host.sources),
  });
}

/** Commas at both ends, as Prometheus' own discoveries do, so that a relabelling can match `,name,`. */
const listed = (values: readonly string[]): string => `,${values.join(",")},`;

function labelled(kind: string, annotations: Record<string, string>, facts: Labels): Labels {
  const labels: Labels = {};
  const prefix = `__meta_gazetteer_${kind}_`;
  for (const [name, value] of Object.entries(facts)) labels[prefix + name] = value.toWellFormed();
  for (const [key, value] of Object.entries(annotations)) {
    const name = `${prefix}annotation_${key.replace(/[^a-zA-Z0-9_]/g, "_")}`;
    // Two keys may become one name; the first in order stays, so that the answer is always the same.
    labels[name] ??= value.toWellFormed();
  }
  return labels;
}
