/**
 * The fields of each kind, read from its schema: which ones are scalars, by which entities can be filtered and sorted, and
 * how the text of a parameter becomes a value of the field.
 */

import { canonicalHostId, canonicalMac, canonicalVlan } from "../model/address.ts";
import { ENTITY_SCHEMAS } from "../model/entity.ts";
import { KINDS, type Kind } from "../model/ids.ts";

/** The largest number with the 15 digits that a revision may have. */
export const MAX_REVISION = 10 ** 15 - 1;

const MAC_PATTERN =
  "^([0-9A-Fa-f]{1,2}([:-][0-9A-Fa-f]{1,2}){5}|[0-9A-Fa-f]{4}(\\.[0-9A-Fa-f]{4}){2}|[0-9A-Fa-f]{12})$";

export type Scalar = string | number | boolean;

export interface FieldRule {
  /** The JSON schema of a value, as far as a schema can express what `parse` accepts. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Returns undefined when the text is not a value of this field. */
  parse(text: string): Scalar | undefined;
  /** A description of a value, for the message of a fault. */
  readonly expects: string;
}

interface PropertySchema {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
}

const BOOLEAN: FieldRule = {
  schema: { type: "boolean" },
  parse: (text) => (text === "true" ? true : text === "false" ? false : undefined),
  expects: "true or false",
};
const parseNumber = (text: string) => (/^-?\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined);
const NUMBER: FieldRule = { schema: { type: "number" }, parse: parseNumber, expects: "a number" };
const INTEGER: FieldRule = {
  schema: { type: "integer", format: "int64", minimum: -MAX_REVISION, maximum: MAX_REVISION },
  parse: parseNumber,
  expects: "a number",
};
const TEXT: FieldRule = { schema: { type: "string" }, parse: (text) => text, expects: "text" };
const MAC: FieldRule = {
  schema: { type: "string", pattern: MAC_PATTERN, examples: ["00:00:00:00:00:01"] },
  parse: canonicalMac,
  expects: "a MAC address such as 00:00:00:00:00:01",
};
/** Accepts any spelling of a host id. Text that is not a host id is no fault: it matches no host. */
const HOST_ID: FieldRule = {
  schema: { type: "string" },
  parse: (text) => canonicalHostId(text) ?? text,
  expects: "text",
};
const VLAN: FieldRule = {
  schema: { type: "string", pattern: "^(None|Any|-1|[1-9]\\d{0,2}|[1-3]\\d{3}|40[0-8]\\d|409[0-4])$" },
  parse: canonicalVlan,
  expects: "None, Any or a tag from 1 to 4094",
};

function oneOf(schema: PropertySchema, allowed: readonly string[]): FieldRule {
  return {
    schema: { ...schema },
    parse: (text) => allowed.find((value) => value === text),
    expects: `one of ${allowed.join(", ")}`,
  };
}

function ruleFor(kind: Kind, name: string, schema: PropertySchema): FieldRule | undefined {
  if (kind === "hosts" && name === "id") return HOST_ID;
  if (schema.enum) return oneOf(schema, schema.enum.map(String));
  if (name === "mac") return MAC;
  if (name === "vlan" || name === "innerVlan") return VLAN;
  if (schema.type === "boolean") return BOOLEAN;
  if (schema.type === "integer") return INTEGER;
  if (schema.type === "number") return NUMBER;
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

/** The fields of each kind that every entity has and whose values are texts. */
export const REQUIRED_TEXTS: Readonly<Record<Kind, readonly string[]>> = forEachKind((kind) =>
  propertiesOf(kind).flatMap(([name, { type }]) =>
    type === "string" && ENTITY_SCHEMAS[kind].required.some((required) => required === name) ? [name] : [],
  ),
);

/** Ends of links and locations of hosts, which are not scalars. They are sorted by the name of the device, then by port. */
export const POINT_FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  devices: [],
  ports: [],
  links: ["src", "dst"],
  hosts: ["location"],
};

/** The prefix of the key of an annotation, by which every kind can be filtered and sorted. */
export const ANNOTATION_PREFIX = "annotations.";

/** The parameter, and the value of `sort`, that stands for the annotation with the name of an entity. */
export const NAME = "name";
/** The key of the annotation that has the name of an entity. */
export const nameAnnotation = (kind: Kind): string => (kind === "ports" ? "portName" : "name");

/** The fields by which each kind can be sorted, besides annotations. */
export const SORT_FIELDS: Readonly<Record<Kind, readonly string[]>> = forEachKind((kind) => [
  ...SCALAR_FIELDS[kind].keys(),
  ...POINT_FIELDS[kind],
]);

/** All top-level fields of each kind, in the order of the JSON. */
export const FIELD_NAMES: Readonly<Record<Kind, readonly string[]>> = forEachKind((kind) =>
  propertiesOf(kind).map(([name]) => name),
);

function forEachKind<T>(create: (kind: Kind) => T): Record<Kind, T> {
  const [devices, ports, links, hosts] = KINDS;
  return { devices: create(devices), ports: create(ports), links: create(links), hosts: create(hosts) };
}
