/** The options of the `demo` source, and their short form `devices=50,hosts=300`. */
import Type from "typebox";
import Value from "typebox/value";
import type { SchemaFault } from "../../lib/schema-faults.ts";
import { findSchemaFaults } from "../../lib/schema-faults.ts";

export const DemoOptions = Type.Object(
  {
    devices: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 50_000, description: "Routers and switches. Default 50." }),
    ),
    hosts: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 2_000_000, description: "Hosts. Default 300." }),
    ),
    churn: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 10_000,
        description: "Changes per second. Default: one every three seconds.",
      }),
    ),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 4_294_967_295,
        description: "The same seed gives the same network. Default 1.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type DemoOptions = Type.Static<typeof DemoOptions>;

export const DEMO_DEFAULTS: Required<DemoOptions> = { devices: 50, hosts: 300, churn: 1 / 3, seed: 1 };

export type DemoSpec =
  | { readonly ok: true; readonly options: DemoOptions }
  | { readonly ok: false; readonly faults: readonly SchemaFault[] };

/** Parses `devices=N,hosts=N,churn=PER_SECOND,seed=N`, each at most once and in any order. Empty text means all defaults. */
export function parseDemoSpec(text: string): DemoSpec {
  const options = new Map<string, number | string>();
  const faults: SchemaFault[] = [];
  for (const part of text.split(",").map((piece) => piece.trim())) {
    if (part === "") continue;
    const [name = "", value = ""] = part.split(/\s*=\s*/, 2);
    if (options.has(name)) faults.push({ path: [name], message: "is given twice" });
    // A value that is not a number stays text, so that the schema check reports what it must be.
    options.set(name, /^\d+(\.\d+)?$/.test(value) ? Number(value) : value);
  }
  const values = Object.fromEntries(options);
  faults.push(...findSchemaFaults(DemoOptions, values));
  if (faults.length === 0 && Value.Check(DemoOptions, values)) return { ok: true, options: values };
  return { ok: false, faults };
}
