/**
 * Ids of entities. An id is derived only from what identifies the entity (a link's from its two ends, a host's from MAC
 * and VLAN), so that an entity that is reported again has the same id.
 */

/** The collections of the view. `ports` is read through `/devices/…/ports`; the other three have paths. */
export const KINDS = ["devices", "ports", "links", "hosts"] as const;
export type Kind = (typeof KINDS)[number];

export interface ConnectPoint {
  readonly device: string;
  readonly port: string;
}

/**
 * Ids of devices that differ only in case are one device, and so are the ids that contain them. The key is the same for
 * all spellings; it is used to find and to join, never shown. A host id is canonical: MAC and VLAN have one spelling.
 */
export const idKey = (kind: Kind, id: string): string => (kind === "hosts" ? id : id.toLowerCase());
export const deviceKey = (id: string): string => id.toLowerCase();

const OPENFLOW_ID = /^of:/i;
/** OpenFlow ids are always shown in lower case; the case of any other id is kept. */
export const canonicalDeviceId = (id: string): string => (OPENFLOW_ID.test(id) ? id.toLowerCase() : id);

/** Whether every spelling of the id is shown in the same way. A link id contains two ids, of which one may be another. */
export const hasOneSpelling = (kind: Kind, id: string): boolean =>
  kind === "hosts" || (kind !== "links" && OPENFLOW_ID.test(id)) || id.toLowerCase() === id.toUpperCase();

export const isKind = (name: string): name is Kind => (KINDS as readonly string[]).includes(name);

export const portId = (device: string, port: string): string => `${device}/${port}`;

export const linkId = (src: ConnectPoint, dst: ConnectPoint): string =>
  `${portId(src.device, src.port)}-${portId(dst.device, dst.port)}`;

export const hostId = (mac: string, vlan: string): string => `${mac}/${vlan}`;
