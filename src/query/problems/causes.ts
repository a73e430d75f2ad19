/**
 * Which problems follow from which. One fault is often seen many times: as a device that is unavailable, as its links, as the
 * devices behind it, and as what is missing of the plan. Each of those names the problem that it follows from, the first of a
 * chain, so that a reader acts on that one.
 *
 * - A link that is inactive, one-sided or lost follows from its unavailable device.
 * - An unavailable device follows from the outermost problem that alone separates it from the largest part of the network.
 * - A port or cable that is missing follows from its missing device, or from the problem of the cable.
 *
 * No chain leads back: a problem that separates devices is of a device nearer to the largest part, or of a link
 * between two available devices, which follows from nothing.
 */
import { COST, Pause, type Steps } from "../../lib/steps.ts";
import { cableId } from "../../model/cable.ts";
import type { ProblemKind } from "../../model/problem-kinds.ts";
import type { FaultEffect } from "./cut-off.ts";
import type { Finding } from "./finding.ts";

const LINK_KINDS = ["link-inactive", "link-one-sided", "link-lost"] as const satisfies ProblemKind[];
const isLinkKind = (kind: ProblemKind): boolean => LINK_KINDS.some((name) => name === kind);

export interface Causes {
  /** The id of the first cause, by the id of a problem that has one. */
  readonly causedBy: ReadonlyMap<string, string>;
  /** The number of problems by the id of their first cause. */
  readonly consequences: ReadonlyMap<string, number>;
}

export function* findCauses(
  findings: readonly Finding[],
  effects: ReadonlyMap<string, Pick<FaultEffect, "separatedBy">>,
): Steps<Causes> {
  const possible = new Map<string, Finding>();
  const pause = new Pause();
  for (const finding of findings) {
    if (pause.due(COST.key)) yield;
    if (mayCause(finding)) possible.set(finding.id, finding);
  }
  const nextCause = (finding: Finding): string | undefined =>
    finding.kind === "device-unavailable"
      ? effects.get(finding.id)?.separatedBy
      : directCause(finding, possible)?.id;
  const causedBy = new Map<string, string>();
  const consequences = new Map<string, number>();
  for (const finding of findings) {
    if (pause.due(COST.key)) yield;
    let first: string | undefined;
    for (let next: Finding | undefined = finding; next; ) {
      const cause: string | undefined = nextCause(next);
      first = cause ?? first;
      next = cause === undefined ? undefined : possible.get(cause);
    }
    if (first === undefined) continue;
    causedBy.set(finding.id, first);
    consequences.set(first, (consequences.get(first) ?? 0) + 1);
  }
  return { causedBy, consequences };
}

const mayCause = ({ kind, resource, isMissing }: Finding): boolean =>
  kind === "device-unavailable" || isLinkKind(kind) || (isMissing === true && resource === "devices");

function directCause(finding: Finding, possible: ReadonlyMap<string, Finding>): Finding | undefined {
  const { kind, resource, link, devices, isMissing } = finding;
  const ofDevices = (prefix: string) => earliest(devices.map((id) => possible.get(prefix + id)));
  if (isLinkKind(kind)) return ofDevices("device-unavailable:");
  if (!isMissing || (resource !== "ports" && resource !== "links")) return undefined;
  const device = ofDevices("drift:devices:");
  if (device || !link) return device;
  const cable = cableId(link);
  return earliest(LINK_KINDS.map((name) => possible.get(`${name}:${cable}`)));
}

/** Of equally old ones the one with the lower id. */
function earliest(findings: readonly (Finding | undefined)[]): Finding | undefined {
  let first: Finding | undefined;
  for (const one of findings) {
    if (!one) continue;
    if (!first || one.since < first.since || (one.since === first.since && one.id < first.id)) first = one;
  }
  return first;
}
