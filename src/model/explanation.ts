/**
 * The explanation of an entity: what each source claims of it, and why each field has the value that it has. The schema
 * is what `explain=true` returns; `src/view/explain.ts` makes it.
 */
import Type from "typebox";
import { Collection, Drift } from "./entity.ts";
import { IDENTITY_RULES, SOURCE_ROLES } from "./merge-settings.ts";
import { int64, text, texts } from "./schema-parts.ts";

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
    id: text("The id that the source uses."),
    claim: Type.Record(Type.String(), Type.Unknown(), {
      description: "The record of the source. The source does not claim a field that is absent.",
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
      description: "The source whose claim has the value; null if the value does not come from one source.",
    }),
    why: text(`The reason for the value. One of: ${Object.values(WHY).join("; ")}.`),
  },
  { $id: "ExplainedField" },
);
export type ExplainedField = Type.Static<typeof ExplainedField>;

export const SharedIdentity = Type.Object(
  {
    rule: Type.Enum(IDENTITY_RULES, { $id: "IdentityRule" }),
    value: Type.String(),
    ids: texts("The claimed ids whose devices have the value."),
  },
  {
    $id: "SharedIdentity",
    description: "A value because of which devices of several sources are one device.",
  },
);
export type SharedIdentity = Type.Static<typeof SharedIdentity>;

export const Explanation = Type.Object(
  {
    kind: Collection,
    id: Type.String(),
    revision: Type.Optional(
      int64("The revision of the view at which the entity last changed; absent if the entity is not shown."),
    ),
    notShown: Type.Optional(
      text(
        `The reason why the entity is claimed but not in the lists: ${Object.values(NOT_SHOWN).join(", or ")}. Absent for all other entities.`,
      ),
    ),
    identity: Type.Optional(
      Type.Array(SharedIdentity, {
        description:
          "The values because of which several ids are one device. Present only for a device that is known by several ids.",
      }),
    ),
    claims: Type.Array(ExplainedClaim, {
      description:
        "The claims in order of precedence: observed sources before intended ones, live sources before stale ones.",
    }),
    fields: Type.Record(Type.String(), ExplainedField, {
      description:
        "The explanation of each field by its name. The name of an annotation is `annotations.KEY`. Empty if the entity is not shown.",
    }),
    drift: Type.Optional(Drift),
  },
  { $id: "Explanation" },
);
export type Explanation = Type.Static<typeof Explanation>;
