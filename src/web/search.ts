/**
 * The one search box: id, name, MAC, IP and CIDR, over everything the page has. An address is compared as an address
 * (`10.0.0.0/24`, `2001:DB8::1`, `aabb.ccdd.eeff`), everything else as text; what starts with the words goes first.
 */
import { canonicalMac, ipKey, ipKeyRange } from "../model/address.ts";
import type { Device, Host } from "../model/entity.ts";
import { deviceName, hostName } from "./names.ts";
import type { Network } from "./network.ts";
import type { EntityRef } from "./state.ts";

export interface SearchHit {
  readonly ref: EntityRef;
  readonly title: string;
  /** Where it is and why it was found. */
  readonly detail: string;
}

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  readonly total: number;
}

type Score = number | undefined;

export function searchNetwork(network: Network, words: string, most = 50): SearchResult {
  const query = words.trim();
  if (query === "") return { hits: [], total: 0 };
  const range = ipKeyRange(query);
  const mac = canonicalMac(query);
  const text = query.toLowerCase();
  const ranked: { readonly score: number; readonly hit: SearchHit }[] = [];
  const within = (ip: string) => {
    const key = ipKey(ip);
    return range !== undefined && key >= range.from && key <= range.to;
  };
  for (const device of network.devices.values()) {
    const address = device.annotations.managementAddress ?? "";
    const byAddress = range !== undefined && ipKeyRange(address) !== undefined && within(address);
    const score = byAddress ? 0 : deviceScore(device, text);
    if (score !== undefined) ranked.push({ score, hit: deviceHit(device) });
  }
  for (const host of network.hosts.values()) {
    const score = host.ipAddresses.some(within) || host.mac === mac ? 0 : hostScore(host, text);
    if (score !== undefined) ranked.push({ score: score + 0.5, hit: hostHit(network, host) });
  }
  ranked.sort((p, q) => p.score - q.score || compareText(p.hit.title, q.hit.title));
  return { hits: ranked.slice(0, most).map(({ hit }) => hit), total: ranked.length };
}

const compareText = (p: string, q: string): number => p.localeCompare(q, "en", { numeric: true });

function textScore(field: string | undefined, text: string): Score {
  const at = field?.toLowerCase().indexOf(text) ?? -1;
  if (at < 0) return undefined;
  return field?.length === text.length ? 0 : at === 0 ? 1 : 2;
}

function best(scores: readonly Score[]): Score {
  const known = scores.filter((score) => score !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function deviceScore(device: Device, text: string): Score {
  const main = best([textScore(device.id, text), textScore(deviceName(device), text)]);
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
  return best([
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
  const device = network.devices.get(elementId);
  const where = `${device ? deviceName(device) : elementId} port ${port}`;
  const facts = [host.ipAddresses[0], host.mac].filter(
    (fact) => fact !== undefined && fact !== hostName(host),
  );
  return {
    ref: { kind: "hosts", id: host.id },
    title: hostName(host),
    detail: `on ${where} · ${facts.join(" · ")}`,
  };
}
