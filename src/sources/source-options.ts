/**
 * The options that an entry of every kind of source may have, besides `type`, `name` and those of its kind. They define how
 * the claims of the source are merged and when they are withdrawn. The source itself does not receive them.
 */
import Type from "typebox";
import Value from "typebox/value";
import { SOURCE_ROLES } from "../model/merge-settings.ts";

const YEAR_SECONDS = 366 * 86_400;

export const CommonOptions = Type.Object(
  {
    role: Type.Enum([...SOURCE_ROLES], {
      default: "observed",
      description:
        "`intended` is the plan: the network is compared with it, and it adds nothing to what is observed.",
    }),
    merge: Type.Boolean({
      default: true,
      description:
        "`false`: its devices are joined with those of other sources by equal ids only, never by the rules of `identity`.",
    }),
    withdrawAfterSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: YEAR_SECONDS,
        description:
          "The time after which the claims of a source that fails are withdrawn. Absent is never. They come back when it reports again.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type CommonOptions = Readonly<Type.Static<typeof CommonOptions>>;

const isCommon = (name: string): boolean => Object.hasOwn(CommonOptions.properties, name);

/** The options of an entry that are not common to all kinds. */
export const withoutCommonOptions = (entry: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => !isCommon(name)));

/** The common options of an entry that was checked, with their defaults. */
export function commonOptionsOf(entry: object): CommonOptions {
  const given = Object.fromEntries(Object.entries(entry).filter(([name]) => isCommon(name)));
  return Value.Parse(CommonOptions, Value.Default(CommonOptions, given));
}

// All polled sources have this option.

const MAX_INTERVAL_SECONDS = 86_400;

/** The schema of the polling interval, in seconds. Each kind of source has its own default. */
export const intervalSeconds = (defaultSeconds: number) =>
  Type.Integer({
    minimum: 1,
    maximum: MAX_INTERVAL_SECONDS,
    default: defaultSeconds,
    description: "Seconds between two polls.",
  });
