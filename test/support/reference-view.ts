/**
 * A reference model of the view: after each commit it merges all claims of all sources from scratch. It is slow and
 * simple, and shares only `canonicalClaim` with the view.
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

/** The id of a device as it is shown; undefined when no source claims it. */
type Spell = (id: string) => string | undefined;
const keyOf = (kind: Kind, id: string): string => (kind === "hosts" ? id : id.toLowerCase());

/** The claims of each source and the last result: all that the next result depends on. */
export class ReferenceView {
  readonly claims = new Map<string, { [K in Kind]: Map<string, ClaimTypes[K]> }>();
  shown = new Map<string, Json>();
  revision = 0;

  applyChange(source: string, change: ClaimChange): void {
    const claims = this.claims.get(source) ?? {
      devices: new Map(),
      ports: new Map(),
      links: new Map(),
      hosts: new Map(),
    };
    this.claims.set(source, claims);
    if (change.op === "remove") claims[change.kind].delete(keyOf(change.kind, change.id));
    else {
      const result = canonicalClaim(change.kind, change.claim);
      if (!result.ok) throw new Error("the test generates invalid claims");
      (claims[change.kind] as Map<string, unknown>).set(keyOf(change.kind, result.id), result.claim);
    }
  }

  /** By key. */
  #claimsByEntity<K extends Kind>(kind: K): Map<string, SourcedClaims<K>> {
    const byEntity = new Map<string, SourcedClaims<K>>();
    for (const source of SOURCES) {
      for (const [id, claim] of this.claims.get(source)?.[kind] ?? []) {
        byEntity.set(id, [...(byEntity.get(id) ?? []), { source, claim: claim as ClaimTypes[K] }]);
      }
    }
    return byEntity;
  }

  /** `time` is that of the commit, if anything changes. */
  mergeAll(time: number): void {
    const bodies = new Map<string, Json>();
    const devices = this.#claimsByEntity("devices");
    // As the first source spells it.
    const spell: Spell = (id) => devices.get(id.toLowerCase())?.[0]?.claim.id;
    for (const [key, claims] of devices)
      bodies.set(`devices ${spell(key)}`, this.#deviceBody(spell(key) ?? "", claims, time));
    for (const claims of this.#claimsByEntity("ports").values()) {
      const body = portBody(claims, spell);
      if (body.element !== undefined) bodies.set(`ports ${body.element}/${body.port}`, body);
    }
    for (const claims of this.#claimsByEntity("links").values()) {
      const body = linkBody(claims, spell);
      if (body) bodies.set(`links ${body.id}`, body);
    }
    setLinkConflicts(bodies);
    const hosts = this.#claimsByEntity("hosts");
    for (const [id, claims] of hosts) {
      const body = hostBody(id, claims, spell);
      if (body) bodies.set(`hosts ${id}`, body);
    }
    setHostConflicts(bodies, hosts, spell);
    const next = new Map<string, Json>();
    const iso = new Date(time).toISOString();
    const shownBefore = new Map([...this.shown].map(([key, body]) => [key.toLowerCase(), body]));
    for (const [key, body] of bodies) {
      const kind = key.split(" ")[0] as Kind;
      const claims = this.#claimsByEntity(kind).get(keyOf(kind, key.slice(key.indexOf(" ") + 1))) ?? [];
      const sources = claims.map(({ source }) => source);
      const before = shownBefore.get(key.toLowerCase());
      const { firstSeen = iso, lastChanged, revision, ...rest } = before ?? {};
      const same = before && Bun.deepEquals(rest, { ...body, sources }, true);
      next.set(
        key,
        same ? before : { ...body, firstSeen, lastChanged: iso, sources, revision: this.revision + 1 },
      );
    }
    this.shown = next;
  }

  #deviceBody(id: string, sourced: SourcedClaims<"devices">, time: number): Json {
    const claims = sourced.map(({ claim }) => claim);
    const pick = (field: keyof DeviceClaim) => claims.map((c) => c[field]).find((v) => v !== undefined);
    const available = pick("available") ?? true;
    const key = `devices ${id}`.toLowerCase();
    const before = [...this.shown].find(([shown]) => shown.toLowerCase() === key)?.[1];
    const defaultLastUpdate = before?.available === available ? before?.lastUpdate : String(time);
    const lastUpdate = String(pick("lastUpdate") ?? defaultLastUpdate);
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
      ...withAliases(id, claims, new Set(this.#claimsByEntity("devices").keys())),
    };
  }
}

/** The spelling of the first source stands. */
/** An alias that is claimed as another device means that one. */
function withAliases(id: string, claims: readonly DeviceClaim[], devices: ReadonlySet<string>): Json {
  const aliases: string[] = [];
  for (const alias of claims.flatMap((claim) => claim.aliases ?? [])) {
    if (devices.has(keyOf("devices", alias))) continue;
    if (![id, ...aliases].some((known) => known.toLowerCase() === alias.toLowerCase())) aliases.push(alias);
  }
  return aliases.length > 0 ? { aliases: aliases.sort() } : {};
}

const annotationsOf = (claims: readonly { annotations?: Record<string, string> }[]) =>
  Object.fromEntries([...claims].reverse().flatMap((claim) => Object.entries(claim.annotations ?? {})));
const withAnnotations = (claims: readonly { annotations?: Record<string, string> }[]) => {
  const annotations = annotationsOf(claims);
  return Object.keys(annotations).length > 0 ? { annotations } : {};
};

function portBody(sourced: SourcedClaims<"ports">, spell: Spell): Json {
  const claims = sourced.map(({ claim }) => claim);
  const pick = (field: keyof PortClaim) => claims.map((c) => c[field]).find((v) => v !== undefined);
  return {
    element: spell(String(pick("element"))),
    port: pick("port"),
    isEnabled: pick("isEnabled") ?? true,
    type: pick("type") ?? "copper",
    portSpeed: pick("portSpeed") ?? 0,
    ...withAnnotations(claims),
  };
}

function linkBody(sourced: SourcedClaims<"links">, spell: Spell): Json | undefined {
  const claims = sourced.map(({ claim }) => claim);
  const pick = (field: keyof LinkClaim) => claims.map((c) => c[field]).find((v) => v !== undefined);
  const [first] = claims;
  const src = { port: first?.src.port, device: spell(first?.src.device ?? "") };
  const dst = { port: first?.dst.port, device: spell(first?.dst.device ?? "") };
  if (src.device === undefined || dst.device === undefined) return undefined;
  return {
    src,
    dst,
    type: pick("type") ?? "DIRECT",
    state: pick("state") ?? "ACTIVE",
    ...withAnnotations(claims),
    id: `${src.device}/${src.port}-${dst.device}/${dst.port}`,
    bidirectional: false,
    verified: claims.some((claim) => claim.verified !== false),
  };
}

function hostBody(id: string, sourced: SourcedClaims<"hosts">, spell: Spell): Json | undefined {
  const claims = sourced.map(({ claim }) => claim);
  const pick = (field: keyof HostClaim) => claims.map((c) => c[field]).find((v) => v !== undefined);
  const spelled = (locations: HostClaim["locations"]) => {
    const byPort = new Map<string, Json>();
    for (const { elementId, port } of locations) {
      const device = spell(elementId);
      if (device !== undefined) byPort.set(`${device}/${port}`, { elementId: device, port });
    }
    return [...byPort.values()];
  };
  const locations = spelled(claims.flatMap((c) => c.locations));
  if (locations.length === 0) return undefined;
  const auxLocations = spelled(claims.find((c) => c.auxLocations !== undefined)?.auxLocations ?? []);
  return {
    id,
    mac: pick("mac"),
    vlan: pick("vlan"),
    innerVlan: pick("innerVlan") ?? "None",
    outerTpid: pick("outerTpid") ?? "0x0000",
    configured: pick("configured") ?? false,
    suspended: pick("suspended") ?? false,
    // The addresses of the test sort as text.
    ipAddresses: [...new Set(claims.flatMap((c) => c.ipAddresses ?? []))].sort(),
    locations,
    ...(auxLocations.length > 0 && { auxLocations }),
    location: locations[0],
    ...withAnnotations(claims),
  };
}

function setConflict(body: Json, messages: readonly string[]): void {
  if (messages.length === 0) return;
  const annotations = (body.annotations ?? {}) as Record<string, string>;
  const text =
    messages.slice(0, 3).join("; ") + (messages.length > 3 ? `; and ${messages.length - 3} more` : "");
  body.annotations = {
    ...annotations,
    conflict: annotations.conflict ? `${annotations.conflict}; ${text}` : text,
  };
}

/** All bodies of a kind, in order of id. */
const sorted = (bodies: Map<string, Json>, kind: Kind): Json[] =>
  [...bodies.keys()]
    .filter((key) => key.startsWith(`${kind} `))
    .sort()
    .map((key) => bodies.get(key) ?? {});

function setLinkConflicts(bodies: Map<string, Json>): void {
  const links = sorted(bodies, "links");
  const at = (link: Json, end: string) =>
    Object.values(link[end] as { port: string; device: string })
      .reverse()
      .join("/");
  const occupiesPorts = (link: Json) => link.type === "DIRECT" && link.state === "ACTIVE";
  const conflicts = links.map((link) => {
    link.bidirectional = bodies.has(`links ${at(link, "dst")}-${at(link, "src")}`);
    const messages: string[] = [];
    for (const [end, opposite, preposition] of [["src", "dst", "to"], ["dst", "src", "from"]] as const) {
      const others = links.filter((other) => other !== link && occupiesPorts(other) && at(other, end) === at(link, end));
      if (!occupiesPorts(link)) continue;
      if (others.length > 3) messages.push(`port ${at(link, end)} has more than 3 other links`);
      else messages.push(...others.map((other) => `port ${at(link, end)} has another link ${preposition} ${at(other, opposite)}`));
    }
    return messages;
  }); // biome-ignore format: two rows
  for (const [i, link] of links.entries()) setConflict(link, conflicts[i] ?? []);
}

function setHostConflicts(
  bodies: Map<string, Json>,
  claims: Map<string, SourcedClaims<"hosts">>,
  spell: Spell,
): void {
  const hosts = sorted(bodies, "hosts") as { id: string; vlan: string; ipAddresses: string[] }[];
  const conflicts = hosts.map(({ id, vlan, ipAddresses }) => {
    const messages = ipAddresses.flatMap((ip) => {
      const others = hosts.filter(
        (other) => other.id !== id && other.vlan === vlan && other.ipAddresses.includes(ip),
      );
      if (others.length > 3) return [`${ip} is also claimed by more than 3 others`];
      return others.map((other) => `${ip} is also claimed by ${other.id}`);
    });
    const places = (claims.get(id) ?? []).map(({ source, claim }) => ({
      source,
      at: claim.locations.map(
        ({ elementId, port }) => `${spell(elementId) ?? elementId.toLowerCase()}/${port}`,
      ),
    }));
    const [first, ...rest] = places;
    if (rest.some(({ at }) => !at.some((port) => first?.at.includes(port)))) {
      messages.push(
        `seen ${places.map(({ source, at }) => `at ${at.join(" and ")} by ${source}`).join(", ")}`,
      );
    }
    return messages;
  });
  for (const [i, host] of hosts.entries()) setConflict(host, conflicts[i] ?? []);
}
