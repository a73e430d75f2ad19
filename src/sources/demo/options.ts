/** The options of the `demo` source, and their short form `devices=50,hosts=300`. */
import Type from "typebox";
import { Compile } from "typebox/compile";
import { type OptionFault, optionFault, suggestion } from "../option-fault.ts";

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

const check = Compile(DemoOptions);
const names = Object.keys(DemoOptions.properties);

export type DemoSpec =
  | { readonly ok: true; readonly options: DemoOptions }
  | { readonly ok: false; readonly fault: OptionFault };

const fail = (field: string, message: string): DemoSpec => ({ ok: false, fault: { field, message } });

/** `devices=N,hosts=N,churn=PER_SECOND,seed=N`, each at most once and in any order. Empty means all defaults. */
export function parseDemoSpec(text: string): DemoSpec {
  const options: Record<string, number> = {};
  for (const part of text.split(",").map((piece) => piece.trim())) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = equals < 0 ? part : part.slice(0, equals).trim();
    const value = equals < 0 ? "" : part.slice(equals + 1).trim();
    if (!names.includes(name)) return fail(name, `is not an option${suggestion(name, names)}`);
    if (name in options) return fail(name, "is given twice");
    if (!/^\d+(\.\d+)?$/.test(value)) return fail(name, `must be a number, as in ${name}=10`);
    options[name] = Number(value);
  }
  if (!check.Check(options)) return { ok: false, fault: optionFault(check.Errors(options), names) };
  return { ok: true, options };
}
