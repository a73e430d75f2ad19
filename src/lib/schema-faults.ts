/**
 * Compares a value with a TypeBox schema and returns all faults at once, in words for the operator: what the value must
 * be, and for an unknown key the nearest known one. The library's own errors name keywords and patterns instead.
 */
import Type from "typebox";
import Value from "typebox/value";
import { nearest } from "./nearest.ts";

export type KeyPath = readonly (string | number)[];

/** A value that does not match its schema. */
export interface SchemaFault {
  readonly path: KeyPath;
  readonly message: string;
  /** Set when the key itself is wrong, not its value. */
  readonly atKey?: true;
}

/** Formats a path such as `limits.pageLimit` or `sources[2].name`. */
export function formatPath(path: KeyPath): string {
  return path
    .map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join("");
}

export function findSchemaFaults(schema: Type.TSchema, value: unknown, path: KeyPath = []): SchemaFault[] {
  if (Type.IsObject(schema)) return findObjectFaults(schema, value, path);
  if (Type.IsArray(schema) && Array.isArray(value)) {
    const itemFaults = value.flatMap((item, i) => findSchemaFaults(schema.items, item, [...path, i]));
    if (itemFaults.length > 0 || Value.Check(schema, value)) return itemFaults;
    const maxItems = schemaOption(schema, "maxItems");
    if (typeof maxItems === "number" && value.length > maxItems) {
      return [{ path, message: `must have at most ${maxItems} entries` }];
    }
  }
  return Value.Check(schema, value) ? [] : [{ path, message: `must be ${describeSchema(schema)}` }];
}

function findObjectFaults(schema: Type.TObject, value: unknown, path: KeyPath): SchemaFault[] {
  // A YAML section whose lines are all comments is null.
  if (value === null && path.length > 0) return [];
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [{ path, message: "must be keys and values" }];
  }
  const knownKeys = Object.keys(schema.properties);
  const present = Object.entries(value).flatMap(([key, item]): SchemaFault[] => {
    const property = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    if (property) return findSchemaFaults(property, item, [...path, key]);
    if (schemaOption(schema, "additionalProperties") !== false) return [];
    return [{ path: [...path, key], message: `unknown key; ${suggestName(key, knownKeys)}`, atKey: true }];
  });
  const missing = Object.entries(schema.properties)
    .filter(([key, property]) => !Object.hasOwn(value, key) && isRequired(property))
    .map(([key, property]) => ({
      path: [...path, key],
      message: `is required; must be ${describeSchema(property)}`,
    }));
  return [...present, ...missing];
}

const isRequired = (schema: Type.TSchema): boolean =>
  !Type.IsOptional(schema) && schemaOption(schema, "default") === undefined;

/** Returns `did you mean X?` when a known name is near, otherwise the list of known names. */
export function suggestName(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? `known here: ${known.join(", ")}` : `did you mean ${near}?`;
}

/** The values that a schema accepts, as the rest of "must be …". The title of the schema is used where it has one. */
export function describeSchema(schema: Type.TSchema): string {
  const title = schemaOption(schema, "title");
  if (title !== undefined) return String(title);
  if (Type.IsUnion(schema)) return schema.anyOf.map(describeSchema).join(" or ");
  if (Type.IsLiteral(schema)) return String(schema.const);
  if (Type.IsEnum(schema)) return `one of ${schema.enum.join(", ")}`;
  if (Type.IsInteger(schema)) return `a whole number${describeRange(schema)}`;
  if (Type.IsNumber(schema)) return `a number${describeRange(schema)}`;
  if (Type.IsBoolean(schema)) return "true or false";
  if (Type.IsArray(schema)) return "a list";
  if (Type.IsObject(schema)) return "keys and values";
  return "text";
}

function describeRange(schema: Type.TSchema): string {
  const [minimum, maximum] = [schemaOption(schema, "minimum"), schemaOption(schema, "maximum")];
  return minimum === undefined || maximum === undefined ? "" : ` from ${minimum} to ${maximum}`;
}

/** TypeBox stores the options of a schema as properties that its types do not declare. */
export function schemaOption(schema: Type.TSchema, name: string): unknown {
  return Object.entries(schema).find(([key]) => key === name)?.[1];
}
