/**
 * What is wrong with a configuration, all of it at once and in words for a person: the key, what it must be, and for
 * a key nobody knows the nearest one there is. The checks themselves are the schema's.
 */
import Type from "typebox";
import Value from "typebox/value";
import { nearest } from "../lib/nearest.ts";

export type KeyPath = readonly (string | number)[];

export interface ConfigFault {
  readonly path: KeyPath;
  readonly message: string;
  /** The fault is the key itself, not its value. */
  readonly atKey?: true;
}

export function faultsOf(schema: Type.TSchema, value: unknown, path: KeyPath = []): ConfigFault[] {
  if (Type.IsObject(schema)) return objectFaults(schema, value, path);
  if (Type.IsArray(schema) && Array.isArray(value)) {
    const inside = value.flatMap((item, i) => faultsOf(schema.items, item, [...path, i]));
    if (inside.length > 0 || Value.Check(schema, value)) return inside;
    return [{ path, message: `must have at most ${option(schema, "maxItems")} entries` }];
  }
  return Value.Check(schema, value) ? [] : [{ path, message: `must be ${expected(schema)}` }];
}

function objectFaults(schema: Type.TObject, value: unknown, path: KeyPath): ConfigFault[] {
  // A section whose lines are all comments is null in YAML.
  if (value === null && path.length > 0) return [];
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [{ path, message: "must be keys and values" }];
  }
  const known = Object.keys(schema.properties);
  return Object.entries(value).flatMap(([key, inside]): ConfigFault[] => {
    const property = schema.properties[key];
    if (property) return faultsOf(property, inside, [...path, key]);
    if (option(schema, "additionalProperties") !== false) return [];
    const near = nearest(key, known);
    const hint = near === undefined ? `known here: ${known.join(", ")}` : `did you mean ${near}?`;
    return [{ path: [...path, key], message: `unknown key; ${hint}`, atKey: true }];
  });
}

/** What a schema wants, in words. */
export function expected(schema: Type.TSchema): string {
  if (Type.IsUnion(schema)) return schema.anyOf.map(expected).join(" or ");
  if (Type.IsLiteral(schema)) return String(schema.const);
  if (Type.IsEnum(schema)) return `one of ${schema.enum.join(", ")}`;
  if (Type.IsInteger(schema)) return `a whole number${range(schema)}`;
  if (Type.IsNumber(schema)) return `a number${range(schema)}`;
  if (Type.IsBoolean(schema)) return "true or false";
  if (Type.IsArray(schema)) return "a list";
  return String(option(schema, "title") ?? "text");
}

function range(schema: Type.TSchema): string {
  return ` from ${option(schema, "minimum")} to ${option(schema, "maximum")}`;
}

/** TypeBox keeps what a schema was made with, but its types do not tell. */
function option(schema: Type.TSchema, name: string): unknown {
  return Object.entries(schema).find(([key]) => key === name)?.[1];
}

/** `limits.pageLimit`, `sources[2].name`. */
export function shownPath(path: KeyPath): string {
  return path
    .map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join("");
}
