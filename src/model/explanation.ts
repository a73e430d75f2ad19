/**
 * The explanation of an entity: what each source claims of it, and why each field has the value that it has. The schema
 * is what `explain=true` returns; `src/view/explain.ts` makes it.
 */
import Type from "typebox";
import { Collection, Drift, int64 } from "./entity.ts";
import { IDENTITY_RULES, SOURCE_ROLES } from "./merge-settings.ts";

/** The reasons for a value, as sentences for people. Each is the whole text of `why`. */
export const WHY = {
  only: "only this source claims it",
  first: "the first source in precedence",
  firstThatClaims: "the first source in precedence that claims it",
  live: "a live source goes before a stale one",
  answering: "a source that the device answers goes before one that it does not answer",
  real: "a value that identifies the device goes before a placeholder",
  union: "what all sources claim, together",
  verified: "one source that has verified it is enough",
  defaultValue: "no source claims it: the default",
  id: "the first source in the configured order gives the id",
  identifies: "it identifies the entity: the same in all claims",
  aliases: "its other ids: those that sources use or name, and former ones",
  ends: "the ids of its devices, as they are shown",
  derived: "derived from other fields",
  network: "derived from the rest of the network",
  tracked: "recorded by Gazetteer",
} as const;
export type Why = (typeof WHY)[keyof typeof WHY];

/** The reasons why an entity that is claimed is not in the lists. */
export const NOT_SHOWN = {
  heldBack: "a device that it refers to is not known",
  missing: "only intended sources claim it",
} as const;

export const ExplainedClaim = Type.Object(
  {
    source: Type.String(),
    role: Type.Enum(SOURCE_ROLES, { $id: "SourceRole" }),
    status: Type.Enum(["live", "stale"], { $id: "ClaimStatus" }),
    staleSince: Type.Optional(Type.String({ format: "date-time" })),
    id: Type.String({ description: "The id that the source uses." }),
    claim: Type.Record(Type.String(), Type.Unknown(), {
      description: "The record of the source. A field that is left out is not claimed.",
    }),
  },
  { $id: "ExplainedClaim" },
);
export type ExplainedClaim = Type.Static<typeof ExplainedClaim>;

export const ExplainedField = Type.Object(
  {
    value: Type.Unknown(),
    source: Type.Union([Type.String(), Type.Null()], {
      $id: "SourceOrNull",
      description: "The source whose claim has the value; null where it is not of one source.",
    }),
    why: Type.String({ description: `One of: ${Object.values(WHY).join("; ")}.` }),
  },
  { $id: "ExplainedField" },
);
export type ExplainedField = Type.Static<typeof ExplainedField>;

export const SharedIdentity = Type.Object(
  {
    rule: Type.Enum(IDENTITY_RULES, { $id: "IdentityRule" }),
    value: Type.String(),
    ids: Type.Array(Type.String(), { description: "The claimed ids that have it." }),
  },
  { $id: "SharedIdentity", description: "A value by which devices of several sources are one." },
);
export type SharedIdentity = Type.Static<typeof SharedIdentity>;

export const Explanation = Type.Object(
  {
    kind: Collection,
    id: Type.String(),
    revision: Type.Optional(
      int64("The view's revision at which the entity last changed; absent where it is not shown."),
    ),
    notShown: Type.Optional(
      Type.String({
        description: `Only of an entity that is claimed and not in the lists: ${Object.values(NOT_SHOWN).join(", or ")}.`,
      }),
    ),
    identity: Type.Optional(
      Type.Array(SharedIdentity, { description: "Of a device that is known by several ids: why it is one." }),
    ),
    claims: Type.Array(ExplainedClaim, {
      description: "In order of precedence: observed sources before intended ones, live before stale ones.",
    }),
    fields: Type.Record(Type.String(), ExplainedField, {
      description: "By field, an annotation as `annotations.KEY`; empty where the entity is not shown.",
    }),
    drift: Type.Optional(Drift),
  },
  { $id: "Explanation" },
);
export type Explanation = Type.Static<typeof Explanation>;
