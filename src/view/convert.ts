/**
 * Converts a view that was restored from a log of an older format, as one revision. Format 1 identified entities by the
 * exact text of their ids, so that two spellings of one id were two devices; it had a port type `odu`, and ports without
 * annotations had an empty object. What differs from the current form is claimed again by its sources and merged; an
 * entity keeps its `firstSeen`. Earlier revisions stay as they were written.
 */
import { runToEnd } from "../lib/steps.ts";
import type { Log, LogEntry, StoreKind } from "../log/log.ts";
import { type Claim, canonicalStoredClaim, type PortClaim, referencedDevices } from "../model/claim.ts";
import { idKey, KINDS, type Kind } from "../model/ids.ts";
import { type CanonicalChange, Commit } from "./commit.ts";
import { claimsKey, type StoredClaims } from "./indexes.ts";
import { changesGraph } from "./link-graph.ts";
import type { MergeRules } from "./merge-rules.ts";
import { recoverClaim, sameClaim } from "./recover.ts";
import { parseStored, type View } from "./view.ts";

/** An entity whose value or claims are not in the current form. */
interface Outdated {
  readonly kind: Kind;
  /** As the log spells it. */
  readonly id: string;
  readonly claims: StoredClaims;
}

/** Resolves to the number of entities that were converted. Rejects with `LogError` when the batch cannot be made durable. */
export async function convertView(view: View, log: Log, rules: MergeRules, now: number): Promise<number> {
  const outdated = [...findOutdated(view)];
  if (outdated.length === 0) return 0;
  const revision = view.revision + 1;
  const time = Math.max(now, view.time);
  const removals = [...findRemovals(view, outdated)];
  view.apply({ revision: view.revision, time: view.time, entries: removals });
  const commit = new Commit(view, rules, revision, time);
  for (const { kind, id, claims } of outdated) {
    for (const [source, claim] of claims) {
      const change = canonicalChange(kind, claim);
      if (change) commit.applyChange(source, change);
    }
    commit.recheck(kind, id);
  }
  const merged = runToEnd(commit.mergeAll());
  const entries = [...removals, ...merged];
  if (entries.length > 0) {
    await log.append({ revision, time, entries });
    view.publish(runToEnd(view.prepare({ revision, time, entries: merged })));
    setVersions(view, entries);
  }
  return outdated.length;
}

/** Every collection of the batch has its revision, also where the batch only removes. */
function setVersions(view: View, entries: readonly LogEntry[]): void {
  const versions = { ...view.versions };
  for (const { kind } of entries) versions[kind] = view.revision;
  const changed = entries.some(changesGraph);
  if (changed) versions.graph = view.revision;
  view.setVersions(versions, changed ? view.time : view.graphTime);
}

/** The values whose ids are no longer used. */
function* findRemovals(view: View, outdated: readonly Outdated[]): Generator<LogEntry> {
  const removed = new Set<string>();
  for (const { kind, id } of outdated) {
    const ids: [StoreKind, string][] = [];
    if (oldClaimsKey(kind, id) !== claimsKey(kind, id)) ids.push(["claims", oldClaimsKey(kind, id)]);
    // Another spelling of the same id stays, and gets the claims of both.
    if (view.spelledId(kind, id) !== id) ids.push([kind, id]);
    for (const [storeKind, storeId] of ids) {
      const before = view.get(storeKind, storeId);
      if (before === undefined || removed.has(`${storeKind} ${storeId}`)) continue;
      removed.add(`${storeKind} ${storeId}`);
      yield { kind: storeKind, id: storeId, before, after: null, changed: [] };
    }
  }
}

function* findOutdated(view: View): Generator<Outdated> {
  for (const kind of KINDS) {
    for (const page of runToEnd(view.capture().pages(kind))) {
      for (const [i, id] of page.ids.entries()) {
        const value = parseStored(kind, page.value(i));
        const stored = view.get("claims", oldClaimsKey(kind, id));
        const claims: StoredClaims =
          stored === undefined
            ? [[value.sources[0] ?? "", recoverClaim(kind, value)]]
            : parseStored("claims", stored);
        if (isOutdated(view, kind, id, claims)) yield { kind, id, claims };
      }
    }
  }
  // Those that are held back have no value.
  for (const page of runToEnd(view.capture().pages("claims"))) {
    for (const [i, key] of page.ids.entries()) {
      const [name = "", id = ""] = key.split(" ");
      const kind = KINDS.find((candidate) => candidate === name);
      if (!kind || view.has(kind, id)) continue;
      const claims = parseStored("claims", page.value(i));
      if (isOutdated(view, kind, id, claims)) yield { kind, id, claims };
    }
  }
}

function isOutdated(view: View, kind: Kind, id: string, claims: StoredClaims): boolean {
  if (idKey(kind, id) !== id || view.spelledId(kind, id) !== id) return true;
  return claims.some(([, claim]) => {
    // It may have been held back, or shown without a location, for the spelling of a device.
    if (referencedDevices(claim).some((device) => view.spelledId("devices", device) !== device)) return true;
    const change = canonicalChange(kind, claim);
    return !change?.claim || !sameClaim(change.claim, claim);
  });
}

const oldClaimsKey = (kind: Kind, id: string): string => `${kind} ${id}`;

/** Undefined when the claim is not valid any more. */
function canonicalChange(kind: Kind, claim: Claim): CanonicalChange | undefined {
  const result = canonicalStoredClaim(kind, "element" in claim ? currentPort(claim) : claim);
  return result.ok ? ({ kind, id: result.id, claim: result.claim } as CanonicalChange) : undefined;
}

function currentPort({ annotations, ...rest }: PortClaim): object {
  const type: string | undefined = rest.type;
  return {
    ...rest,
    ...(type === "odu" && { type: "oduclt" }),
    ...(annotations && Object.keys(annotations).length > 0 && { annotations }),
  };
}
