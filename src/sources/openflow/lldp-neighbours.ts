/**
 * Neighbours that speak LLDP but not OpenFlow: shown, when configured, as devices of their own with unverified links.
 * Anyone can send LLDP, so nothing here is believed beyond that: what it says is capped, so is how many there are, and
 * all of it ends with the time it claimed for itself or with the port.
 */
import { portId } from "../../model/ids.ts";
import type { ClaimBook } from "./claim-buffer.ts";
import type { Lldp } from "./codec/lldp.ts";
import { type End, endKey } from "./link-table.ts";
import { portText } from "./port-ref.ts";

const MAX_PER_PORT = 4;
const MOST = 10_000;
const MAX_TEXT = 200;
const MAX_TTL_SECONDS = 3600;

interface Neighbour {
  readonly key: string;
  readonly device: string;
  readonly port: string;
  readonly portName: string;
  readonly at: End;
  until: number;
}

export class ForeignNeighbours {
  readonly #book: ClaimBook;
  readonly #neighbours = new Map<string, Neighbour>();
  readonly #byPort = new Map<string, Set<Neighbour>>();

  constructor(book: ClaimBook) {
    this.#book = book;
  }

  heard(lldp: Lldp, at: End, now: number): void {
    if (/^(dpid|of):/.test(lldp.chassis)) return; // another controller's probe, of a switch we know ourselves
    const ttlSeconds = Math.min(lldp.ttlSeconds, MAX_TTL_SECONDS);
    const device = `lldp:${idText(lldp.chassis)}`;
    const portName = lldp.port.slice(0, MAX_TEXT);
    const key = `${device} ${portName} ${endKey(at)}`;
    const known = this.#neighbours.get(key);
    if (ttlSeconds === 0) {
      if (known) this.#end(known);
      return;
    }
    const there = this.#byPort.get(endKey(at)) ?? new Set<Neighbour>();
    if (!known && (there.size >= MAX_PER_PORT || this.#neighbours.size >= MOST)) return;
    const until = now + ttlSeconds * 1000;
    if (known) {
      known.until = until;
      return;
    }
    const neighbour = { key, device, port: portNumber(portName), portName, at, until };
    this.#neighbours.set(key, neighbour);
    this.#byPort.set(endKey(at), there.add(neighbour));
    this.#claim(neighbour, lldp);
  }

  portDown(at: End): void {
    for (const neighbour of [...(this.#byPort.get(endKey(at)) ?? [])]) this.#end(neighbour);
  }

  sweep(now: number): void {
    for (const neighbour of this.#neighbours.values()) if (now >= neighbour.until) this.#end(neighbour);
  }

  #end(neighbour: Neighbour): void {
    const { key, device, port, at } = neighbour;
    this.#neighbours.delete(key);
    this.#byPort.get(endKey(at))?.delete(neighbour);
    for (const id of linkIds(neighbour)) this.#book.remove("links", id);
    const rest = [...this.#neighbours.values()].filter((other) => other.device === device);
    if (!rest.some((other) => other.port === port)) this.#book.remove("ports", portId(device, port));
    if (rest.length === 0) this.#book.remove("devices", device);
  }

  #claim({ device, port, portName, at }: Neighbour, lldp: Lldp): void {
    this.#book.setDevice({
      id: device,
      type: "OTHER",
      available: true,
      chassisId: lldp.chassis.slice(0, MAX_TEXT),
      sw: lldp.text?.slice(0, MAX_TEXT) ?? "",
      annotations: { protocol: "LLDP", ...(lldp.name && { name: lldp.name.slice(0, MAX_TEXT) }) },
    });
    this.#book.setPort({ element: device, port, isEnabled: true, annotations: { portName } });
    const there = { device, port };
    const here = { device: at.device, port: portText(at.port) };
    // A neighbour is heard in one direction, but the wire it is heard through has two.
    this.#book.setLink({ src: there, dst: here, type: "DIRECT", state: "ACTIVE", verified: false });
    this.#book.setLink({ src: here, dst: there, type: "DIRECT", state: "ACTIVE", verified: false });
  }
}

function linkIds({ device, port, at }: Neighbour): [string, string] {
  const there = portId(device, port);
  return [`${there}-${endKey(at)}`, `${endKey(at)}-${there}`];
}

/** A chassis id as part of an id: nothing that would need quoting, and not too long. */
const idText = (text: string): string => text.slice(0, MAX_TEXT).replaceAll(/[^\w.:@+-]/g, "_");

/** Ports are numbers in the model; a port that only has a name gets one made from it. */
function portNumber(name: string): string {
  if (/^\d{1,9}$/.test(name)) return String(Number(name));
  let number = 0;
  for (const char of name) number = (Math.imul(number, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  return String(1_000_000_000 + (number % 1_000_000_000));
}
