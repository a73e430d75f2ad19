/**
 * How each field is merged from the claims, for explanations. A field without a row does not compile. `merge.ts` computes
 * the values; a property test compares the two.
 */
import type { Entities } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";

export type FieldRule =
  /** Of the first claim that has it, else its default. */
  | "first"
  /** The same, but Gazetteer records it where no claim has it. */
  | "firstOrTracked"
  /** Annotations: the first claim that has the key. */
  | "byKey"
  | "union"
  | "aliases"
  | "verified"
  /** Of the first claim in the configured order. */
  | "id"
  /** The same in all claims of the entity. */
  | "identifies"
  | "ends"
  | "derived"
  | "network"
  | "tracked";

/** Every field has a rule but `drift`, which an explanation has as a member of its own. */
type FieldRules<K extends Kind> = Readonly<Record<Exclude<keyof Entities[K], "drift">, FieldRule>>;

const TRACKED = {
  firstSeen: "tracked",
  lastChanged: "tracked",
  sources: "tracked",
  revision: "tracked",
} as const;

const FIELD_RULES: { readonly [K in Kind]: FieldRules<K> } = {
  devices: {
    id: "id",
    type: "first",
    available: "first",
    role: "first",
    mfr: "first",
    hw: "first",
    sw: "first",
    serial: "first",
    driver: "first",
    chassisId: "first",
    lastUpdate: "firstOrTracked",
    humanReadableLastUpdate: "derived",
    annotations: "byKey",
    aliases: "aliases",
    ...TRACKED,
  },
  ports: {
    element: "ends",
    port: "id",
    isEnabled: "first",
    type: "first",
    portSpeed: "first",
    annotations: "byKey",
    ...TRACKED,
  },
  links: {
    src: "ends",
    dst: "ends",
    type: "first",
    state: "first",
    annotations: "byKey",
    id: "derived",
    bidirectional: "network",
    verified: "verified",
    ...TRACKED,
  },
  hosts: {
    id: "derived",
    mac: "identifies",
    vlan: "identifies",
    innerVlan: "first",
    outerTpid: "first",
    configured: "first",
    suspended: "first",
    ipAddresses: "union",
    locations: "union",
    auxLocations: "first",
    location: "derived",
    annotations: "byKey",
    ...TRACKED,
  },
};

/** Undefined for a field that is not explained. */
export const fieldRuleOf = (kind: Kind, field: string): FieldRule | undefined => RULES[kind].get(field);

const RULES: Readonly<Record<Kind, ReadonlyMap<string, FieldRule>>> = {
  devices: new Map(Object.entries(FIELD_RULES.devices)),
  ports: new Map(Object.entries(FIELD_RULES.ports)),
  links: new Map(Object.entries(FIELD_RULES.links)),
  hosts: new Map(Object.entries(FIELD_RULES.hosts)),
};
