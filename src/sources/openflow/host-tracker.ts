/**
 * Hosts, learned from what they announce on edge ports, and lost when they no longer answer.
 *
 * - A host that appears at a second port, or an address at a second host, is not believed at once: the first is
 *   asked. Silence means it moved; an answer means a conflict, kept with both and flagged until one falls silent.
 * - Half-way to its expiry a silent host is asked, three times in all, at every address it has.
 * - A port that goes down takes its hosts with it at once; a switch that is lost takes its hosts after the time its
 *   links take. They are remembered for a while and asked when the port settles again, as a host that nobody talks
 *   to would otherwise stay unseen.
 */
import ipaddr from "ipaddr.js";
import type { ClaimBook } from "./claim-buffer.ts";
import { type Announcement, writeArpProbe, writeNdProbe } from "./codec/announcement.ts";
import { isStationIp, isStationMac, type Tags } from "./codec/ethernet.ts";
import { macBytes } from "./codec/wire.ts";
import { Challenges } from "./duplicate-detection.ts";
import { OUR_MAC } from "./flows.ts";
import { Host, heardAgain, heardFirst, type Place } from "./learned-host.ts";
import { type End, endKey } from "./link-table.ts";
import type { Settings } from "./options.ts";

const MAX_ADDRESSES = 64;
const MAX_REMEMBERED = 10_000;
const ASKS = 3;
/** While two claim one thing, each is asked this often, and gives it up after that long a silence. */
const CONFLICT_ASK_MS = 5000;
const CONFLICT_SILENCE_MS = 16_000;

export interface HostSurroundings {
  /** The port is up on a connected switch and leads to no other switch: whoever is there can answer. */
  isEdge(end: End): boolean;
  send(end: End, frame: Uint8Array): void;
  count(what: "hosts_refused_total" | "host_conflicts_total" | "host_moves_total"): void;
}

export class Hosts {
  readonly #book: ClaimBook;
  readonly #around: HostSurroundings;
  readonly #settings: Settings;
  readonly #hosts = new Map<string, Host>();
  readonly #byPort = new Map<string, Set<Host>>();
  /** Who uses an address: one host, or several while they contest it. */
  readonly #owners = new Map<string, Set<Host>>();
  readonly #challenges = new Challenges();
  readonly #remembered = new Map<string, { readonly host: Host; readonly end: End }>();

  constructor(book: ClaimBook, around: HostSurroundings, settings: Settings) {
    this.#book = book;
    this.#around = around;
    this.#settings = settings;
  }

  get size(): number {
    return this.#hosts.size;
  }

  heard(end: End, tags: Tags, said: Announcement, now: number): void {
    if (said.mac === OUR_MAC || !isStationMac(said.mac)) return;
    if (said.lease) this.#leased(said.lease, tags, now);
    const fresh = new Host(said.mac, tags);
    const host = this.#hosts.get(fresh.id) ?? fresh;
    if (host === fresh && !this.#admit(host, end)) return;
    const place = host.placeAt(end);
    if (place) heardAgain(place, now);
    else if (host.places.some((old) => this.#around.isEdge(old.end)) && host.addresses.size > 0) {
      this.#contestPlace(host, end, now);
      return; // nothing else is learned from a place that is not believed yet
    } else this.#move(host, end, now);
    if (said.dhcpAsk !== undefined) host.dhcpAsk = said.dhcpAsk;
    if (said.ip !== undefined && isStationIp(said.ip)) this.#uses(host, said.ip, now);
  }

  /** A port became an edge: ask who was last known there and has not been heard since it came up. */
  settled(end: End, since: number, now: number): void {
    const key = endKey(end);
    for (const host of this.#byPort.get(key) ?? []) {
      const place = host.placeAt(end);
      if (place && place.heardAt < since) this.#ask(host, place, now);
    }
    for (const [id, { host, end: last }] of this.#remembered) {
      if (endKey(last) !== key) continue;
      this.#remembered.delete(id);
      this.#ask(host, { end, ...heardFirst(0) }, now);
    }
  }

  /** Nobody is at this port any more. `remember`: they may be found there again. */
  leave(end: End, remember: boolean): void {
    for (const host of [...(this.#byPort.get(endKey(end)) ?? [])]) this.#leavePlace(host, end, remember);
  }

  /** A host that was claimed in an earlier life. False when there is no room for it. */
  recall(host: Host): boolean {
    if (this.#hosts.has(host.id) || this.#hosts.size >= this.#settings.maxHosts) return false;
    this.#hosts.set(host.id, host);
    for (const { end } of host.places) this.#index(host, end);
    for (const ip of host.addresses.keys()) this.#own(host, ip);
    return true;
  }

  tick(now: number): void {
    this.#challenges.tick(now);
  }

  /** Asks and expires; a pass over all hosts, so not for every tick. */
  sweep(now: number): void {
    for (const host of this.#hosts.values()) {
      this.#sweepAddresses(host, now);
      this.#sweepPlaces(host, now);
    }
  }

  #admit(host: Host, end: End): boolean {
    const there = this.#byPort.get(endKey(end))?.size ?? 0;
    if (this.#hosts.size < this.#settings.maxHosts && there < this.#settings.maxHostsPerPort) {
      this.#hosts.set(host.id, host);
      this.#remembered.delete(host.id);
      return true;
    }
    this.#around.count("hosts_refused_total");
    return false;
  }

  #contestPlace(host: Host, end: End, now: number): void {
    const timesAt = ({ places }: Host) => places.reduce((sum, place) => sum + place.times, 0);
    const before = timesAt(host);
    const opened = this.#challenges.open(`${host.id} ${endKey(end)}`, {
      openedAt: now,
      answered: () => timesAt(host) > before,
      conflict: () => {
        this.#around.count("host_conflicts_total");
        this.#occupy(host, end, now);
        this.#claim(host);
      },
      moved: () => {
        if (this.#hosts.has(host.id) && this.#around.isEdge(end)) this.#move(host, end, now);
      },
    });
    if (opened) for (const place of host.places) this.#ask(host, place, now);
  }

  #move(host: Host, end: End, now: number): void {
    if (host.places.length > 0) this.#around.count("host_moves_total");
    for (const place of host.places) this.#unindex(host, place.end);
    host.places = [];
    this.#occupy(host, end, now);
    this.#claim(host);
  }

  #occupy(host: Host, end: End, now: number): void {
    if (host.placeAt(end) || !this.#hosts.has(host.id)) return;
    host.places.unshift({ end, ...heardFirst(now) });
    this.#index(host, end);
  }

  #leavePlace(host: Host, end: End, remember: boolean): void {
    host.places = host.places.filter((place) => endKey(place.end) !== endKey(end));
    this.#unindex(host, end);
    if (host.places.length > 0) {
      this.#claim(host);
      return;
    }
    this.#remove(host);
    if (!remember || this.#remembered.size >= MAX_REMEMBERED) return;
    this.#remembered.set(host.id, { host, end });
  }

  #remove(host: Host): void {
    this.#hosts.delete(host.id);
    for (const place of host.places) this.#unindex(host, place.end);
    for (const ip of host.addresses.keys()) this.#disown(host, ip);
    this.#book.remove("hosts", host.id);
  }

  #leased(lease: NonNullable<Announcement["lease"]>, tags: Tags, now: number): void {
    const host = this.#hosts.get(new Host(lease.mac, tags).id);
    if (!host || host.dhcpAsk !== lease.transaction || !isStationIp(lease.ip)) return;
    host.dhcpAsk = undefined;
    this.#uses(host, lease.ip, now);
  }

  #uses(host: Host, ip: string, now: number): void {
    const known = host.addresses.get(ip);
    if (known) {
      heardAgain(known, now);
      return;
    }
    if (host.addresses.size >= MAX_ADDRESSES) {
      this.#around.count("hosts_refused_total");
      return;
    }
    const rivals = [...this.#ownersOf(host, ip)].filter((other) => other !== host);
    const take = () => {
      if (!this.#hosts.has(host.id)) return;
      host.addresses.set(ip, heardFirst(now));
      this.#own(host, ip);
      this.#claim(host);
    };
    const live = rivals.filter((other) => other.places.some((place) => this.#around.isEdge(place.end)));
    if (live.length === 0) {
      for (const other of rivals) this.#giveUp(other, ip);
      take();
      return;
    }
    const timesOf = () => live.reduce((sum, other) => sum + (other.addresses.get(ip)?.times ?? 0), 0);
    const before = timesOf();
    const opened = this.#challenges.open(`${host.id} ${ip}`, {
      openedAt: now,
      answered: () => timesOf() > before,
      conflict: () => {
        this.#around.count("host_conflicts_total");
        take();
        for (const other of live) if (this.#hosts.has(other.id)) this.#claim(other);
      },
      moved: () => {
        for (const other of live) this.#giveUp(other, ip);
        take();
      },
    });
    if (opened) for (const other of live) for (const place of other.places) this.#askFor(other, place, ip);
  }

  #giveUp(host: Host, ip: string): void {
    if (!host.addresses.delete(ip)) return;
    const others = this.#ownersOf(host, ip);
    this.#disown(host, ip);
    this.#claim(host);
    for (const other of others) if (other !== host) this.#claim(other);
  }

  #sweepAddresses(host: Host, now: number): void {
    const { hostTimeoutMs } = this.#settings;
    for (const [ip, heard] of host.addresses) {
      const silentMs = now - heard.heardAt;
      const contested = this.#ownersOf(host, ip).size > 1;
      if (silentMs >= (contested ? CONFLICT_SILENCE_MS : hostTimeoutMs)) {
        this.#giveUp(host, ip);
      } else if (due(silentMs, now - heard.askedAt, contested, hostTimeoutMs)) {
        heard.askedAt = now;
        for (const place of host.places) this.#askFor(host, place, ip);
      }
    }
  }

  #sweepPlaces(host: Host, now: number): void {
    const contested = host.places.length > 1;
    const { hostTimeoutMs } = this.#settings;
    for (const place of host.places) {
      const silentMs = now - place.heardAt;
      if (silentMs >= (contested ? CONFLICT_SILENCE_MS : hostTimeoutMs))
        this.#leavePlace(host, place.end, false);
      else if (due(silentMs, now - place.askedAt, contested, hostTimeoutMs)) this.#ask(host, place, now);
    }
  }

  #ask(host: Host, place: Place, now: number): void {
    place.askedAt = now;
    for (const ip of host.addresses.keys()) this.#askFor(host, place, ip);
  }

  #askFor(host: Host, { end }: Place, ip: string): void {
    if (!this.#around.isEdge(end)) return;
    const frame = ip.includes(":")
      ? writeNdProbe(
          OUR_MAC,
          OUR_LINK_LOCAL,
          host.mac,
          Uint8Array.from(ipaddr.parse(ip).toByteArray()),
          host.tags,
        )
      : writeArpProbe(OUR_MAC, host.mac, ip, host.tags);
    this.#around.send(end, frame);
  }

  #ownersOf(host: Host, ip: string): ReadonlySet<Host> {
    return this.#owners.get(ownerKey(host, ip)) ?? NOBODY;
  }

  #own(host: Host, ip: string): void {
    const key = ownerKey(host, ip);
    this.#owners.set(key, (this.#owners.get(key) ?? new Set<Host>()).add(host));
  }

  #disown(host: Host, ip: string): void {
    const key = ownerKey(host, ip);
    const owners = this.#owners.get(key);
    owners?.delete(host);
    if (owners?.size === 0) this.#owners.delete(key);
  }

  #index(host: Host, end: End): void {
    const key = endKey(end);
    this.#byPort.set(key, (this.#byPort.get(key) ?? new Set<Host>()).add(host));
  }

  #unindex(host: Host, end: End): void {
    const key = endKey(end);
    const there = this.#byPort.get(key);
    there?.delete(host);
    if (there?.size === 0) this.#byPort.delete(key);
  }

  #claim(host: Host): void {
    if (!this.#hosts.has(host.id) || host.places.length === 0) return;
    const contested = [...host.addresses.keys()].filter((ip) => this.#ownersOf(host, ip).size > 1);
    this.#book.setHost(host.claim(contested));
  }
}

const NOBODY: ReadonlySet<Host> = new Set();

/** The same address in another VLAN is another network's. */
const ownerKey = (host: Host, ip: string): string => `${host.tags.vlan ?? ""} ${ip}`;

/** The link-local address of `OUR_MAC` (RFC 4291, appendix A). */
const OUR_LINK_LOCAL = ((mac: Uint8Array) => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = mac;
  return Uint8Array.of(0xfe, 0x80, 0, 0, 0, 0, 0, 0, a ^ 2, b, c, 0xff, 0xfe, d, e, f);
})(macBytes(OUR_MAC));

/** Whether something silent for so long, and asked that long ago, is to be asked (again). */
function due(silentMs: number, sinceAskedMs: number, contested: boolean, timeoutMs: number): boolean {
  if (contested) return silentMs >= CONFLICT_ASK_MS && sinceAskedMs >= CONFLICT_ASK_MS;
  const half = timeoutMs / 2;
  return silentMs >= half && sinceAskedMs >= half / ASKS;
}
