/**
 * What can be asked of each kind's fields, read off its schema: which are scalars that filter and sort, what a value
 * of each may be, and how a value as people write it becomes the value as it stands in the JSON.
 */

import { canonicalHostId } from "../api/route.ts";
import { canonicalMac, canonicalVlan } from "../model/address.ts";
import { ENTITY_SCHEMAS } from "../model/entity.ts";
import { KINDS, type Kind } from "../model/ids.ts";

export type Scalar = string | number | boolean;

export interface FieldRule {
  readonly type: "string" | "number" | "boolean";
  /** The values there are, where they are few. */
  readonly allowed?: readonly string[];
  /** The value for a text, or undefined when it is not one. */
  parse(text: string): Scalar | undefined;
  /** What a value looks like, for the refusal. */
  readonly expects: string;
}

interface SchemaFacts {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
}

const boolean: FieldRule = {
  type: "boolean",
  allowed: ["true", "false"],
  parse: (text) => (text === "true" ? true : text === "false" ? false : undefined),
  expects: "true or false",
};
const number: FieldRule = {
  type: "number",
  parse: (text) => (/^-?\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined),
  expects: "a number",
};
const anyText: FieldRule = { type: "string", parse: (text) => text, expects: "text" };
const mac: FieldRule = {
  type: "string",
  parse: canonicalMac,
  expects: "a MAC address such as 00:00:00:00:00:01",
};
/** A host's id in any spelling of its MAC; what is no such id is no host's, and matches nothing. */
const hostIdText: FieldRule = {
  type: "string",
  parse: (text) => canonicalHostId(text) ?? text,
  expects: "text",
};
const vlan: FieldRule = { type: "string", parse: canonicalVlan, expects: "None or a tag from 1 to 4094" };

const oneOf = (allowed: readonly string[]): FieldRule => ({
  type: "string",
  allowed,
  parse: (text) => allowed.find((one) => one === text.toUpperCase() || one === text),
  expects: `one of ${allowed.join(", ")}`,
});

function ruleFor(kind: Kind, name: string, schema: SchemaFacts): FieldRule | undefined {
  if (kind === "hosts" && name === "id") return hostIdText;
  if (schema.enum) return oneOf(schema.enum.map(String));
  if (name === "mac") return mac;
  if (name === "vlan" || name === "innerVlan") return vlan;
  if (schema.type === "boolean") return boolean;
  if (schema.type === "integer" || schema.type === "number") return number;
  return schema.type === "string" ? anyText : undefined;
}

const propertiesOf = (kind: Kind): [string, SchemaFacts][] => Object.entries(ENTITY_SCHEMAS[kind].properties);

/** The scalar fields of each kind. */
export const SCALARS: Readonly<Record<Kind, ReadonlyMap<string, FieldRule>>> = perKind(
  (kind) =>
    new Map(
      propertiesOf(kind).flatMap(([name, schema]) => {
        const rule = ruleFor(kind, name, schema);
        return rule ? [[name, rule] as const] : [];
      }),
    ),
);

/** All top-level fields of each kind, in the order of the JSON. */
export const FIELDS: Readonly<Record<Kind, readonly string[]>> = perKind((kind) =>
  propertiesOf(kind).map(([name]) => name),
);

function perKind<T>(make: (kind: Kind) => T): Record<Kind, T> {
  const [devices, ports, links, hosts] = KINDS;
  return { devices: make(devices), ports: make(ports), links: make(links), hosts: make(hosts) };
}
