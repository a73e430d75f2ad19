import { describe, expect, test } from "bun:test";
import type { Claim } from "../model/claim.ts";
import type { Entities } from "../model/entity.ts";
import { NOT_SHOWN, WHY } from "../model/explanation.ts";
import type { Kind } from "../model/ids.ts";
import type { SourceRole } from "../model/merge-settings.ts";
import { explain, explainEntity } from "./explain.ts";
import type { StoredClaims } from "./indexes.ts";
import { mergeClaims } from "./merge.ts";
import { MergeRules, type SourceFacts } from "./merge-rules.ts";

const STALE_SINCE = Date.parse("2026-11-15T03:00:00Z");

interface Sources {
  readonly stale?: readonly string[];
  readonly intended?: readonly string[];
}

/** Sources `a`, `b`, `c` in this order. */
function rulesOf({ stale = [], intended = [] }: Sources = {}): MergeRules {
  const roleOf = (name: string): SourceRole => (intended.includes(name) ? "intended" : "observed");
  const sources = ["a", "b", "c"].map((name) => ({ name, role: roleOf(name), merge: true }));
  const facts = new Map<string, SourceFacts>(
    stale.map((name) => [name, { hasSynced: true, staleSince: STALE_SINCE }]),
  );
  return new MergeRules({ identity: ["chassisId"], sources }, facts);
}

const byPrecedence = (claims: StoredClaims, rules: MergeRules): StoredClaims =>
  claims.filter(([source]) => !rules.isIntended(source)).sort(([a], [b]) => rules.comparePrecedence(a, b));

function merged<K extends Kind>(kind: K, claims: StoredClaims, rules: MergeRules, conflict?: string) {
  const observed = byPrecedence(claims, rules);
  // The claims of a case are of its kind.
  const ofKind = observed.map(([, claim]) => claim as Parameters<typeof mergeClaims<K>>[1][number]);
  const [first] = observed.toSorted(([a], [b]) => rules.compareRank(a, b));
  if (!first) return undefined;
  return mergeClaims(kind, ofKind, {
    now: 0,
    before: undefined,
    tracking: { firstSeen: "", lastChanged: "", sources: observed.map(([name]) => name), revision: 7 },
    leader: first[1] as (typeof ofKind)[number],
    formerIds: [],
    isOtherDevice: () => false,
    shownPort: (device: string, port: string) => ({ device, port }),
    flagsOf: () => ({ hasReverse: false, conflict }),
  });
}

function explained<K extends Kind>(kind: K, claims: StoredClaims, sources?: Sources, conflict?: string) {
  const rules = rulesOf(sources);
  const value = merged(kind, claims, rules, conflict) as Entities[Kind] | undefined;
  return explain({ kind, id: "unused", claims, rules, value });
}

const device = (fields: object = {}): Claim => ({ id: "d1", ...fields });
const host = (fields: object = {}): Claim => ({
  mac: "00:00:00:00:00:01",
  vlan: "None",
  locations: [{ elementId: "d1", port: "1" }],
  ...fields,
});
const link = (fields: object = {}): Claim => ({
  src: { device: "d1", port: "1" },
  dst: { device: "d2", port: "2" },
  ...fields,
});
const port = (fields: object = {}): Claim => ({ element: "d1", port: "1", ...fields });
const named = (name: string) => ({ annotations: { name } });
const UNANSWERED = { available: false, annotations: { unansweredSince: "2026-11-15T03:00:00Z" } };

/** The claimed fields by source; the others are those of the kind's base. */
type Fields = Readonly<Record<string, object>>;
type Gives = readonly [value: unknown, source: string | null, why: string];
type Case = readonly [what: string, kind: Kind, field: string, Fields, Gives, Sources?, conflict?: string];

const BASES: Readonly<Record<Kind, (fields: object) => Claim>> = {
  devices: device,
  ports: port,
  links: link,
  hosts: host,
};
const claimsOf = (kind: Kind, fields: Fields): StoredClaims =>
  Object.entries(fields).map(([source, claimed]) => [source, BASES[kind](claimed)]);

const STALE_A = { stale: ["a"] };
const TWO_SOURCES = { a: {}, b: {} };
const AVAILABLE = { available: true };
const UNVERIFIED = { verified: false };

const CASES: readonly Case[] = [
  ["one source", "devices", "type", { a: { type: "ROUTER" } }, ["ROUTER", "a", WHY.only]],
  ["only the second source claims it", "devices", "hw", { a: {}, b: { hw: "X" } }, ["X", "b", WHY.only]],
  ["two sources claim it", "devices", "hw", { b: { hw: "Y" }, a: { hw: "X" } }, ["X", "a", WHY.first]],
  ["the first does not claim it", "devices", "hw", { a: {}, b: { hw: "Y" }, c: { hw: "Z" } }, ["Y", "b", WHY.firstThatClaims]],
  ["the first is stale", "devices", "hw", { a: { hw: "X" }, b: { hw: "Y" } }, ["Y", "b", WHY.live], STALE_A],
  ["only a stale source claims it", "devices", "hw", { a: { hw: "X" }, b: {} }, ["X", "a", WHY.only], STALE_A],
  ["the first source gives the id although it is stale", "devices", "id", TWO_SOURCES, ["d1", "a", WHY.id], STALE_A],
  ["an intended source gives nothing", "devices", "hw", { a: { hw: "X" }, b: {} }, ["unknown", null, WHY.defaultValue], { intended: ["a"] }],
  ["nobody claims it", "devices", "type", { a: {} }, ["SWITCH", null, WHY.defaultValue]],
  ["an empty text", "devices", "serial", { a: { serial: "" } }, ["unknown", null, WHY.defaultValue]],
  ["the second source gets answers", "devices", "available", { a: UNANSWERED, b: AVAILABLE }, [true, "b", WHY.answering]],
  ["the second source only knows it", "devices", "available", { a: UNANSWERED, b: {} }, [true, null, WHY.answering]],
  ["the first source has a placeholder", "devices", "serial", { a: { serial: "None" }, b: { serial: "S1" } }, ["S1", "b", WHY.real]],
  ["nobody claims when that changed", "devices", "lastUpdate", { a: {} }, ["0", null, WHY.tracked]],
  ["a source claims when that changed", "devices", "lastUpdate", { a: { lastUpdate: "5" } }, ["5", "a", WHY.only]],
  ["for people", "devices", "humanReadableLastUpdate", { a: {} }, ["connected since 1970-01-01T00:00:00Z", null, WHY.derived]],
  ["aliases of one source", "devices", "aliases", { a: { aliases: ["x"] } }, [["x"], "a", WHY.only]],
  ["aliases of two sources", "devices", "aliases", { a: { aliases: ["x"] }, b: { aliases: ["y"] } }, [["x", "y"], null, WHY.aliases]],
  ["an annotation", "devices", "annotations.name", { a: named("n"), b: named("m") }, ["n", "a", WHY.first]],
  ["an annotation that every device has", "devices", "annotations.protocol", { a: {} }, ["", null, WHY.defaultValue]],
  ["the name of a built-in property", "devices", "annotations.constructor", { a: {}, b: { annotations: { constructor: "n" } } }, ["n", "b", WHY.only]],
  ["what Gazetteer records", "devices", "sources", { a: {} }, [["a"], null, WHY.tracked]],
  ["a conflict", "links", "annotations.conflict", { a: {} }, ["two links", null, WHY.network], {}, "two links"],
  ["a conflict beside a claimed one", "links", "annotations.conflict", { a: { annotations: { conflict: "mine" } } }, ["mine; two links", null, WHY.network], {}, "two links"],
  ["an end of a link", "links", "src", { a: {} }, [{ device: "d1", port: "1" }, null, WHY.ends]],
  ["the other direction", "links", "bidirectional", { a: {} }, [false, null, WHY.network]],
  ["one of two sources has verified it", "links", "verified", { a: UNVERIFIED, b: {} }, [true, "b", WHY.verified]],
  ["no source has verified it", "links", "verified", { a: UNVERIFIED, b: UNVERIFIED }, [false, null, WHY.union]],
  ["the source does not say", "links", "verified", { a: {} }, [true, null, WHY.defaultValue]],
  ["addresses of two sources", "hosts", "ipAddresses", { a: { ipAddresses: ["10.0.0.2"] }, b: { ipAddresses: ["10.0.0.1"] } }, [["10.0.0.1", "10.0.0.2"], null, WHY.union]],
  ["addresses of one of two sources", "hosts", "ipAddresses", { a: { ipAddresses: [] }, b: { ipAddresses: ["10.0.0.1"] } }, [["10.0.0.1"], "b", WHY.only]],
  ["no addresses", "hosts", "ipAddresses", { a: {} }, [[], null, WHY.defaultValue]],
  ["the MAC address", "hosts", "mac", TWO_SOURCES, ["00:00:00:00:00:01", null, WHY.identifies]],
  ["the number of a port", "ports", "port", TWO_SOURCES, ["1", "a", WHY.id]],
]; // biome-ignore format: one line a case

describe("why a field has its value", () => {
  test.each(CASES.map((row) => [`${row[0]}: ${row[1]} ${row[2]}`, row] as const))("%s", (_name, row) => {
    const [, kind, field, claimed, [value, source, why], sources, conflict] = row;
    const { fields } = explained(kind, claimsOf(kind, claimed), sources, conflict);
    expect(fields[field]).toEqual({ value, source, why });
  });

  test("every reason has a case", () => {
    expect(new Set(CASES.map(([, , , , gives]) => gives[2]))).toEqual(new Set(Object.values(WHY)));
  });

  test.each(Object.entries(BASES))("every field of %s is explained", (kind, base) => {
    const claims: StoredClaims = [
      ["a", base({})],
      ["b", base({})],
    ];
    const { fields } = explained(kind as Kind, claims);
    const value = merged(kind as Kind, claims, rulesOf()) ?? {};
    const names = Object.keys(value).filter((name) => name !== "annotations");
    expect(Object.keys(fields).filter((name) => !name.includes("."))).toEqual(names);
  });

  test("a field with a source has the value that this source claims", () => {
    const texts = [undefined, "", "x", "y"];
    for (const hw of texts) {
      for (const sw of texts) {
        for (const stale of [[], ["a"], ["b"], ["a", "b"]]) {
          const claims: StoredClaims = [
            ["a", device({ ...(hw !== undefined && { hw }), annotations: { k: "1" } })],
            ["b", device({ ...(sw !== undefined && { hw: sw, sw }), annotations: { k: "2", l: "3" } })],
          ];
          const { fields } = explained("devices", claims, { stale });
          for (const [name, { value, source }] of Object.entries(fields)) {
            if (source === null) continue;
            const claim: Record<string, unknown> = { ...claims.find(([owner]) => owner === source)?.[1] };
            const annotations = new Map(Object.entries(claim.annotations ?? {}));
            const [, key] = name.split("annotations.");
            expect(key === undefined ? claim[name] : annotations.get(key)).toEqual(value);
          }
        }
      }
    }
  });
});

describe("the claims", () => {
  test("are in order of precedence, intended ones last, with the status of their sources", () => {
    const claims: StoredClaims = [
      ["a", device()],
      ["b", device()],
      ["c", device({ hw: "Z" })],
    ];
    const { claims: listed } = explained("devices", claims, { stale: ["b"], intended: ["a"] });
    expect(listed).toEqual([
      { source: "c", role: "observed", status: "live", id: "d1", claim: { id: "d1", hw: "Z" } },
      {
        source: "b",
        role: "observed",
        status: "stale",
        staleSince: "2026-11-15T03:00:00.000Z",
        id: "d1",
        claim: { id: "d1" },
      },
      { source: "a", role: "intended", status: "live", id: "d1", claim: { id: "d1" } },
    ]);
  });

  test("of devices with different ids name the values that they share", () => {
    const claims: StoredClaims = [
      ["a", { id: "x", chassisId: "0200000000aa", serial: "S1" }],
      ["b", { id: "y", chassisId: "02:00:00:00:00:AA", serial: "S1" }],
    ];
    expect(explained("devices", claims).identity).toEqual([
      { rule: "chassisId", value: "02:00:00:00:00:aa", ids: ["x", "y"] },
    ]);
    const sameId = claims.map(([source, claim]) => [source, { ...claim, id: "x" }] as const);
    expect(explained("devices", sameId).identity).toBeUndefined();
  });
});

describe("an entity that is not shown", () => {
  const stateOf = (values: Readonly<Record<string, unknown>>) => ({
    get: (kind: string, id: string) => {
      const value = values[`${kind}|${id}`];
      return value === undefined ? undefined : JSON.stringify(value);
    },
    shownId: (_kind: Kind, id: string) => id.toLowerCase(),
  });

  test("is explained where its device is not known", () => {
    const state = stateOf({ "claims|ports d1/1": [["a", port()]] });
    const explanation = explainEntity(state, "ports", "D1/1");
    expect(explanation).toMatchObject({ id: "d1/1", notShown: NOT_SHOWN.heldBack, fields: {} });
    expect(explanation?.claims.map(({ source }) => source)).toEqual(["a"]);
  });

  test("is explained where only an intended source claims it", () => {
    const settings = { sources: [{ name: "plan", role: "intended", merge: true }] };
    const drift = { state: "missing", since: "2026-11-15T03:00:00Z" };
    const state = stateOf({
      "claims|devices d1": [["plan", device({ id: "D1" })]],
      "missing|devices D1": { id: "D1", revision: 3, drift },
      "settings|merge": settings,
    });
    const explanation = explainEntity(state, "devices", "d1");
    expect(explanation).toMatchObject({
      id: "D1",
      revision: 3,
      notShown: NOT_SHOWN.missing,
      drift,
      fields: {},
    });
  });

  test("is not explained where nothing claims it", () => {
    expect(explainEntity(stateOf({}), "devices", "d1")).toBeUndefined();
  });
});
