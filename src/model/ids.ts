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

export const portId = (device: string, port: string): string => `${device}/${port}`;

export const linkId = (src: ConnectPoint, dst: ConnectPoint): string =>
  `${portId(src.device, src.port)}-${portId(dst.device, dst.port)}`;

export const hostId = (mac: string, vlan: string): string => `${mac}/${vlan}`;
