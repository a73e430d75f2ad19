/**
 * The view as a model without shortcuts: after each commit, all claims of all sources are merged anew from nothing.
 * Slow and plain on purpose; it shares no code with the view but the canonical form of claims.
 */
import {
  type ClaimChange,
  type ClaimTypes,
  canonicalClaim,
  type DeviceClaim,
  type HostClaim,
  type LinkClaim,
  type PortClaim,
} from "../../src/model/claim.ts";
import type { Kind } from "../../src/model/ids.ts";

export const SOURCES = ["first", "second", "third"];
export type Json = Record<string, unknown>;
type SourcedClaims<K extends Kind> = { source: string; claim: ClaimTypes[K] }[];

/** What each source claims, and what was shown last: enough to say what must be shown now. */
export class ReferenceView {
  readonly claims = new Map<string, { [K in Kind]: Map<string, ClaimTypes[K]> }>();
  shown = new Map<string, Json>();
  revision = 0;

  applyChange(source: string, change: ClaimChange): void {
    const mine = this.claims.get(source) ?? {
      devices: new Map(),
      ports: new Map(),
      links: new Map(),
      hosts: new Map(),
    };
    this.claims.set(source, mine);
    if (change.op === "remove") mine[change.kind].delete(change.id);
    else {
      const result = canonicalClaim(change.kind, change.claim);
      if (!result.ok) throw new Error("the test makes bad claims");
      (mine[change.kind] as Map<string, unknown>).set(result.id, result.claim);
    }
  }

  #claimsByEntity<K extends Kind>(kind: K): Map<string, SourcedClaims<K>> {
    const told = new Map<string, SourcedClaims<K>>();
    for (const source of SOURCES) {
      for (const [id, claim] of this.claims.get(source)?.[kind] ?? []) {
        told.set(id, [...(told.get(id) ?? []), { source, claim: claim as ClaimTypes[K] }]);
      }
    }
    return told;
  }

  /** `revision` and `time` are the ledger's, if anything changes now. */
  mergeAll(time: number): void {
    const bodies = new Map<string, Json>();
    const devices = this.#claimsByEntity("devices");
    const there = (id: string) => devices.has(id);
    for (const [id, told] of devices) bodies.set(`devices ${id}`, this.#deviceBody(id, told, time));
    for (const [id, told] of this.#claimsByEntity("ports")) {
      if (there(told[0]?.claim.element ?? "")) bodies.set(`ports ${id}`, portBody(told));
    }
    const links = this.#claimsByEntity("links");
    for (const [id, told] of links) {
      const { src, dst } = told[0]?.claim ?? { src: { device: "" }, dst: { device: "" } };
      if (there(src.device) && there(dst.device)) bodies.set(`links ${id}`, linkBody(id, told));
    }
    flagLinks(bodies);
    const hosts = this.#claimsByEntity("hosts");
    for (const [id, told] of hosts) {
      const body = hostBody(id, told, there);
      if (body) bodies.set(`hosts ${id}`, body);
    }
    flagHosts(bodies, hosts);
    const next = new Map<string, Json>();
    const iso = new Date(time).toISOString();
    for (const [key, body] of bodies) {
      const sources = [
        ...(this.#claimsByEntity(key.split(" ")[0] as Kind).get(key.slice(key.indexOf(" ") + 1)) ?? []),
      ].map((one) => one.source);
      const before = this.shown.get(key);
      const { firstSeen = iso, lastChanged, revision, ...rest } = before ?? {};
      const same = before && Bun.deepEquals(rest, { ...body, sources }, true);
      next.set(
        key,
        same ? before : { ...body, firstSeen, lastChanged: iso, sources, revision: this.revision + 1 },
      );
    }
    this.shown = next;
  }

  #deviceBody(id: string, told: SourcedClaims<"devices">, time: number): Json {
    const claims = told.map((one) => one.claim);
    const pick = (field: keyof DeviceClaim) => claims.map((c) => c[field]).find((v) => v !== undefined);
    const available = pick("available") ?? true;
    const before = this.shown.get(`devices ${id}`);
    const kept = before?.available === available ? before?.lastUpdate : String(time);
    const lastUpdate = String(pick("lastUpdate") ?? kept);
    const since = new Date(Number(lastUpdate)).toISOString().replace(/\.\d+/, "");
    return {
      id,
      type: pick("type") ?? "SWITCH",
      available,
      role: pick("role") ?? "NONE",
      mfr: pick("mfr") ?? "unknown",
      hw: pick("hw") ?? "unknown",
      sw: pick("sw") ?? "unknown",
      serial: pick("serial") ?? "unknown",
      driver: pick("driver") ?? "default",
      chassisId: pick("chassisId") ?? "0",
      lastUpdate,
      humanReadableLastUpdate: `${available ? "" : "dis"}connected since ${since}`,
      annotations: { managementAddress: "", channelId: "", protocol: "", ...annotationsOf(claims) },
    };
  }
}

const annotationsOf = (claims: readonly { annotations?: Record<string, string> }[]) =>
  Object.fromEntries([...claims].reverse().flatMap((claim) => Object.entries(claim.annotations ?? {})));
const withAnnotations = (claims: readonly { annotations?: Record<string, string> }[]) => {
  const annotations = annotationsOf(claims);
  return Object.keys(annotations).length > 0 ? { annotations } : {};
};

function portBody(told: SourcedClaims<"ports">): Json {
  const claims = told.map((one) => one.claim);
  const pick = (field: keyof PortClaim) => claims.map((c) => c[field]).find((v) => v !== undefined);
  return {
    element: pick("element"),
    port: pick("port"),
    isEnabled: pick("isEnabled") ?? true,
    type: pick("type") ?? "copper",
    portSpeed: pick("portSpeed") ?? 0,
    annotations: annotationsOf(claims),
  };
}

function linkBody(id: string, told: SourcedClaims<"links">): Json {
  const claims = told.map((one) => one.claim);
  const pick = (field: keyof LinkClaim) => claims.map((c) => c[field]).find((v) => v !== undefined);
  return {
    src: pick("src"),
    dst: pick("dst"),
    type: pick("type") ?? "DIRECT",
    state: pick("state") ?? "ACTIVE",
    ...withAnnotations(claims),
    id,
    bidirectional: false,
    verified: claims.some((claim) => claim.verified !== false),
  };
}

function hostBody(id: string, told: SourcedClaims<"hosts">, there: (device: string) => boolean): Json | undefined {
  const claims = told.map((one) => one.claim);
  const pick = (field: keyof HostClaim) => claims.map((c) => c[field]).find((v) => v !== undefined);
  const places = new Map(
    claims.flatMap((c) => c.locations).map((at) => [`${at.elementId}/${at.port}`, at] as const),
  );
  const locations = [...places.values()].filter((at) => there(at.elementId));
  if (locations.length === 0) return undefined;
  return {
    id,
    mac: pick("mac"),
    vlan: pick("vlan"),
    innerVlan: pick("innerVlan") ?? "None",
    outerTpid: pick("outerTpid") ?? "0x0000",
    configured: pick("configured") ?? false,
    suspended: pick("suspended") ?? false,
    // The test's addresses sort as their text does.
    ipAddresses: [...new Set(claims.flatMap((c) => c.ipAddresses ?? []))].sort(),
    locations,
    location: locations[0],
    ...withAnnotations(claims),
  };
}

function flag(body: Json, found: readonly string[]): void {
  if (found.length === 0) return;
  const annotations = (body.annotations ?? {}) as Record<string, string>;
  const words = found.slice(0, 3).join("; ") + (found.length > 3 ? `; and ${found.length - 3} more` : "");
  body.annotations = {
    ...annotations,
    conflict: annotations.conflict ? `${annotations.conflict}; ${words}` : words,
  };
}

/** All bodies of a kind, in order of id. */
const sorted = (bodies: Map<string, Json>, kind: Kind): Json[] =>
  [...bodies.keys()]
    .filter((key) => key.startsWith(`${kind} `))
    .sort()
    .map((key) => bodies.get(key) ?? {});

function flagLinks(bodies: Map<string, Json>): void {
  const links = sorted(bodies, "links");
  const at = (link: Json, end: string) =>
    Object.values(link[end] as { port: string; device: string })
      .reverse()
      .join("/");
  const isCable = (link: Json) => link.type === "DIRECT" && link.state === "ACTIVE";
  const flags = links.map((link) => {
    link.bidirectional = bodies.has(`links ${at(link, "dst")}-${at(link, "src")}`);
    const found: string[] = [];
    for (const [end, other, word] of [["src", "dst", "to"], ["dst", "src", "from"]] as const) {
      const rivals = links.filter((one) => one !== link && isCable(one) && at(one, end) === at(link, end));
      if (!isCable(link)) continue;
      if (rivals.length > 3) found.push(`port ${at(link, end)} has more than 3 other links`);
      else found.push(...rivals.map((one) => `port ${at(link, end)} has another link ${word} ${at(one, other)}`));
    }
    return found;
  }); // biome-ignore format: two rows
  for (const [i, link] of links.entries()) flag(link, flags[i] ?? []);
}

function flagHosts(bodies: Map<string, Json>, told: Map<string, SourcedClaims<"hosts">>): void {
  const hosts = sorted(bodies, "hosts") as { id: string; vlan: string; ipAddresses: string[] }[];
  const flags = hosts.map(({ id, vlan, ipAddresses }) => {
    const found = ipAddresses.flatMap((ip) => {
      const rivals = hosts.filter(
        (one) => one.id !== id && one.vlan === vlan && one.ipAddresses.includes(ip),
      );
      if (rivals.length > 3) return [`${ip} is also claimed by more than 3 others`];
      return rivals.map((one) => `${ip} is also claimed by ${one.id}`);
    });
    const places = (told.get(id) ?? []).map(({ source, claim }) => ({
      source,
      at: claim.locations.map((one) => `${one.elementId}/${one.port}`),
    }));
    const [first, ...others] = places;
    if (others.some(({ at }) => !at.some((one) => first?.at.includes(one)))) {
      found.push(`seen ${places.map(({ source, at }) => `at ${at.join(" and ")} by ${source}`).join(", ")}`);
    }
    return found;
  });
  for (const [i, host] of hosts.entries()) flag(host, flags[i] ?? []);
}
