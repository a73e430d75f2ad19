/**
 * Faults of a configuration as values: what is wrong, at which key, and where in the file. A check reports all faults
 * at once; an unknown key comes with the nearest known one. Callers decide what to do with them: `gazetteer check`
 * lists all, `gazetteer serve` shows the first.
 */
import Type from "typebox";
import Value from "typebox/value";
import { nearest } from "../lib/nearest.ts";

export type KeyPath = readonly (string | number)[];

/** A value that does not match its schema. */
export interface SchemaFault {
  readonly path: KeyPath;
  readonly message: string;
  /** The key itself is wrong, not its value. */
  readonly atKey?: true;
}

export interface FilePosition {
  readonly file: string;
  /** Absent when the fault concerns the file as a whole. */
  readonly line?: number;
}

export interface ConfigFault {
  /** Absent when the fault is not inside a file: a flag, or a file that cannot be read. */
  readonly position?: FilePosition | undefined;
  /** Empty when the fault does not belong to one key. */
  readonly path: KeyPath;
  readonly message: string;
}

/** `gazetteer.yaml:12: limits.pageLimit: must be …`, without the parts the fault does not have. */
export function renderFault({ position, path, message }: ConfigFault): string {
  const parts = [message];
  if (path.length > 0) parts.unshift(formatPath(path));
  if (position) parts.unshift(formatPosition(position));
  return parts.join(": ");
}

const formatPosition = ({ file, line }: FilePosition) => (line === undefined ? file : `${file}:${line}`);

/** `limits.pageLimit`, `sources[2].name`. */
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
    return [{ path, message: `must have at most ${schemaOption(schema, "maxItems")} entries` }];
  }
  return Value.Check(schema, value) ? [] : [{ path, message: `must be ${describeSchema(schema)}` }];
}

function findObjectFaults(schema: Type.TObject, value: unknown, path: KeyPath): SchemaFault[] {
  // A section whose lines are all comments is null in YAML.
  if (value === null && path.length > 0) return [];
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [{ path, message: "must be keys and values" }];
  }
  const knownKeys = Object.keys(schema.properties);
  return Object.entries(value).flatMap(([key, item]): SchemaFault[] => {
    const property = schema.properties[key];
    if (property) return findSchemaFaults(property, item, [...path, key]);
    if (schemaOption(schema, "additionalProperties") !== false) return [];
    const near = nearest(key, knownKeys);
    const hint = near === undefined ? `known here: ${knownKeys.join(", ")}` : `did you mean ${near}?`;
    return [{ path: [...path, key], message: `unknown key; ${hint}`, atKey: true }];
  });
}

/** The values a schema accepts, as the rest of "must be …". */
export function describeSchema(schema: Type.TSchema): string {
  if (Type.IsUnion(schema)) return schema.anyOf.map(describeSchema).join(" or ");
  if (Type.IsLiteral(schema)) return String(schema.const);
  if (Type.IsEnum(schema)) return `one of ${schema.enum.join(", ")}`;
  if (Type.IsInteger(schema)) return `a whole number${describeRange(schema)}`;
  if (Type.IsNumber(schema)) return `a number${describeRange(schema)}`;
  if (Type.IsBoolean(schema)) return "true or false";
  if (Type.IsArray(schema)) return "a list";
  return String(schemaOption(schema, "title") ?? "text");
}

function describeRange(schema: Type.TSchema): string {
  return ` from ${schemaOption(schema, "minimum")} to ${schemaOption(schema, "maximum")}`;
}

/** TypeBox stores the options of a schema as properties that its types do not declare. */
function schemaOption(schema: Type.TSchema, name: string): unknown {
  return Object.entries(schema).find(([key]) => key === name)?.[1];
}
