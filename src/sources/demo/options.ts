/** The options of the `demo` source, and their short form `devices=50,hosts=300`. */
import Type from "typebox";
import { findSchemaFaults, type SchemaFault } from "../../lib/schema-faults.ts";

export const DemoOptions = Type.Object(
  {
    devices: Type.Integer({ minimum: 1, maximum: 50_000, default: 50, description: "Routers and switches." }),
    hosts: Type.Integer({ minimum: 0, maximum: 2_000_000, default: 300, description: "Hosts." }),
    churn: Type.Number({ minimum: 0, maximum: 10_000, default: 1 / 3, description: "Changes per second." }),
    seed: Type.Integer({
      minimum: 0,
      maximum: 4_294_967_295,
      default: 1,
      description: "The same seed gives the same network.",
    }),
  },
  { additionalProperties: false },
);
export type DemoOptions = Type.Static<typeof DemoOptions>;

export type DemoSpec =
  | { readonly ok: true; readonly options: object }
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
  return faults.length === 0 ? { ok: true, options: values } : { ok: false, faults };
}
