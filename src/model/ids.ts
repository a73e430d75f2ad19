/**
 * Ids of entities. An id is derived only from what identifies the entity (a link's from its two ends, a host's from MAC
 * and VLAN), so that an entity that is reported again has the same id.
 */

/** The collections of the view. `ports` is read through `/devices/…/ports`; the other three have paths of their own. */
export const KINDS = ["devices", "ports", "links", "hosts"] as const;
export type Kind = (typeof KINDS)[number];

/** Creates a value for each kind. */
export const forKinds = <T>(create: (kind: Kind) => T): Record<Kind, T> => ({
  devices: create("devices"),
  ports: create("ports"),
  links: create("links"),
  hosts: create("hosts"),
});

export interface ConnectPoint {
  readonly device: string;
  readonly port: string;
}

/**
 * The key of an id, which is the same for all its spellings: ids of devices that differ only in case are one device, and so
 * are the ids that contain them. The key is used to find and join entities and is never shown. A host id is its own key,
 * because MAC and VLAN have one canonical spelling.
 */
export const idKey = (kind: Kind, id: string): string => (kind === "hosts" ? id : id.toLowerCase());
export const deviceKey = (id: string): string => id.toLowerCase();

const OPENFLOW_ID = /^of:/i;
/** OpenFlow ids are always shown in lower case; the case of any other id is kept. */
export const canonicalDeviceId = (id: string): string => (OPENFLOW_ID.test(id) ? id.toLowerCase() : id);

/** Whether every spelling of the id is shown in the same way. Link ids never are: their second device may have several. */
export const hasOneSpelling = (kind: Kind, id: string): boolean =>
  kind === "hosts" || (kind !== "links" && OPENFLOW_ID.test(id)) || id.toLowerCase() === id.toUpperCase();

export const isKind = (name: string): name is Kind => (KINDS as readonly string[]).includes(name);

export const portId = (device: string, port: string | number): string => `${device}/${port}`;

/** The end of a link as it is claimed, where the port may be a number. */
interface ClaimedEnd {
  readonly device: string;
  readonly port: string | number;
}

export const linkId = (src: ClaimedEnd, dst: ClaimedEnd): string =>
  `${portId(src.device, src.port)}-${portId(dst.device, dst.port)}`;

export const hostId = (mac: string, vlan: string): string => `${mac}/${vlan}`;

const PORT = /^(\d{1,10}|local|controller)$/i;

/** The inverse of `portId`; undefined for text that is no id of a port. */
export function pointOfPortId(id: string): ConnectPoint | undefined {
  const slash = id.lastIndexOf("/");
  const port = id.slice(slash + 1);
  return slash > 0 && PORT.test(port) ? { device: id.slice(0, slash), port: port.toLowerCase() } : undefined;
}

const END_OF_SRC = /\/(\d{1,10}|local|controller)-/gi;
/** Bounds the work for an id that a client made up. */
const MAX_SPLITS = 16;

/** The pairs of ends from which `linkId` makes this id. There are several where the id of a device contains both separators. */
export function splitLinkId(id: string): [src: ConnectPoint, dst: ConnectPoint][] {
  const pairs: [src: ConnectPoint, dst: ConnectPoint][] = [];
  const end = pointOfPortId(id);
  if (!end) return pairs;
  for (const { 0: text, 1: port = "", index } of id.matchAll(END_OF_SRC)) {
    const src = { device: id.slice(0, index), port: port.toLowerCase() };
    const dst = { device: end.device.slice(index + text.length), port: end.port };
    if (src.device !== "" && dst.device !== "") pairs.push([src, dst]);
    if (pairs.length === MAX_SPLITS) break;
  }
  return pairs;
}
