/**
 * Walks a value together with its TypeBox schema. `copyValue` copies a value with replacements; it serves for the parts
 * that a schema marks as secret and for those that it marks as a path.
 *
 * A path is text whose schema was made with `pathText`. `resolvePaths` finds all paths of a value, so that callers need not
 * know where they are.
 */
import { isAbsolute, join } from "node:path";
import Type from "typebox";
import { isRecord } from "./is-record.ts";
import { schemaOption } from "./schema-faults.ts";

/** Returns the replacement of a part of a value, or undefined when the part is copied. `name` is its key in an object. */
export type Replace = (part: unknown, schema: Type.TSchema | undefined, name: string) => unknown;

/** Copies the value. Parts that the schema does not describe are passed with an undefined schema. */
export function copyValue(
  value: unknown,
  schema: Type.TSchema | undefined,
  replace: Replace,
  name = "",
): unknown {
  const replaced = replace(value, schema, name);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) {
    const items = schema && Type.IsArray(schema) ? schema.items : undefined;
    return value.map((item) => copyValue(item, items, replace));
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, copyValue(item, propertyOf(schema, key), replace, key)]),
  );
}

/** The schema of a property of an object, or of the first option of a union that has the property. */
function propertyOf(schema: Type.TSchema | undefined, name: string): Type.TSchema | undefined {
  if (!schema) return undefined;
  if (Type.IsUnion(schema)) {
    return schema.anyOf.map((option) => propertyOf(option, name)).find((property) => property !== undefined);
  }
  if (!Type.IsObject(schema)) return undefined;
  return Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
}

interface PathTextOptions {
  readonly description: string;
  readonly title?: string;
  readonly default?: string;
  /** Values that are not a path, such as `-`. */
  readonly except?: readonly string[];
}

/** The schema of a path. */
export const pathText = ({ except = [], ...options }: PathTextOptions): Type.TString =>
  Type.String({ minLength: 1, maxLength: 4096, ...options, path: except });

/** Returns a copy whose relative paths, which were relative to `folder`, are relative to the working folder. */
export function resolvePaths(value: unknown, schema: Type.TSchema | undefined, folder: string): unknown {
  return copyValue(withDefaultPaths(value, schema), schema, (part, partSchema) => {
    const except = partSchema && schemaOption(partSchema, "path");
    if (typeof part !== "string" || !Array.isArray(except)) return undefined;
    return except.includes(part) || isAbsolute(part) ? part : join(folder, part);
  });
}

/** Adds the default paths, so that they are relative to the same folder as the paths that are given. */
function withDefaultPaths(value: unknown, schema: Type.TSchema | undefined): unknown {
  if (!schema || !Type.IsObject(schema) || !isRecord(value)) return value;
  const defaults = Object.entries(schema.properties).flatMap(([name, property]) => {
    const text = schemaOption(property, "path") && schemaOption(property, "default");
    return text === undefined || Object.hasOwn(value, name) ? [] : [[name, text] as const];
  });
  return { ...value, ...Object.fromEntries(defaults) };
}
