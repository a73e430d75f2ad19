/**
 * Hosts: MAC addresses that switches have learnt on edge ports, with the IP addresses from all ARP and ND tables. A port
 * with a neighbour that forwards for others is not an edge port, nor are its aggregate and the members of its aggregate. A
 * MAC address of a device is not a host. If several switches have learnt a MAC address on an edge port, the port with the
 * fewest addresses is used, because the other ports lead to the host through an unknown switch.
 *
 * A router has no forwarding table. The addresses that it has resolved on an Ethernet port are hosts there, unless a
 * switch has learnt them.
 */
import { Multimap } from "../../../lib/multimap.ts";
import type { HostClaim } from "../../../model/claim.ts";
import { type AddressEntry, type ForwardingEntry, forwardsForOthers } from "../tables/agent-report.ts";
import { IFTYPE_ETHERNET } from "../tables/interfaces.ts";
import type { PolledDevice } from "./identify-devices.ts";
import type { Observation } from "./join-links.ts";

const MAX_HOSTS = 1_000_000;
const MAX_ADDRESSES_PER_HOST = 64;

interface Place {
  readonly device: PolledDevice;
  readonly entry: ForwardingEntry;
  readonly isRouter: boolean;
  /** Number of MAC addresses on the port. */
  readonly count: number;
}

export function joinHosts(
  devices: readonly PolledDevice[],
  observations: readonly Observation[],
): HostClaim[] {
  const deviceMacs = macsOfDevices(devices, observations);
  const places = new Map<string, Place>();
  const macsWithVlan = new Set<string>();
  const observationsOf = Map.groupBy(observations, ({ from }) => from);
  for (const device of devices) {
    const uplinks = uplinkPorts(device, observationsOf.get(device) ?? []);
    const counts = new Map<number, number>();
    const isRouter = device.report.forwarding.length === 0;
    const forwarding = isRouter ? resolvedOnPorts(device) : device.report.forwarding;
    for (const { port } of forwarding) counts.set(port, (counts.get(port) ?? 0) + 1);
    for (const entry of forwarding) {
      if (uplinks.has(entry.port) || deviceMacs.has(entry.mac)) continue;
      const key = `${entry.mac} ${entry.vlan ?? ""}`;
      const place = { device, entry, isRouter, count: counts.get(entry.port) ?? 0 };
      const known = places.get(key);
      if (!known && places.size >= MAX_HOSTS) continue;
      if (!known || comparePlaces(place, known) < 0) places.set(key, place);
      if (entry.vlan !== undefined) macsWithVlan.add(entry.mac);
    }
  }
  const ips = ipsByMac(devices.flatMap(({ report }) => report.addressTable));
  return hostClaims(places, macsWithVlan, ips);
}

function resolvedOnPorts({ report }: PolledDevice): ForwardingEntry[] {
  const ports = new Set(
    report.interfaces.filter(({ type }) => IFTYPE_ETHERNET.has(type)).map(({ index }) => index),
  );
  return report.addressTable
    .filter(({ port }) => ports.has(port))
    .map(({ mac, port }) => ({ mac, port, isUntagged: true }));
}

/** Returns one host per MAC and shown VLAN. Two VLANs have the same shown VLAN if both are untagged at their ports. */
function hostClaims(
  places: ReadonlyMap<string, Place>,
  macsWithVlan: ReadonlySet<string>,
  ips: ReadonlyMap<string, readonly string[]>,
): HostClaim[] {
  const shown = new Map<string, Place>();
  for (const place of places.values()) {
    const { mac, vlan } = place.entry;
    // A switch without VLANs in its table has learnt the same host that another switch has learnt with its VLAN.
    if (vlan === undefined && macsWithVlan.has(mac)) continue;
    const key = `${mac} ${shownVlan(place.entry)}`;
    const known = shown.get(key);
    if (!known || comparePlaces(place, known) < 0) shown.set(key, place);
  }
  return [...shown.values()].map(({ device, entry }): HostClaim => {
    const ipAddresses = ips.get(entry.mac) ?? [];
    return {
      mac: entry.mac,
      vlan: shownVlan(entry),
      ...(ipAddresses.length > 0 && { ipAddresses: [...ipAddresses] }),
      locations: [{ elementId: device.id, port: String(entry.port) }],
    };
  });
}

const shownVlan = ({ vlan, isUntagged }: ForwardingEntry): string =>
  vlan === undefined || isUntagged ? "None" : String(vlan);

/** Prefers devices that answer, then switches, then ports with few addresses, then low ids, regardless of the agents' order. */
function comparePlaces(a: Place, b: Place): number {
  const isSilent = ({ device }: Place): number => Number(device.unansweredSince !== undefined);
  return (
    isSilent(a) - isSilent(b) ||
    Number(a.isRouter) - Number(b.isRouter) ||
    a.count - b.count ||
    (a.device.id < b.device.id ? -1 : a.device.id > b.device.id ? 1 : a.entry.port - b.entry.port)
  );
}

function uplinkPorts(device: PolledDevice, observations: readonly Observation[]): Set<number> {
  const uplinks = new Set<number>(device.report.unidentifiedUplinks);
  for (const { to, local, neighbour } of observations)
    if (to !== undefined || forwardsForOthers(neighbour)) uplinks.add(local.index);
  const { interfaces } = device.report;
  for (const { index, aggregate } of interfaces)
    if (aggregate !== undefined && uplinks.has(index)) uplinks.add(aggregate);
  for (const { index, aggregate } of interfaces)
    if (aggregate !== undefined && uplinks.has(aggregate)) uplinks.add(index);
  return uplinks;
}

function macsOfDevices(devices: readonly PolledDevice[], observations: readonly Observation[]): Set<string> {
  return new Set([
    ...devices.flatMap(({ report }) => report.identity.macs),
    ...observations.flatMap(({ neighbour }) => neighbour.macs),
  ]);
}

function ipsByMac(entries: readonly AddressEntry[]): Map<string, readonly string[]> {
  const byMac = new Multimap<string, string>();
  for (const { mac, ip } of entries) byMac.add(mac, ip);
  return new Map([...byMac].map(([mac, ips]) => [mac, [...ips].sort().slice(0, MAX_ADDRESSES_PER_HOST)]));
}
