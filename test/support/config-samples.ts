/** Three valid values for any key of the configuration, made from its schema, so that tests can walk all keys. */
import Type from "typebox";
import Value from "typebox/value";
import type { ConfigKey } from "../../src/config/settings.ts";
import { schemaOption } from "../../src/lib/schema-faults.ts";

/**
 * Values that differ from each other; of a key that has only two values, the first differs from the default. Fails for a key of
 * a kind that it does not know: add one then.
 */
export function sampleValues(key: ConfigKey): [first: unknown, second: unknown, third: unknown] {
  const [first, second = key.defaultValue, third = first] = samplesOf(key.schema).filter(
    (value) => Value.Check(key.schema, value) && !Bun.deepEquals(value, key.defaultValue),
  );
  if (first === undefined || second === undefined) throw new Error(`no sample values for ${key.name}`);
  return [first, second, third];
}

function samplesOf(schema: Type.TSchema): unknown[] {
  if (Type.IsUnion(schema)) return schema.anyOf.flatMap(samplesOf);
  if (Type.IsLiteral(schema)) return [schema.const];
  if (Type.IsEnum(schema)) return [...schema.enum];
  if (Type.IsBoolean(schema)) return [true, false];
  if (Type.IsInteger(schema) || Type.IsNumber(schema)) {
    const minimum = Number(schemaOption(schema, "minimum") ?? 0);
    return [7, 8, 9, 0, 1, 2, 3].map((n) => n + minimum);
  }
  if (Type.IsArray(schema)) return samplesOf(schema.items).map((item) => [item]);
  if (Type.IsObject(schema)) return [1, 2, 3].flatMap(objectSamples);
  return [1, 2, 3].flatMap((n) => [
    `sample-${n}`,
    `https://sample-${n}.example`,
    `192.0.2.${n}`,
    `nats://127.0.0.${n}:4222`,
    { type: "demo", devices: n },
  ]);
}

/** An entry of each list of objects with a schema of their own. */
const objectSamples = (n: number): unknown[] => [
  { name: `sample-${n}`, kind: "device", url: `https://sample-${n}.example/{id}` },
  { name: `sample-${n}`, state: `view=devices&filter=sample-${n}` },
  { url: `http://sample-${n}.example:9090`, queries: [{ name: `sample-${n}`, query: "up" }] },
];

/** As a variable of the environment holds it. */
export function textOf(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  return value.every((item) => typeof item === "string") ? value.join(",") : JSON.stringify(value);
}
