/**
 * Claims: what a source reports about an entity. A field that is left out is not claimed; another source or the default
 * fills it. All data from sources passes through `canonicalClaim`, which validates it, enforces limits and converts it to
 * the canonical form, so that all other code can rely on that form.
 */
import Type from "typebox";
import { Compile } from "typebox/compile";
import { Settings } from "typebox/system";
import { canonicalIp, canonicalMac, canonicalPort, canonicalVlan, ipKey, portNameOf } from "./address.ts";
import { DEVICE_ROLES, DEVICE_TYPES, LINK_STATES, LINK_TYPES, PORT_TYPES } from "./entity.ts";
import { canonicalDeviceId, deviceKey, hostId, type Kind, linkId, portId } from "./ids.ts";

/* `recordName` names a record that may be malformed, so that an operator can find it. The name is for the log, never a key. */

const MAX_LENGTH = 120;

/** The fields that identify a record, in the order in which they occur in ids. */
const IDENTIFYING: Readonly<Record<Kind, readonly string[]>> = {
  devices: ["id"],
  ports: ["element", "port"],
  links: ["src", "dst"],
  hosts: ["mac", "vlan"],
};

/** Returns undefined when the record has none of the fields that identify a record of its kind. */
export function recordName(kind: Kind, record: unknown): string | undefined {
  if (typeof record !== "object" || record === null) return undefined;
  const values = Object.entries(record).filter(([field]) => IDENTIFYING[kind].includes(field));
  const names = IDENTIFYING[kind].flatMap((field) => values.find(([name]) => name === field)?.[1] ?? []);
  return names.length === 0 ? undefined : names.map(textOf).join(" ").slice(0, MAX_LENGTH);
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

/**
 * A record over a limit is rejected as a whole, because a truncated text would be wrong data. `bytes` limits the whole
 * claim as canonical JSON: one claim is parsed, merged and encoded in one step, so its size determines how long other work
 * waits.
 */
export const CLAIM_LIMITS = {
  bytes: 65_536,
  id: 255,
  text: 16_384,
  annotations: 256,
  addresses: 1024,
  locations: 64,
  aliases: 16,
} as const;

/** An id is shown as it is, so it has no spaces, control characters (C0 and C1) or marks that change the text direction. */
export const ID_PATTERN =
  "^[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]+$";
const id = Type.String({ minLength: 1, maxLength: CLAIM_LIMITS.id, pattern: ID_PATTERN });
const text = Type.String({ maxLength: CLAIM_LIMITS.text });
const annotations = Type.Record(Type.String({ minLength: 1, maxLength: CLAIM_LIMITS.id }), text, {
  maxProperties: CLAIM_LIMITS.annotations,
});
/** `canonicalPort` decides which texts are ports. */
const port = Type.Union([Type.String({ maxLength: CLAIM_LIMITS.id }), Type.Integer({ minimum: 0 })]);
const vlan = Type.Union([Type.String({ maxLength: 8 }), Type.Integer(), Type.Null()]);
const closed = { additionalProperties: false };
const end = Type.Object({ device: id, port }, closed);
const location = Type.Object({ elementId: id, port }, closed);

/**
 * The annotation on a device that is not available because it has not answered since that time (RFC 3339). It is ignored
 * when another source sees the device.
 */
export const UNANSWERED_SINCE = "unansweredSince";

export const DeviceClaim = Type.Object(
  {
    id,
    type: Type.Optional(Type.Enum(DEVICE_TYPES)),
    available: Type.Optional(Type.Boolean()),
    role: Type.Optional(Type.Enum(DEVICE_ROLES)),
    mfr: Type.Optional(text),
    hw: Type.Optional(text),
    sw: Type.Optional(text),
    serial: Type.Optional(text),
    driver: Type.Optional(text),
    chassisId: Type.Optional(text),
    lastUpdate: Type.Optional(Type.String({ pattern: "^\\d{1,15}$" })),
    annotations: Type.Optional(annotations),
    aliases: Type.Optional(Type.Array(id, { maxItems: CLAIM_LIMITS.aliases })),
  },
  closed,
);
export type DeviceClaim = Type.Static<typeof DeviceClaim>;

export const PortClaim = Type.Object(
  {
    element: id,
    port,
    isEnabled: Type.Optional(Type.Boolean()),
    type: Type.Optional(Type.Enum(PORT_TYPES)),
    portSpeed: Type.Optional(Type.Number({ minimum: 0 })),
    annotations: Type.Optional(annotations),
  },
  closed,
);
export type PortClaim = Type.Static<typeof PortClaim>;

export const LinkClaim = Type.Object(
  {
    src: end,
    dst: end,
    type: Type.Optional(Type.Enum(LINK_TYPES)),
    state: Type.Optional(Type.Enum(LINK_STATES)),
    verified: Type.Optional(Type.Boolean()),
    annotations: Type.Optional(annotations),
  },
  closed,
);
export type LinkClaim = Type.Static<typeof LinkClaim>;

export const HostClaim = Type.Object(
  {
    mac: Type.String({ maxLength: 17 }),
    vlan: Type.Optional(vlan),
    innerVlan: Type.Optional(vlan),
    outerTpid: Type.Optional(Type.String({ pattern: "^0x[0-9a-fA-F]{4}$" })),
    configured: Type.Optional(Type.Boolean()),
    suspended: Type.Optional(Type.Boolean()),
    ipAddresses: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), { maxItems: CLAIM_LIMITS.addresses }),
    ),
    locations: Type.Array(location, { minItems: 1, maxItems: CLAIM_LIMITS.locations }),
    auxLocations: Type.Optional(Type.Array(location, { maxItems: CLAIM_LIMITS.locations })),
    annotations: Type.Optional(annotations),
  },
  closed,
);
export type HostClaim = Type.Static<typeof HostClaim>;

export interface ClaimTypes {
  devices: DeviceClaim;
  ports: PortClaim;
  links: LinkClaim;
  hosts: HostClaim;
}
export type Claim = ClaimTypes[Kind];

export const CLAIM_SCHEMAS = {
  devices: DeviceClaim,
  ports: PortClaim,
  links: LinkClaim,
  hosts: HostClaim,
} as const;

/** All claims of a source. The values are iterables, so that a million hosts need not be in memory at once. */
export type Claims = { readonly [K in Kind]?: Iterable<ClaimTypes[K]> } & {
  /** Whether all of them are results of `canonicalClaim`, so that they are not validated and converted again. */
  readonly isCanonical?: boolean;
};

/** Claims of a source that are in memory as lists. */
export type ClaimLists = { readonly [K in Kind]: ClaimTypes[K][] };
export const emptyClaims = (): ClaimLists => ({ devices: [], ports: [], links: [], hosts: [] });

/** The id under which the source reports the entity. */
export function claimedId(claim: Claim): string {
  if ("src" in claim) {
    const { src, dst } = claim;
    return linkId(
      { device: src.device, port: String(src.port) },
      { device: dst.device, port: String(dst.port) },
    );
  }
  if ("locations" in claim) return hostId(claim.mac, String(claim.vlan ?? "None"));
  return "element" in claim ? portId(claim.element, String(claim.port)) : claim.id;
}

/** The devices that a claim refers to. Its entity is held back until they exist. */
export function referencedDevices(claim: Claim): string[] {
  if ("src" in claim) return [claim.src.device, claim.dst.device];
  if ("locations" in claim)
    return [...claim.locations, ...(claim.auxLocations ?? [])].map((at) => at.elementId);
  if ("element" in claim) return [claim.element];
  return [];
}

type SetChange<K extends Kind> = {
  [P in K]: {
    readonly op: "set";
    readonly kind: P;
    readonly claim: ClaimTypes[P];
    /** Whether the claim is a result of `canonicalClaim`: see `Claims`. */
    readonly isCanonical?: boolean;
  };
}[K];
export type ClaimChange =
  | SetChange<Kind>
  | { readonly op: "remove"; readonly kind: Kind; readonly id: string };

export const setChange = <K extends Kind>(kind: K, claim: ClaimTypes[K]): SetChange<K> => ({
  op: "set",
  kind,
  claim,
});

/** The reason why a record was rejected. `field` is a path such as `/src/port`. */
export interface ClaimFault {
  readonly field: string;
  readonly message: string;
  /** The name of the record, where it is known. */
  readonly record?: string | undefined;
}
export type ClaimResult<K extends Kind> =
  | { readonly ok: true; readonly id: string; readonly claim: ClaimTypes[K] }
  | Rejected;

export interface Rejected {
  readonly ok: false;
  readonly fault: ClaimFault;
  /** The other faults of the record, where it has several. */
  readonly more?: readonly ClaimFault[];
}

/** The library stops after 8 errors by default, but users who correct a file need all. The limit bounds the work per record. */
Settings.Set({ maxErrors: 256 });

const validators = {
  devices: Compile(DeviceClaim),
  ports: Compile(PortClaim),
  links: Compile(LinkClaim),
  hosts: Compile(HostClaim),
};

export const PORT_RULE = "must be a decimal number, local or controller";
export const VLAN_RULE = "must be None, Any or a tag from 1 to 4094";

/** The faults of one record so far. Undefined while there are none, so that a valid record costs no allocation. */
type Faults = ClaimFault[] | undefined;

const withFault = (faults: Faults, field: string, message: string): ClaimFault[] => {
  const all = faults ?? [];
  all.push({ field, message });
  return all;
};

function reject(faults: Faults): Rejected {
  const [fault = { field: "", message: "is not valid" }, ...more] = faults ?? [];
  return { ok: false, fault, ...(more.length > 0 && { more }) };
}

/** Validates one record against its schema and limits and converts every field to its canonical form. */
export function canonicalClaim<K extends Kind>(kind: K, record: unknown): ClaimResult<K>;
export function canonicalClaim(kind: Kind, record: unknown): ClaimResult<Kind> {
  const converted = convert(kind, record);
  const result = converted.ok ? (sizeFault(converted.claim) ?? converted) : converted;
  return result.ok ? result : { ...result, fault: { ...result.fault, record: recordName(kind, record) } };
}

/** An escaped control character needs the most bytes in JSON. */
const MAX_BYTES_PER_CHARACTER = 6;

function sizeFault(claim: Claim): Rejected | undefined {
  // Most claims are far below the limit, which is known without encoding them.
  if (maxLengthOf(claim) * MAX_BYTES_PER_CHARACTER <= CLAIM_LIMITS.bytes) return undefined;
  const bytes = Buffer.byteLength(JSON.stringify(claim));
  if (bytes <= CLAIM_LIMITS.bytes) return undefined;
  const message = `must not have more than ${CLAIM_LIMITS.bytes} bytes as JSON, but has ${bytes}`;
  return reject(withFault(undefined, "", message));
}

/** Length allowed for the fields that are not counted below, with their names: ids, ports and states. */
const OTHER_FIELDS_LENGTH = 1024;
const MAX_IP_LENGTH = 64;
/** Length allowed for one annotation or location besides its texts: the names of its fields and a port. */
const ITEM_LENGTH = 40;

/** An upper bound of the claim's length as JSON, in characters. */
export function maxLengthOf(claim: Claim): number {
  let length = OTHER_FIELDS_LENGTH;
  const { annotations } = claim;
  for (const key in annotations) length += key.length + (annotations[key]?.length ?? 0) + ITEM_LENGTH;
  if ("mac" in claim) {
    const { ipAddresses = [], locations, auxLocations = [] } = claim;
    length += ipAddresses.length * MAX_IP_LENGTH;
    length += (locations.length + auxLocations.length) * (CLAIM_LIMITS.id + ITEM_LENGTH);
  } else if ("id" in claim) {
    for (const field of DEVICE_TEXTS) length += claim[field]?.length ?? 0;
    length += (claim.aliases?.length ?? 0) * (CLAIM_LIMITS.id + ITEM_LENGTH);
  }
  return length;
}

function convert(kind: Kind, record: unknown): ClaimResult<Kind> {
  switch (kind) {
    case "devices":
      return validators.devices.Check(record) ? canonicalDevice(record) : schemaFaults(kind, record);
    case "ports":
      return validators.ports.Check(record) ? canonicalPortClaim(record) : schemaFaults(kind, record);
    case "links":
      return validators.links.Check(record) ? canonicalLink(record) : schemaFaults(kind, record);
    case "hosts":
      return validators.hosts.Check(record) ? canonicalHost(record) : schemaFaults(kind, record);
  }
}

/** Lists unknown fields first: a misspelt field is often the reason why another one is missing. */
function schemaFaults(kind: Kind, record: unknown): Rejected {
  const unknown = new Map<string, string>();
  const others = new Map<string, string>();
  for (const error of validators[kind].Errors(record)) {
    const { instancePath: path } = error;
    if (error.keyword === "additionalProperties") {
      for (const name of error.params.additionalProperties)
        unknown.set(`${path}/${name}`, "is not a field of this record");
    } else if (error.keyword === "required") {
      for (const name of error.params.requiredProperties) others.set(`${path}/${name}`, "is required");
    } else if (error.keyword !== "boolean" && !others.has(path)) {
      const allowed = error.keyword === "enum" ? ` (${error.params.allowedValues.join(", ")})` : "";
      others.set(path, error.message + allowed);
    }
  }
  return reject(Array.from([...unknown, ...others], ([field, message]) => ({ field, message })));
}

const DEVICE_TEXTS = ["mfr", "hw", "sw", "serial", "driver", "chassisId"] as const;

/** An id with a lone surrogate is rejected, because repairing it could make two ids equal. */
const MALFORMED_ID = "is not well-formed text";

const toWellFormed = (value: string): string => (value.isWellFormed() ? value : value.toWellFormed());

function canonicalAnnotations(annotations: Record<string, string>): Record<string, string> {
  if (areCanonical(annotations)) return { ...annotations };
  const keys = Object.keys(annotations).sort();
  return Object.fromEntries(keys.map((key) => [toWellFormed(key), toWellFormed(annotations[key] ?? "")]));
}

/** Whether the keys are sorted, and all texts well-formed, as in most claims. */
function areCanonical(annotations: Readonly<Record<string, string>>): boolean {
  let last = "";
  for (const key in annotations) {
    if (key < last || !key.isWellFormed() || annotations[key]?.isWellFormed() !== true) return false;
    last = key;
  }
  return true;
}

function canonicalDevice(record: DeviceClaim): ClaimResult<"devices"> {
  let faults: Faults;
  if (!record.id.isWellFormed()) faults = withFault(faults, "/id", MALFORMED_ID);
  const claim = { ...record, id: canonicalDeviceId(record.id) };
  for (const field of DEVICE_TEXTS) {
    const value = claim[field];
    if (value !== undefined) claim[field] = toWellFormed(value);
  }
  if (claim.annotations) claim.annotations = canonicalAnnotations(claim.annotations);
  if (claim.aliases) {
    for (const [i, alias] of claim.aliases.entries())
      if (!alias.isWellFormed()) faults = withFault(faults, `/aliases/${i}`, MALFORMED_ID);
    const aliases = canonicalAliases(claim.id, claim.aliases);
    if (aliases) claim.aliases = aliases;
    else delete claim.aliases;
  }
  return faults ? reject(faults) : { ok: true, id: claim.id, claim };
}

/**
 * Returns the aliases sorted, without the id of the device and without duplicates that differ only in case; undefined when
 * none is left. Of two spellings of an alias, the first one in `aliases` is kept.
 */
export function canonicalAliases(deviceId: string, aliases: readonly string[]): string[] | undefined {
  const byKey = new Map<string, string>();
  for (const alias of aliases) {
    const key = deviceKey(alias);
    if (key !== deviceKey(deviceId) && !byKey.has(key)) byKey.set(key, canonicalDeviceId(alias));
  }
  return byKey.size > 0 ? [...byKey.values()].sort() : undefined;
}

function canonicalPortClaim(record: PortClaim): ClaimResult<"ports"> {
  let faults: Faults;
  const number = canonicalPort(record.port);
  if (number === undefined) faults = withFault(faults, "/port", PORT_RULE);
  if (!record.element.isWellFormed()) faults = withFault(faults, "/element", MALFORMED_ID);
  if (faults || number === undefined) return reject(faults);
  const claim: PortClaim = { ...record, element: canonicalDeviceId(record.element), port: number };
  const portName = portNameOf(record.port);
  if (claim.annotations || portName !== undefined) {
    claim.annotations = canonicalAnnotations({
      ...(portName !== undefined && { portName }),
      ...claim.annotations,
    });
  }
  return { ok: true, id: portId(claim.element, number), claim };
}

function canonicalLink(record: LinkClaim): ClaimResult<"links"> {
  const srcPort = canonicalPort(record.src.port);
  const dstPort = canonicalPort(record.dst.port);
  let faults: Faults;
  if (srcPort === undefined) faults = withFault(faults, "/src/port", PORT_RULE);
  if (dstPort === undefined) faults = withFault(faults, "/dst/port", PORT_RULE);
  if (!record.src.device.isWellFormed()) faults = withFault(faults, "/src/device", MALFORMED_ID);
  if (!record.dst.device.isWellFormed()) faults = withFault(faults, "/dst/device", MALFORMED_ID);
  if (faults || srcPort === undefined || dstPort === undefined) return reject(faults);
  const src = { port: srcPort, device: canonicalDeviceId(record.src.device) };
  const dst = { port: dstPort, device: canonicalDeviceId(record.dst.device) };
  if (deviceKey(src.device) === deviceKey(dst.device) && src.port === dst.port)
    return reject([{ field: "/dst", message: "is the same port as src" }]);
  const claim: LinkClaim = { ...record, src, dst };
  if (claim.annotations) claim.annotations = canonicalAnnotations(claim.annotations);
  return { ok: true, id: linkId(src, dst), claim };
}

const LOCATION_FIELDS = ["locations", "auxLocations"] as const;

function isListed(locations: HostClaim["locations"], elementId: string, port: string): boolean {
  if (locations.length === 0) return false;
  const key = deviceKey(elementId);
  return locations.some((at) => at.port === port && deviceKey(at.elementId) === key);
}

function canonicalHost(record: HostClaim): ClaimResult<"hosts"> {
  let faults: Faults;
  const mac = canonicalMac(record.mac);
  if (mac === undefined) faults = withFault(faults, "/mac", "is not a MAC address");
  const tag = canonicalVlan(record.vlan);
  if (tag === undefined) faults = withFault(faults, "/vlan", VLAN_RULE);
  // Both values are valid where the claim is returned.
  const claim: HostClaim = { ...record, mac: mac ?? "", vlan: tag ?? "", locations: [] };
  if (record.innerVlan !== undefined) {
    const inner = canonicalVlan(record.innerVlan);
    if (inner === undefined) faults = withFault(faults, "/innerVlan", VLAN_RULE);
    else claim.innerVlan = inner;
  }
  if (record.outerTpid !== undefined) claim.outerTpid = record.outerTpid.toLowerCase();
  if (record.ipAddresses !== undefined) {
    const addresses: string[] = [];
    let i = 0;
    for (const given of record.ipAddresses) {
      const ip = canonicalIp(given);
      if (ip === undefined) faults = withFault(faults, `/ipAddresses/${i}`, "is not an IP address");
      else if (!addresses.includes(ip)) addresses.push(ip);
      i++;
    }
    claim.ipAddresses = sortIps(addresses);
  }
  for (const name of LOCATION_FIELDS) {
    const given = record[name];
    if (given === undefined) continue;
    const locations: HostClaim["locations"] = [];
    let i = 0;
    for (const { elementId, port: givenPort } of given) {
      const port = canonicalPort(givenPort);
      if (port === undefined) faults = withFault(faults, `/${name}/${i}/port`, PORT_RULE);
      if (!elementId.isWellFormed()) faults = withFault(faults, `/${name}/${i}/elementId`, MALFORMED_ID);
      if (port !== undefined && !isListed(locations, elementId, port))
        locations.push({ elementId: canonicalDeviceId(elementId), port });
      i++;
    }
    claim[name] = locations;
  }
  if (faults || mac === undefined || tag === undefined) return reject(faults);
  if (claim.annotations) claim.annotations = canonicalAnnotations(claim.annotations);
  return { ok: true, id: hostId(mac, tag), claim };
}

/** Sorts IPv4 before IPv6, each in numeric order, so that the order in which a source reports does not matter. */
export function sortIps(addresses: string[]): string[] {
  const [first, second] = addresses;
  if (first === undefined || second === undefined) return addresses;
  // Fast path: most hosts have one address of each version.
  if (addresses.length === 2 && !first.includes(":") && second.includes(":")) return addresses;
  const keyed = addresses.map((ip) => ({ ip, key: ipKey(ip) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ ip }) => ip);
}
