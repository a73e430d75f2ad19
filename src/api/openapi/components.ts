/**
 * Schemas as components of the OpenAPI document. A schema with an `$id` becomes the component of that name and is replaced
 * by a reference wherever it is nested, so that a generated client has one named type for it.
 *
 * The schemas of TypeBox are changed to what generators expect:
 * - A map is written with `additionalProperties`, and an enum has a type.
 * - An object may have more fields than it lists, unless its schema forbids it, because later versions of the interface add
 *   fields, and generated clients in Go and Java reject unknown fields unless the document allows them.
 * - The values of an enum have names that no other enum has, because in Go they are constants of the whole package.
 */

export type Json = Readonly<Record<string, unknown>>;

/** A JSON schema, made by TypeBox or written as an object. */
export type Schema = object;

/** The name of a schema that is a component; undefined for any other. */
export const schemaName = (schema: Schema): string | undefined =>
  "$id" in schema && typeof schema.$id === "string" ? schema.$id : undefined;

const schemaRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A schema where it is used: a reference if it has a name, otherwise itself. */
export function renderSchema(schema: Schema): Json {
  const name = schemaName(schema);
  return name === undefined ? renderBody(schema) : schemaRef(name);
}

/** The components of these schemas and of all that are nested in them, in alphabetical order. */
export function renderComponents(schemas: readonly Schema[]): Json {
  const components = new Map<string, Schema>();
  for (const schema of schemas) collect(schema, components);
  const rendered = [...components].map(([name, schema]) => [name, renderComponent(name, schema)] as const);
  return Object.fromEntries(rendered.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function collect(value: unknown, components: Map<string, Schema>): void {
  if (Array.isArray(value)) for (const item of value) collect(item, components);
  if (!isObject(value)) return;
  const name = schemaName(value);
  if (name !== undefined) {
    if (components.has(name)) return;
    components.set(name, value);
  }
  for (const inner of Object.values(value)) collect(inner, components);
}

function renderComponent(name: string, schema: Schema): Json {
  const rendered = renderBody(schema);
  if (!Array.isArray(rendered.enum)) return rendered;
  return {
    ...rendered,
    "x-enum-varnames": rendered.enum.map((value) => `${name}${variableName(String(value))}`),
  };
}

/** Converts `link-lost` to `LinkLost`, `ROADM_OTN` to `RoadmOtn`, and `-annotations.name` to `AnnotationsNameDescending`. */
function variableName(value: string): string {
  const words = (value === value.toUpperCase() ? value.toLowerCase() : value).split(/[^a-zA-Z0-9]+/);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return value.startsWith("-") ? `${name}Descending` : name;
}

/** The pattern of `Type.Record` with any text as its key. */
const ANY_KEY = "^.*$";

/** Renders a schema without `$id`, which would make it the root of its own references. */
function renderBody(schema: Schema): Json {
  const rendered: Record<string, unknown> = "enum" in schema ? { type: "string" } : {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "$id") continue;
    if (key === "patternProperties" && isObject(value) && isObject(value[ANY_KEY]))
      rendered.additionalProperties = renderSchema(value[ANY_KEY]);
    else rendered[key] = renderValue(value);
  }
  if (rendered.type === "object") rendered.additionalProperties ??= true;
  return rendered;
}

function renderValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renderValue);
  return isObject(value) ? renderSchema(value) : value;
}
