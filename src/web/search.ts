/**
 * The search over the page's copy of the network: name, id, MAC, IP address and CIDR block. Addresses are compared as
 * addresses (`10.0.0.0/24`, `2001:DB8::1`, `aabb.ccdd.eeff`), everything else as text. Exact matches come first, then
 * matches at the beginning of a field.
 */
import { canonicalMac, ipKey, ipKeyRange } from "../model/address.ts";
import type { Device, Host } from "../model/entity.ts";
import { deviceName, deviceNameById, hostName } from "./names.ts";
import type { Network } from "./network.ts";
import type { EntityRef } from "./state.ts";

export interface SearchHit {
  readonly ref: EntityRef;
  readonly title: string;
  /** Type, addresses and location. */
  readonly detail: string;
}

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  readonly total: number;
}

/** Lower is better; undefined is no match. */
type Score = number | undefined;

export function searchNetwork(network: Network, input: string, limit = 50): SearchResult {
  const query = input.trim();
  if (query === "") return { hits: [], total: 0 };
  const range = ipKeyRange(query);
  const mac = canonicalMac(query);
  const text = query.toLowerCase();
  const ranked: { readonly score: number; readonly hit: SearchHit }[] = [];
  const isInRange = (ip: string) => {
    if (range === undefined) return false;
    const key = ipKey(ip);
    return key >= range.from && key <= range.to;
  };
  for (const device of network.devices.values()) {
    const address = device.annotations.managementAddress ?? "";
    const addressMatches = range !== undefined && ipKeyRange(address) !== undefined && isInRange(address);
    const score = addressMatches ? 0 : deviceScore(device, text);
    if (score !== undefined) ranked.push({ score, hit: deviceHit(device) });
  }
  for (const host of network.hosts.values()) {
    const score = host.ipAddresses.some(isInRange) || host.mac === mac ? 0 : hostScore(host, text);
    if (score !== undefined) ranked.push({ score: score + 0.5, hit: hostHit(network, host) });
  }
  ranked.sort((p, q) => p.score - q.score || compareText(p.hit.title, q.hit.title));
  return { hits: ranked.slice(0, limit).map(({ hit }) => hit), total: ranked.length };
}

const compareText = (p: string, q: string): number => p.localeCompare(q, "en", { numeric: true });

function textScore(field: string | undefined, text: string): Score {
  const index = field?.toLowerCase().indexOf(text) ?? -1;
  if (index < 0) return undefined;
  return field?.length === text.length ? 0 : index === 0 ? 1 : 2;
}

function bestScore(scores: readonly Score[]): Score {
  const matches = scores.filter((score) => score !== undefined);
  return matches.length === 0 ? undefined : Math.min(...matches);
}

function deviceScore(device: Device, text: string): Score {
  const names = [device.id, deviceName(device), ...(device.aliases ?? [])];
  const main = bestScore(names.map((name) => textScore(name, text)));
  if (main !== undefined) return main;
  const rest = [
    device.annotations.managementAddress,
    device.serial,
    device.mfr,
    device.hw,
    device.annotations.city,
  ];
  return rest.some((field) => textScore(field, text) !== undefined) ? 3 : undefined;
}

function hostScore(host: Host, text: string): Score {
  return bestScore([
    textScore(hostName(host), text),
    textScore(host.id, text),
    ...host.ipAddresses.map((ip) => textScore(ip, text)),
  ]);
}

function deviceHit(device: Device): SearchHit {
  const place = device.annotations.city ?? device.annotations.site ?? "";
  const detail = [device.type.toLowerCase(), device.annotations.managementAddress, place];
  return {
    ref: { kind: "devices", id: device.id },
    title: deviceName(device),
    detail: detail.filter((word) => word).join(" · "),
  };
}

function hostHit(network: Network, host: Host): SearchHit {
  const { elementId, port } = host.location;
  const title = hostName(host);
  const addresses = [host.ipAddresses[0], host.mac].filter((text) => text !== undefined && text !== title);
  return {
    ref: { kind: "hosts", id: host.id },
    title,
    detail: `on ${deviceNameById(network, elementId)} port ${port} · ${addresses.join(" · ")}`,
  };
}
