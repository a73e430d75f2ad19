/**
 * The origins of the fields of a merged value. `FIELD_RULES` defines how each field is merged; a field without a row does
 * not compile. A merge whose context has a `Provenance` records in it which claim gave each field, and why. Commits give none,
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

/** The fields of a kind that are those of the first claim that has them. */
export type FirstFields<K extends Kind> = {
  [F in keyof (typeof FIELD_RULES)[K]]: (typeof FIELD_RULES)[K][F] extends "first" | "firstOrTracked"
    ? F
    : never;
}[keyof (typeof FIELD_RULES)[K]] &
  keyof ClaimTypes[K] &
  string;

/** The origin of a field. Claims are numbered in the order in which they are merged. */
export interface Origin {
  /** The number of the claim that has the value; undefined if the value is not that of one claim. */
  readonly claim?: number;
  /** The reason; undefined if the order of the claims decided. */
  readonly why?: Why;
  /** The numbers of the claims that have the field, if their order decided. */
  readonly claimants?: readonly number[];
}

const ANNOTATION = "annotations.";

/** The decisions of one merge. A field is named by its name, and an annotation by `annotations.KEY`. */
export class Provenance {
  readonly #rules: Readonly<Record<string, FieldMerge>>;
  readonly #claims: readonly ClaimTypes[Kind][];
  readonly #chosen = new Map<string, number>();
  /** The reasons why claims lost a field to claims of lower precedence. */
  readonly #outweighed = new Map<string, Why>();

  constructor(kind: Kind, claims: readonly ClaimTypes[Kind][]) {
    this.#rules = FIELD_RULES[kind];
    this.#claims = claims;
  }

  /** Records the number of the claim that gives the field its value; -1 if none does. */
  choose(name: string, claim: number): void {
    this.#chosen.set(name, claim);
  }

  outweighed(name: string, why: Why): void {
    this.#outweighed.set(name, why);
  }

  /** Returns undefined for a field without an origin of its own: `annotations`, whose keys have one each, and `drift`. */
  originOf(name: string): Origin | undefined {
    const isAnnotation = name.startsWith(ANNOTATION);
    const rule = isAnnotation ? "first" : Object.hasOwn(this.#rules, name) ? this.#rules[name] : undefined;
    const only = this.#claims.length === 1 ? { claim: 0, why: WHY.only } : undefined;
    const claim = this.#chosen.get(name) ?? -1;
    switch (rule) {
      case "first":
        return this.#originOfFirst(name, claim, WHY.defaultValue);
      case "firstOrTracked":
        return this.#originOfFirst(name, claim, WHY.tracked);
      case "union": {
        const [first, another] = this.#claimants(name, hasItems);
        if (first === undefined) return { why: WHY.defaultValue };
        return another === undefined ? { claim: first, why: WHY.only } : { why: WHY.union };
      }
      case "aliases":
        return claim < 0 ? { why: WHY.aliases } : { claim, why: WHY.only };
      case "verified":
        if (this.#claimants(name).length === 0) return { why: WHY.defaultValue };
        return only ?? (claim < 0 ? { why: WHY.union } : { claim, why: WHY.verified });
      case "id":
        return only ?? { claim, why: WHY.id };
      case "identifies":
        return only ?? { why: WHY.identifies };
      case "ends":
      case "derived":
      case "network":
      case "tracked":
        return { why: WHY[rule] };
      default:
        return undefined;
    }
  }

  #originOfFirst(name: string, claim: number, otherwise: Why): Origin {
    const claimants = this.#claimants(name);
    if (claimants.length === 0) return { why: otherwise };
    const outweighed = this.#outweighed.get(name) ?? otherwise;
    if (claim < 0) return { why: outweighed };
    if (claimants.length === 1) return { claim, why: WHY.only };
    return claim === claimants[0] ? { claim, claimants } : { claim, why: outweighed };
  }

  /** The numbers of the claims with this field. */
  #claimants(name: string, isClaimed = isDefined): number[] {
    return this.#claims.flatMap((claim, i) => (isClaimed(contentOf(claim, name)) ? [i] : []));
  }
}

function contentOf(claim: ClaimTypes[Kind], name: string): unknown {
  const isAnnotation = name.startsWith(ANNOTATION);
  const members: object = isAnnotation ? (claim.annotations ?? {}) : claim;
  const key = isAnnotation ? name.slice(ANNOTATION.length) : name;
  return Object.hasOwn(members, key) ? Reflect.get(members, key) : undefined;
}

const isDefined = (content: unknown): boolean => content !== undefined;
const hasItems = (content: unknown): boolean => Array.isArray(content) && content.length > 0;
