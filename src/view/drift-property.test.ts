/**
 * Compares drift with a reference model: a plan and two observed sources report in random order, sync, and are configured
 * again. What is missing, unplanned and different at the end must follow from the claims alone, and every batch must be
 * replayed and undone to the same values.
 */
import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import {
  applyToReference,
  applyToSource,
  type ClaimStep,
  claimHistory,
} from "../../test/support/claim-history.ts";
import { ClaimedNetwork, pagesOf } from "../../test/support/claims.ts";
import { assertProperty, COUNTS_CASES, PROPERTY_TIMEOUT_MS } from "../../test/support/property.ts";
import { type Json, ReferenceView, SOURCES } from "../../test/support/reference-view.ts";
import { expectReplayed, expectUndone } from "../../test/support/replay.ts";
import type { ClaimChange } from "../model/claim.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { type MergeSettings, observedSources } from "../model/merge-settings.ts";
import type { View } from "./view.ts";

const [PLAN = "", ...OBSERVED] = SOURCES;
const settingsWith = (role: "intended" | "observed"): MergeSettings => ({
  identity: [],
  sources: observedSources(SOURCES).sources.map((source) =>
    source.name === PLAN ? { ...source, role } : source,
  ),
});

const counts = { missing: 0, unplanned: 0, differs: 0, asIntended: 0 };
afterAll(() => {
  if (!COUNTS_CASES) return;
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(20);
});

const keyOf = (kind: Kind, id: string): string => (kind === "hosts" ? id : id.toLowerCase());
const idOf = (value: Json): string => String(value.id ?? `${value.element}/${value.port}`);

/** The states of drift by kind and key, of all that is shown or missing. */
function driftIn(view: View): Map<string, string> {
  const found = new Map<string, string>();
  for (const kind of KINDS) {
    for (const page of pagesOf(view, kind)) {
      for (const [id, text] of page.toMap()) {
        const { state, fields } = JSON.parse(text).drift ?? {};
        found.set(`${kind} ${keyOf(kind, id)}`, `${state} ${Object.keys(fields ?? {}).sort()}`);
      }
    }
  }
  for (const page of pagesOf(view, "missing")) {
    for (const [key, text] of page.toMap()) {
      const [kind = "", id = ""] = key.split(" ");
      const value = JSON.parse(text);
      expect(value.sources).toEqual([]);
      expect(idOf(value)).toBe(id);
      expect(found.has(`${kind} ${keyOf(kind as Kind, id)}`)).toBe(false);
      found.set(`${kind} ${keyOf(kind as Kind, id)}`, value.drift.state);
    }
  }
  return found;
}

/** The same from all claims at once. */
function expectedDrift(reference: ReferenceView): Map<string, string> {
  const plan = reference.claims.get(PLAN);
  const observed = new ReferenceView();
  for (const source of OBSERVED) {
    const claims = reference.claims.get(source);
    if (claims) observed.claims.set(source, claims);
  }
  observed.mergeAll(0);
  const found = new Map<string, string>();
  const shownDevices = new Map<string, string>();
  for (const key of observed.shown.keys())
    if (key.startsWith("devices ")) shownDevices.set(key.toLowerCase().slice(8), key.slice(8));
  const resolve = (id: string): string => (shownDevices.get(id.toLowerCase()) ?? id).toLowerCase();
  for (const [shownKey, value] of observed.shown) {
    const kind = shownKey.slice(0, shownKey.indexOf(" ")) as Kind;
    const key = keyOf(kind, shownKey.slice(kind.length + 1));
    const claim = plan?.[kind].get(key) as Json | undefined;
    let drift = "undefined ";
    if (claim) {
      const fields = differences(kind, claim, value, resolve);
      if (fields.length > 0) drift = `differs ${fields.sort()}`;
      counts[fields.length > 0 ? "differs" : "asIntended"]++;
    } else if ((plan?.[kind].size ?? 0) > 0) {
      const element = String(value.element).toLowerCase();
      const lists = [...(plan?.ports.values() ?? [])].some((port) => port.element.toLowerCase() === element);
      if (kind !== "ports" || lists) drift = "unplanned ";
      if (drift === "unplanned ") counts.unplanned++;
    }
    found.set(`${kind} ${key}`, drift);
  }
  for (const kind of KINDS) {
    for (const key of plan?.[kind].keys() ?? []) {
      if (found.has(`${kind} ${key}`)) continue;
      found.set(`${kind} ${key}`, "missing");
      counts.missing++;
    }
  }
  return found;
}

function differences(kind: Kind, claim: Json, value: Json, resolve: (id: string) => string): string[] {
  const ignored = [
    "id",
    "aliases",
    "lastUpdate",
    "element",
    "port",
    "src",
    "dst",
    "mac",
    "vlan",
    "annotations",
  ];
  const places = (list: unknown) =>
    JSON.stringify(
      [
        ...new Set(((list ?? []) as Json[]).map((at) => `${resolve(String(at.elementId))}/${at.port}`)),
      ].sort(),
    );
  const fields = Object.keys(claim).filter((field) => {
    if (ignored.includes(field)) return false;
    if (kind === "hosts" && /ocations$/.test(field)) return places(claim[field]) !== places(value[field]);
    const [a, b] = [claim[field], value[field]].map((item) => (Array.isArray(item) ? [...item].sort() : item));
    return JSON.stringify(a) !== JSON.stringify(b);
  }); // biome-ignore format: short
  const annotations = Object.entries((claim.annotations ?? {}) as Record<string, string>);
  const seen = (value.annotations ?? {}) as Record<string, string>;
  for (const [key, text] of annotations)
    if (!Object.hasOwn(seen, key) || seen[key] !== text) fields.push(`annotations.${key}`);
  return fields;
}

test(
  "drift follows from the claims alone, and batches replay and undo",
  async () => {
    const scenario = fc.record({
      history: claimHistory,
      /** The step before which each source syncs. */
      syncs: fc.tuple(fc.nat(20), fc.nat(20), fc.nat(20)),
      /** The step before which the plan is an observed source for one step. */
      otherRoleAt: fc.nat(60),
      /** Whether an observed source reports all that is planned, in the end. */
      followsPlan: fc.boolean(),
    });
    const property = fc.asyncProperty(
      scenario,
      async ({ history: { steps }, syncs, otherRoleAt, followsPlan }) => {
        const net = new ClaimedNetwork(settingsWith("intended"));
        const reference = new ReferenceView();
        const apply = async (step: ClaimStep) => {
          applyToReference(reference, step);
          await applyToSource(net.source(step.source), step);
        };
        for (const [i, step] of steps.entries()) {
          await net.clock.advance(step.wait);
          if (i === otherRoleAt) await net.committer.setSettings(settingsWith("observed"));
          for (const [n, source] of SOURCES.entries()) if (syncs[n] === i) await net.sync(source);
          await apply(step);
          if (i === otherRoleAt) await net.committer.setSettings(settingsWith("intended"));
          const isJudged = OBSERVED.every((source) => (syncs[SOURCES.indexOf(source)] ?? 0) <= i);
          if (!isJudged) expect(net.view.size("missing")).toBe(0);
        }
        await net.sync(...SOURCES);
        if (followsPlan) {
          const planned = reference.claims.get(PLAN);
          const changes = KINDS.flatMap((kind) =>
            [...(planned?.[kind].values() ?? [])].map((claim) => ({ op: "set", kind, claim }) as ClaimChange),
          );
          await apply({ source: OBSERVED[0] ?? "", replace: false, changes, wait: 0 });
        }
        expect(Object.fromEntries(driftIn(net.view))).toEqual(Object.fromEntries(expectedDrift(reference)));

        const restored = expectReplayed(net.view, net.log);
        expect(restored.heldBack).toEqual(net.view.heldBack);
        expect(restored.storedClaims).toEqual(net.view.storedClaims);
        for (const [kind, name] of [
          ["missing", "key"],
          ["missing", "drift"],
          ["claims", "plannedKind"],
          ["claims", "plannedPorts"],
          ["devices", "drift"],
        ] as const)
          expect(restored.indexes(kind).find(name)?.keys()).toEqual(
            net.view.indexes(kind).find(name)?.keys() ?? [],
          );
        expectUndone(net.view, net.batches);
        await net.log.close();
      },
    );
    await assertProperty(property, 120);
  },
  PROPERTY_TIMEOUT_MS,
);
