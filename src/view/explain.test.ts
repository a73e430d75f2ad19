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
  return mergeClaims(kind, ofKind, {
    now: 0,
    before: undefined,
    tracking: { firstSeen: "", lastChanged: "", sources: observed.map(([name]) => name), revision: 7 },
    shownDevice: (id) => id,
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
const unanswered = { available: false, annotations: { unansweredSince: "2026-11-15T03:00:00Z" } };

interface Case {
  readonly what: string;
  readonly kind: Kind;
  readonly claims: StoredClaims;
  readonly sources?: Sources;
  readonly conflict?: string;
  readonly field: string;
  readonly gives: readonly [value: unknown, source: string | null, why: string];
}

const CASES: readonly Case[] = [
  {
    what: "one source",
    kind: "devices",
    claims: [["a", device({ type: "ROUTER" })]],
    field: "type",
    gives: ["ROUTER", "a", WHY.only],
  },
  {
    what: "a field that only the second source claims",
    kind: "devices",
    claims: [
      ["a", device()],
      ["b", device({ hw: "X" })],
    ],
    field: "hw",
    gives: ["X", "b", WHY.only],
  },
  {
    what: "two sources claim it",
    kind: "devices",
    claims: [
      ["b", device({ hw: "Y" })],
      ["a", device({ hw: "X" })],
    ],
    field: "hw",
    gives: ["X", "a", WHY.first],
  },
  {
    what: "the first source does not claim it, two others do",
    kind: "devices",
    claims: [
      ["a", device()],
      ["b", device({ hw: "Y" })],
      ["c", device({ hw: "Z" })],
    ],
    field: "hw",
    gives: ["Y", "b", WHY.firstThatClaims],
  },
  {
    what: "the first source is stale",
    kind: "devices",
    claims: [
      ["a", device({ hw: "X" })],
      ["b", device({ hw: "Y" })],
    ],
    sources: { stale: ["a"] },
    field: "hw",
    gives: ["Y", "b", WHY.live],
  },
  {
    what: "a stale source is the only one that claims it",
    kind: "devices",
    claims: [
      ["a", device({ hw: "X" })],
      ["b", device()],
    ],
    sources: { stale: ["a"] },
    field: "hw",
    gives: ["X", "a", WHY.only],
  },
  {
    what: "the id stays that of the first source although it is stale",
    kind: "devices",
    claims: [
      ["a", device()],
      ["b", device()],
    ],
    sources: { stale: ["a"] },
    field: "id",
    gives: ["d1", "a", WHY.id],
  },
  {
    what: "an intended source gives nothing",
    kind: "devices",
    claims: [
      ["a", device({ hw: "X" })],
      ["b", device()],
    ],
    sources: { intended: ["a"] },
    field: "hw",
    gives: ["unknown", null, WHY.defaultValue],
  },
  {
    what: "nobody claims it",
    kind: "devices",
    claims: [["a", device()]],
    field: "type",
    gives: ["SWITCH", null, WHY.defaultValue],
  },
  {
    what: "an empty text",
    kind: "devices",
    claims: [["a", device({ serial: "" })]],
    field: "serial",
    gives: ["unknown", null, WHY.defaultValue],
  },
  {
    what: "the first source gets no answer, the second sees it",
    kind: "devices",
    claims: [
      ["a", device(unanswered)],
      ["b", device({ available: true })],
    ],
    field: "available",
    gives: [true, "b", WHY.answering],
  },
  {
    what: "the first source gets no answer, the second only knows it",
    kind: "devices",
    claims: [
      ["a", device(unanswered)],
      ["b", device()],
    ],
    field: "available",
    gives: [true, null, WHY.answering],
  },
  {
    what: "when availability changed, as nobody claims",
    kind: "devices",
    claims: [["a", device()]],
    field: "lastUpdate",
    gives: ["0", null, WHY.tracked],
  },
  {
    what: "when availability changed, as a source claims",
    kind: "devices",
    claims: [["a", device({ lastUpdate: "5" })]],
    field: "lastUpdate",
    gives: ["5", "a", WHY.only],
  },
  {
    what: "the same for people",
    kind: "devices",
    claims: [["a", device()]],
    field: "humanReadableLastUpdate",
    gives: ["connected since 1970-01-01T00:00:00Z", null, WHY.derived],
  },
  {
    what: "aliases of one source",
    kind: "devices",
    claims: [["a", device({ aliases: ["x"] })]],
    field: "aliases",
    gives: [["x"], "a", WHY.only],
  },
  {
    what: "aliases of two sources",
    kind: "devices",
    claims: [
      ["a", device({ aliases: ["x"] })],
      ["b", device({ aliases: ["y"] })],
    ],
    field: "aliases",
    gives: [["x", "y"], null, WHY.aliases],
  },
  {
    what: "an annotation",
    kind: "devices",
    claims: [
      ["a", device({ annotations: { name: "n" } })],
      ["b", device({ annotations: { name: "m" } })],
    ],
    field: "annotations.name",
    gives: ["n", "a", WHY.first],
  },
  {
    what: "an annotation that every device has",
    kind: "devices",
    claims: [["a", device()]],
    field: "annotations.protocol",
    gives: ["", null, WHY.defaultValue],
  },
  {
    what: "an annotation with the name of a built-in property",
    kind: "devices",
    claims: [
      ["a", device()],
      ["b", device({ annotations: { constructor: "n" } })],
    ],
    field: "annotations.constructor",
    gives: ["n", "b", WHY.only],
  },
  {
    what: "what Gazetteer records",
    kind: "devices",
    claims: [["a", device()]],
    field: "sources",
    gives: [["a"], null, WHY.tracked],
  },
  {
    what: "a conflict",
    kind: "links",
    claims: [["a", link()]],
    conflict: "two links",
    field: "annotations.conflict",
    gives: ["two links", null, WHY.network],
  },
  {
    what: "a conflict beside a claimed annotation of that name",
    kind: "links",
    claims: [["a", link({ annotations: { conflict: "mine" } })]],
    conflict: "two links",
    field: "annotations.conflict",
    gives: ["mine; two links", null, WHY.network],
  },
  {
    what: "an end of a link",
    kind: "links",
    claims: [["a", link()]],
    field: "src",
    gives: [{ device: "d1", port: "1" }, null, WHY.ends],
  },
  {
    what: "the other direction",
    kind: "links",
    claims: [["a", link()]],
    field: "bidirectional",
    gives: [false, null, WHY.network],
  },
  {
    what: "a link that one of two sources has verified",
    kind: "links",
    claims: [
      ["a", link({ verified: false })],
      ["b", link()],
    ],
    field: "verified",
    gives: [true, "b", WHY.verified],
  },
  {
    what: "a link that no source has verified",
    kind: "links",
    claims: [
      ["a", link({ verified: false })],
      ["b", link({ verified: false })],
    ],
    field: "verified",
    gives: [false, null, WHY.union],
  },
  {
    what: "a link of sources that do not say",
    kind: "links",
    claims: [["a", link()]],
    field: "verified",
    gives: [true, null, WHY.defaultValue],
  },
  {
    what: "addresses of two sources",
    kind: "hosts",
    claims: [
      ["a", host({ ipAddresses: ["10.0.0.2"] })],
      ["b", host({ ipAddresses: ["10.0.0.1"] })],
    ],
    field: "ipAddresses",
    gives: [["10.0.0.1", "10.0.0.2"], null, WHY.union],
  },
  {
    what: "addresses of one of two sources",
    kind: "hosts",
    claims: [
      ["a", host({ ipAddresses: [] })],
      ["b", host({ ipAddresses: ["10.0.0.1"] })],
    ],
    field: "ipAddresses",
    gives: [["10.0.0.1"], "b", WHY.only],
  },
  {
    what: "no addresses",
    kind: "hosts",
    claims: [["a", host()]],
    field: "ipAddresses",
    gives: [[], null, WHY.defaultValue],
  },
  {
    what: "the MAC address",
    kind: "hosts",
    claims: [
      ["a", host()],
      ["b", host()],
    ],
    field: "mac",
    gives: ["00:00:00:00:00:01", null, WHY.identifies],
  },
  {
    what: "the number of a port",
    kind: "ports",
    claims: [
      ["a", port()],
      ["b", port()],
    ],
    field: "port",
    gives: ["1", "a", WHY.id],
  },
];

describe("why a field has its value", () => {
  test.each(CASES.map((row) => [`${row.kind} ${row.field}: ${row.what}`, row] as const))(
    "%s",
    (_name, row) => {
      const { fields } = explained(row.kind, row.claims, row.sources, row.conflict);
      const [value, source, why] = row.gives;
      expect(fields[row.field]).toEqual({ value, source, why });
    },
  );

  test("every reason has a case", () => {
    expect(new Set(CASES.map(({ gives }) => gives[2]))).toEqual(new Set(Object.values(WHY)));
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

  test("without stored settings their stored order is that of the sources", () => {
    const claims: StoredClaims = [
      ["z", device({ hw: "Z" })],
      ["a", device({ hw: "A" })],
    ];
    const value = merged("devices", [["a", device({ hw: "Z" })]], rulesOf());
    const rules = MergeRules.read({ get: () => undefined });
    const { fields } = explain({ kind: "devices", id: "d1", claims, rules, value });
    expect(fields.hw).toEqual({ value: "Z", source: "z", why: WHY.first });
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
      "claims|devices d1": [["plan", device()]],
      "missing|devices d1": { id: "d1", revision: 3, drift },
      "settings|merge": settings,
    });
    const explanation = explainEntity(state, "devices", "d1");
    expect(explanation).toMatchObject({ revision: 3, notShown: NOT_SHOWN.missing, drift, fields: {} });
  });

  test("is not explained where nothing claims it", () => {
    expect(explainEntity(stateOf({}), "devices", "d1")).toBeUndefined();
  });
});
