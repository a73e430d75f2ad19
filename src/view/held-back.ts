/**
 * The number of entities that are claimed but held back, because a device they refer to is missing. It is updated with each
 * batch, because counting would read all claims.
 */
import { COST, Pause, type Steps } from "../lib/steps.ts";
import type { LogEntry } from "../log/log.ts";
import { idKey, isKind, type Kind } from "../model/ids.ts";
import { INTENDED, parseClaimsKey, type StoredClaims } from "./indexes.ts";
import type { RevisionState } from "./network-state.ts";

export type HeldBack = Readonly<Record<Kind, number>>;
export const NONE_HELD_BACK: HeldBack = { devices: 0, ports: 0, links: 0, hosts: 0 };

/** The part of a state that determines what is held back: its claims and the entities that it shows. */
type ClaimState = Pick<RevisionState, "get" | "has" | "spelledId" | "size">;

export function* countAllHeldBack(state: RevisionState): Steps<HeldBack> {
  const counts = { ...NONE_HELD_BACK };
  for (const page of yield* state.pages("claims")) {
    for (const key of page.ids) {
      const parsed = parseClaimsKey(key);
      if (parsed && isHeldBack(state, parsed.kind, parsed.key)) counts[parsed.kind]++;
    }
    yield;
  }
  return counts;
}

/** The counts after a batch that leads from one state to the other. */
export function* updateHeldBack(
  counts: HeldBack,
  before: ClaimState,
  after: ClaimState,
  entries: readonly LogEntry[],
): Steps<HeldBack> {
  if (before.size("claims") === 0 && after.size("claims") === 0) return counts;
  const updated = { ...counts };
  const seen = new Set<string>();
  const pause = new Pause();
  for (const { kind, id, before: oldText, after: newText } of entries) {
    if (pause.due(COST.key, oldText?.length, newText?.length)) yield;
    if ((oldText === null) === (newText === null) && !(kind === "claims" && mayBePlan(oldText, newText)))
      continue;
    const parsed = isKind(kind) ? { kind, key: idKey(kind, id) } : kind === "claims" && parseClaimsKey(id);
    if (!parsed) continue;
    const storedKey = `${parsed.kind} ${parsed.key}`;
    if (seen.has(storedKey)) continue;
    seen.add(storedKey);
    updated[parsed.kind] +=
      Number(isHeldBack(after, parsed.kind, parsed.key)) -
      Number(isHeldBack(before, parsed.kind, parsed.key));
  }
  return updated;
}

/** Whether an entity is held back. An entity that is only intended is not observed, and so not held back. */
function isHeldBack(state: ClaimState, kind: Kind, key: string): boolean {
  if (state.has(kind, state.spelledId(kind, key))) return false;
  const text = state.get("claims", `${kind} ${key}`);
  if (text === undefined) return false;
  return !mayBePlan(text) || parseClaims(text).some(([, , role]) => role !== INTENDED);
}

/** The text is not validated, because only a commit and the log produce it. */
const parseClaims = (text: string): StoredClaims => JSON.parse(text);

const INTENDED_TEXT = JSON.stringify(INTENDED);
/** Whether a claim of an intended source may be among the stored claims. */
const mayBePlan = (...texts: (string | null)[]): boolean =>
  texts.some((text) => text?.includes(INTENDED_TEXT));
