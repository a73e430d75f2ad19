/**
 * The origins of the fields of a merged value. `FIELD_RULES` defines how each field is merged; a field without a row does
 * not compile. A merge that is given a `Provenance` records in it which claim gave each field, and why. Commits give none,
 * so recording costs them nothing.
 */
import type { ClaimTypes } from "../model/claim.ts";
import type { Entities } from "../model/entity.ts";
import { WHY, type Why } from "../model/explanation.ts";
import type { Kind } from "../model/ids.ts";

type FieldMerge =
  /** The field of the first claim that has it, otherwise its default. */
  | "first"
  /** The field of the first claim that has it, otherwise a value that Gazetteer records. */
  | "firstOrTracked"
  /** The annotations: the value of each key is that of the first claim that has the key. */
  | "byKey"
  | "union"
  | "aliases"
  | "verified"
  /** The field of the first claim in the configured order. */
  | "id"
  /** The value that all claims of the entity have. */
  | "identifies"
  | "ends"
  | "derived"
  | "network"
  | "tracked";

/** Every field has a rule except `drift`, which is a separate member of an explanation. */
type FieldRules<K extends Kind> = Readonly<Record<Exclude<keyof Entities[K], "drift">, FieldMerge>>;

const TRACKED = {
  firstSeen: "tracked",
  lastChanged: "tracked",
  sources: "tracked",
  revision: "tracked",
} as const;

const FIELD_RULES = {
  devices: {
    id: "id",
    type: "first",
    available: "first",
    role: "first",
    mfr: "first",
    hw: "first",
    sw: "first",
    serial: "first",
    driver: "first",
    chassisId: "first",
    lastUpdate: "firstOrTracked",
    humanReadableLastUpdate: "derived",
    annotations: "byKey",
    aliases: "aliases",
    ...TRACKED,
  },
  ports: {
    element: "ends",
    port: "id",
    isEnabled: "first",
    type: "first",
    portSpeed: "first",
    annotations: "byKey",
    ...TRACKED,
  },
  links: {
    src: "ends",
    dst: "ends",
    type: "first",
    state: "first",
    annotations: "byKey",
    id: "derived",
    bidirectional: "network",
    verified: "verified",
    ...TRACKED,
  },
  hosts: {
    id: "derived",
    mac: "identifies",
    vlan: "identifies",
    innerVlan: "first",
    outerTpid: "first",
    configured: "first",
    suspended: "first",
    ipAddresses: "union",
    locations: "union",
    auxLocations: "first",
    location: "derived",
    annotations: "byKey",
    ...TRACKED,
  },
} as const satisfies { readonly [K in Kind]: FieldRules<K> };

/** The fields of a kind that are merged by one of the rules `M`. */
export type MergedBy<K extends Kind, M extends FieldMerge> = {
  [F in keyof (typeof FIELD_RULES)[K]]: (typeof FIELD_RULES)[K][F] extends M ? F : never;
}[keyof (typeof FIELD_RULES)[K]] &
  keyof ClaimTypes[K] &
  string;

/** The reasons for fields whose rule leaves nothing to decide. */
const FIXED_REASONS: Readonly<Partial<Record<FieldMerge, Why>>> = {
  ends: WHY.ends,
  derived: WHY.derived,
  network: WHY.network,
  tracked: WHY.tracked,
};

/** The origin of a field. Claims are numbered in the order in which they are merged. */
export interface Origin {
  /** The number of the claim that has the value; undefined if the value is not that of one claim. */
  readonly claim?: number;
  /** The reason; undefined if the order of the claims decided. */
  readonly why?: Why;
  /** The numbers of the claims that have the field, if their order decided. */
  readonly claimants?: readonly number[];
}

export class Provenance<K extends Kind> {
  readonly #kind: K;
  readonly #claims: readonly ClaimTypes[K][];
  readonly #origins = new Map<string, Origin>();
  /** The reasons why claims lost a field to claims of lower precedence, by the name of the field. */
  readonly #outweighed = new Map<string, Why>();

  constructor(kind: K, claims: readonly ClaimTypes[K][]) {
    this.#kind = kind;
    this.#claims = claims;
  }

  /** Returns undefined for a field without an origin of its own: `annotations`, whose keys have one each, and `drift`. */
  originOf(field: string): Origin | undefined {
    const rules: Readonly<Record<string, FieldMerge>> = FIELD_RULES[this.#kind];
    const why = Object.hasOwn(rules, field) ? FIXED_REASONS[rules[field] ?? "byKey"] : undefined;
    return why ? { why } : this.#origins.get(field);
  }

  outweighed(field: string, why: Why): void {
    this.#outweighed.set(field, why);
  }

  /** `claim` is the number of the first claim that has the field, or -1. */
  first(field: MergedBy<K, "first" | "firstOrTracked">, claim: number, content: unknown): void {
    const rules: Readonly<Record<string, FieldMerge>> = FIELD_RULES[this.#kind];
    const otherwise = rules[field] === "firstOrTracked" ? WHY.tracked : WHY.defaultValue;
    // An empty text counts as not claimed.
    if (content === "") this.#origins.set(field, { why: otherwise });
    else this.#setFirst(field, claim, this.#claimants(field), otherwise);
  }

  annotation(key: string, claim: number): void {
    const claimants = this.#claims.flatMap(({ annotations }, i) =>
      annotations && Object.hasOwn(annotations, key) ? [i] : [],
    );
    this.#setFirst(`annotations.${key}`, claim, claimants, WHY.defaultValue);
  }

  #setFirst(name: string, claim: number, claimants: readonly number[], otherwise: Why): void {
    this.#origins.set(name, this.#originOfFirst(name, claim, claimants, otherwise));
  }

  #originOfFirst(name: string, claim: number, claimants: readonly number[], otherwise: Why): Origin {
    if (claimants.length === 0) return { why: otherwise };
    const outweighed = this.#outweighed.get(name) ?? otherwise;
    if (claim < 0) return { why: outweighed };
    if (claimants.length === 1) return { claim, why: WHY.only };
    return claim === claimants[0] ? { claim, claimants } : { claim, why: outweighed };
  }

  #claimants(field: keyof ClaimTypes[K]): number[] {
    return this.#claims.flatMap((claim, i) => (claim[field] === undefined ? [] : [i]));
  }

  union(field: MergedBy<K, "union">): void {
    const [claim, another] = this.#claimants(field).filter((i) => hasItems(this.#claims[i]?.[field]));
    if (claim === undefined) this.#origins.set(field, { why: WHY.defaultValue });
    else this.#origins.set(field, another === undefined ? { claim, why: WHY.only } : { why: WHY.union });
  }

  /** `claim` is the number of the first claim that has verified the link, or -1. */
  verified(field: MergedBy<K, "verified">, claim: number): void {
    if (this.#claimants(field).length === 0) this.#origins.set(field, { why: WHY.defaultValue });
    else if (this.#claims.length === 1) this.#origins.set(field, { claim: 0, why: WHY.only });
    else this.#origins.set(field, claim < 0 ? { why: WHY.union } : { claim, why: WHY.verified });
  }

  /** The aliases are those of the only claim, or of all claims and former ids. */
  aliases(field: MergedBy<K, "aliases">, isOfOneClaim: boolean): void {
    this.#origins.set(field, isOfOneClaim ? { claim: 0, why: WHY.only } : { why: WHY.aliases });
  }

  /** `claim` is the claim that gives the entity its id. */
  id(field: MergedBy<K, "id">, claim: ClaimTypes[K]): void {
    const isOnly = this.#claims.length === 1;
    this.#origins.set(field, { claim: this.#claims.indexOf(claim), why: isOnly ? WHY.only : WHY.id });
  }

  identifies(...fields: readonly MergedBy<K, "identifies">[]): void {
    const origin = this.#claims.length === 1 ? { claim: 0, why: WHY.only } : { why: WHY.identifies };
    for (const field of fields) this.#origins.set(field, origin);
  }
}

const hasItems = (content: unknown): boolean => Array.isArray(content) && content.length > 0;
