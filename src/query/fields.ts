/**
 * The fields of each kind, read from its schema: which are scalars, and can be filtered and sorted by, and how the text
 * of a parameter becomes a value of that field.
 */

import { canonicalHostId, canonicalMac, canonicalVlan } from "../model/address.ts";
import { ENTITY_SCHEMAS } from "../model/entity.ts";
import { KINDS, type Kind } from "../model/ids.ts";

export type Scalar = string | number | boolean;

export interface FieldRule {
  readonly type: "string" | "number" | "boolean";
  /** All values, where the schema lists them. */
  readonly allowed?: readonly string[];
  /** Undefined when the text is no value of this field. */
  parse(text: string): Scalar | undefined;
  /** What a value looks like, for the message of a fault. */
  readonly expects: string;
}

interface PropertySchema {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
}

const BOOLEAN: FieldRule = {
  type: "boolean",
  allowed: ["true", "false"],
  parse: (text) => (text === "true" ? true : text === "false" ? false : undefined),
  expects: "true or false",
};
const NUMBER: FieldRule = {
  type: "number",
  parse: (text) => (/^-?\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined),
  expects: "a number",
};
const TEXT: FieldRule = { type: "string", parse: (text) => text, expects: "text" };
const MAC: FieldRule = {
  type: "string",
  parse: canonicalMac,
  expects: "a MAC address such as 00:00:00:00:00:01",
};
/** Any spelling of a host id is accepted. Text that is no host id is no fault: it matches no host. */
const HOST_ID: FieldRule = {
  type: "string",
  parse: (text) => canonicalHostId(text) ?? text,
  expects: "text",
};
const VLAN: FieldRule = { type: "string", parse: canonicalVlan, expects: "None, Any or a tag from 1 to 4094" };

const oneOf = (allowed: readonly string[]): FieldRule => ({
  type: "string",
  allowed,
  parse: (text) => allowed.find((value) => value === text.toUpperCase() || value === text),
  expects: `one of ${allowed.join(", ")}`,
});

function ruleFor(kind: Kind, name: string, schema: PropertySchema): FieldRule | undefined {
  if (kind === "hosts" && name === "id") return HOST_ID;
  if (schema.enum) return oneOf(schema.enum.map(String));
  if (name === "mac") return MAC;
  if (name === "vlan" || name === "innerVlan") return VLAN;
  if (schema.type === "boolean") return BOOLEAN;
  if (schema.type === "integer" || schema.type === "number") return NUMBER;
  return schema.type === "string" ? TEXT : undefined;
}

const propertiesOf = (kind: Kind): [string, PropertySchema][] =>
  Object.entries(ENTITY_SCHEMAS[kind].properties);

/** The scalar fields of each kind. */
export const SCALAR_FIELDS: Readonly<Record<Kind, ReadonlyMap<string, FieldRule>>> = forEachKind(
  (kind) =>
    new Map(
      propertiesOf(kind).flatMap(([name, schema]) => {
        const rule = ruleFor(kind, name, schema);
        return rule ? [[name, rule] as const] : [];
      }),
    ),
);

/** All top-level fields of each kind, in the order of the JSON. */
export const FIELD_NAMES: Readonly<Record<Kind, readonly string[]>> = forEachKind((kind) =>
  propertiesOf(kind).map(([name]) => name),
);

function forEachKind<T>(create: (kind: Kind) => T): Record<Kind, T> {
  const [devices, ports, links, hosts] = KINDS;
  return { devices: create(devices), ports: create(ports), links: create(links), hosts: create(hosts) };
}
