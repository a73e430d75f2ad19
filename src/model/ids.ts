/**
 * How things are named. Ids come from what identifies a thing and from nothing else (a link's from its two ends,
 * never from a host name), so that a thing seen again is the same thing and a thing that moved leaves no ghost.
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
