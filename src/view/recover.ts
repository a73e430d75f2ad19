/**
 * Recovers a claim from the merged value: the inverse of `merge.ts`. When an entity has one claim and its value contains
 * everything that is claimed, the claim is not stored but recovered. That halves the memory for a million hosts of one
 * source. A commit checks that the recovered claim equals the original, and stores the claims if it does not.
 */
import { sameJson } from "../lib/same-json.ts";
import {
  type ClaimTypes,
  claimedId,
  type DeviceClaim,
  type HostClaim,
  type LinkClaim,
  type PortClaim,
} from "../model/claim.ts";
import type { Device, Entities, Host, Link, Port } from "../model/entity.ts";
import { deviceKey, idKey, type Kind } from "../model/ids.ts";

const RECOVER: { [K in Kind]: (value: Entities[K]) => ClaimTypes[K] } = {
  devices: recoverDevice,
  ports: recoverPort,
  links: recoverLink,
  hosts: recoverHost,
};

/** The claim from which a value of one source was merged, without the fields that have their default. */
export function recoverClaim<K extends Kind>(kind: K, value: Entities[K]): ClaimTypes[K] {
  return RECOVER[kind](value);
}

const DEVICE_DEFAULTS = {
  mfr: "unknown",
  hw: "unknown",
  sw: "unknown",
  serial: "unknown",
  driver: "default",
  chassisId: "0",
} as const;
const DEVICE_TEXTS = ["mfr", "hw", "sw", "serial", "driver", "chassisId"] as const;

function recoverDevice(device: Device): DeviceClaim {
  const { id, type, available, role } = device;
  const claim: DeviceClaim = { id, type, available, role };
  for (const field of DEVICE_TEXTS)
    if (device[field] !== DEVICE_DEFAULTS[field]) claim[field] = device[field];
  const annotations = Object.entries(device.annotations).filter(([, text]) => text !== "");
  if (annotations.length > 0) claim.annotations = Object.fromEntries(annotations);
  if (device.aliases) claim.aliases = device.aliases;
  return claim;
}

function recoverPort({ element, port, isEnabled, type, portSpeed, annotations }: Port): PortClaim {
  const claim: PortClaim = { element, port, isEnabled, type, portSpeed };
  if (annotations) claim.annotations = annotations;
  return claim;
}

function recoverLink({ src, dst, type, state, verified, annotations }: Link): LinkClaim {
  return { src, dst, type, state, verified, ...(annotations && { annotations }) };
}

/** Recovers a host's claim. A claim with `auxLocations` is always stored, because the index of stored claims has its devices. */
function recoverHost(host: Host): HostClaim {
  const claim: HostClaim = { mac: host.mac, vlan: host.vlan, locations: host.locations };
  if (host.innerVlan !== "None") claim.innerVlan = host.innerVlan;
  if (host.outerTpid !== "0x0000") claim.outerTpid = host.outerTpid;
  if (host.configured) claim.configured = true;
  if (host.suspended) claim.suspended = true;
  if (host.ipAddresses.length > 0) claim.ipAddresses = host.ipAddresses;
  if (host.annotations) claim.annotations = host.annotations;
  return claim;
}

/** Whether two canonical claims are equal; the order of fields does not matter. */
export function sameClaim(a: ClaimTypes[Kind], b: ClaimTypes[Kind]): boolean {
  return sameJson(a, b);
}

/** The `idKey` of `claimedId`. It is the key of the entity that has the claim, unless its device is joined with another. */
export const claimedKey = (kind: Kind, claim: ClaimTypes[Kind]): string => idKey(kind, claimedId(claim));

/** The keys of the ids of a device in its claims. */
export const claimedDevices = (claims: readonly { readonly claim: DeviceClaim }[]): Set<string> =>
  new Set(claims.map(({ claim }) => deviceKey(claim.id)));
