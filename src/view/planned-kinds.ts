/**
 * Which kinds the plan contains: those of which an intended source claims an entity. A source counts from its first sync:
 * before that its plan is not complete, and what it does not contain yet must not become `unplanned`.
 */
import { KINDS, type Kind } from "../model/ids.ts";
import { plannedKindKey } from "./indexes.ts";
import type { MergeRules } from "./merge-rules.ts";
import type { View } from "./view.ts";

/** Between commits. */
export function plannedKindsOf(view: View, { intendedSources, facts }: MergeRules): ReadonlySet<Kind> {
  const index = view.indexes("claims").named("plannedKind");
  const complete = intendedSources.filter((source) => facts.get(source)?.hasSynced);
  return new Set(KINDS.filter((kind) => complete.some((source) => index.has(plannedKindKey(source, kind)))));
}
