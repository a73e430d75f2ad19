/**
 * Which kinds the plan contains, and the record of it in the collection `settings`. The plan contains a kind as long as an
 * intended source claims an entity of it. The record says by what the entities of the view were compared, so that a
 * service that ended in between goes on with the rest.
 */
import { KINDS, type Kind } from "../model/ids.ts";
import type { View } from "./view.ts";

/** The id in the collection `settings`. */
export const PLAN_SETTING = "plan";

export interface PlanSetting {
  readonly kinds: readonly Kind[];
  /** The kinds that are compared with the plan. None before all sources have reported. */
  readonly judged: readonly Kind[];
  /** The kinds whose entities are not all merged by that yet. */
  readonly pending: readonly Kind[];
}
const NO_PLAN: PlanSetting = { kinds: [], judged: [], pending: [] };

const inOrder = (kinds: ReadonlySet<Kind>): Kind[] => KINDS.filter((kind) => kinds.has(kind));

export const planSetting = (
  kinds: ReadonlySet<Kind>,
  judged: ReadonlySet<Kind>,
  pending: ReadonlySet<Kind>,
): PlanSetting => ({ kinds: inOrder(kinds), judged: inOrder(judged), pending: inOrder(pending) });

/** Not validated: only a commit writes it. */
export function readPlan(state: Pick<View, "get">): PlanSetting {
  const text = state.get("settings", PLAN_SETTING);
  return text === undefined ? NO_PLAN : { ...NO_PLAN, ...JSON.parse(text) };
}

/** Between commits. */
export function plannedKindsOf(view: View): ReadonlySet<Kind> {
  const index = view.indexes("claims").named("plannedKind");
  return new Set(KINDS.filter((kind) => index.has(kind)));
}
