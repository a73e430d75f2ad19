/** All problems of one state, worst first, each with its severity, what it cuts off, and what it follows from. */
import { createHash } from "node:crypto";
import { COST, collectPaced, mapInSteps, Pause, type Steps, sortInSteps } from "../../lib/steps.ts";
import { cableId } from "../../model/cable.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { compareProblems, KIND_TRAITS, mayCutOff, type ProblemKind } from "../../model/problem-kinds.ts";
import { type Fault, type FaultEffect, findCutOffs, NOTHING_CUT_OFF } from "./cut-off.ts";
import { findProblems } from "./findings.ts";
import type { Finding, ProblemInput } from "./link-findings.ts";
import { locateHosts, type RemovedHost } from "./parts.ts";
import type { LostLink, RecentChanges } from "./recent-changes.ts";

/*
 * Determines which problems follow from which. One fault is often seen many times: as a device that is unavailable, as its
 * links, as the devices behind it, and as missing parts of the plan. Each of those names the problem that it follows from,
 * the first of a chain, so that a reader acts on that one.
 *
 * - A link that is inactive, one-sided or lost follows from its unavailable device.
 * - An unavailable device follows from the outermost problem that alone separates it from the largest part of the network.
 * - A port or cable that is missing follows from its missing device, or from the problem of the cable.
 *
 * Chains have no cycles: a problem that separates devices belongs to a device nearer to the largest part, or to a link
 * between two available devices, which follows from nothing.
 */

const LINK_KINDS = ["link-inactive", "link-one-sided", "link-lost"] as const satisfies ProblemKind[];
const isLinkKind = (kind: ProblemKind): boolean => LINK_KINDS.some((name) => name === kind);

interface Causes {
  /** The id of the first cause, by the id of a problem that has one. */
  readonly causedBy: ReadonlyMap<string, string>;
  /** The number of problems by the id of their first cause. */
  readonly consequences: ReadonlyMap<string, number>;
}

function* findCauses(
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

/** The oldest finding; of equally old ones, the one with the lower id. */
function earliest(findings: readonly (Finding | undefined)[]): Finding | undefined {
  let first: Finding | undefined;
  for (const one of findings) {
    if (!one) continue;
    if (!first || one.since < first.since || (one.since === first.since && one.id < first.id)) first = one;
  }
  return first;
}

/** 128 bits of the hash, so that nobody who can influence the network can produce two lists with the same digest. */
const DIGEST_CHARS = 22;

/** A problem and its JSON text. */
export interface ListedProblem {
  readonly problem: NetworkProblem;
  readonly text: string;
}

/** A list of problems. It does not refer to the state, which would keep old pages in memory. */
export interface ProblemList {
  readonly revision: number;
  /** Epoch milliseconds of that revision. */
  readonly time: number;
  /** The problems, worst first. */
  readonly problems: readonly ListedProblem[];
  /** Epoch milliseconds from which this is the list of its revision. Before, it had problems that are no longer listed. */
  readonly validFrom: number;
  /** Epoch milliseconds at which the first problem expires although nothing changes; infinite where none does. */
  readonly validUntil: number;
  /**
   * A hash of the problems. The revision and the time do not determine them, because the known history differs between the
   * nodes of a cluster, and on one node before and after pruning.
   */
  readonly digest: string;
  /**
   * The links that were removed within the window before the time of the revision, even if their devices are gone too. They
   * depend on the log alone.
   */
  readonly removed: readonly LostLink[];
}

export function* listProblems(input: ProblemInput): Steps<ProblemList> {
  const { state, recent, windows } = input;
  const { findings, lost } = yield* findProblems(input);
  const faults = yield* collectPaced(mapInSteps(findings, COST.key, faultOf));
  const graph = yield* state.linkGraph();
  const hosts = yield* locateHosts(
    yield* state.hostCounts(),
    removedHosts(recent, state.time - windows.lostLinkMs),
  );
  const effects = yield* findCutOffs(graph, hosts, lost, faults);
  const causes = yield* findCauses(findings, effects);
  const problems: NetworkProblem[] = [];
  let validUntil = Number.POSITIVE_INFINITY;
  const pause = new Pause();
  for (const finding of findings) {
    problems.push(problemOf(finding, effects, causes));
    if (finding.until !== undefined) validUntil = Math.min(validUntil, Date.parse(finding.until));
    if (pause.due(COST.key)) yield;
  }
  const listed: ListedProblem[] = [];
  const hash = createHash("sha256");
  for (const problem of yield* sortInSteps(problems, compareProblems)) {
    const text = JSON.stringify(problem);
    listed.push({ problem, text });
    hash.update(text);
    if (pause.due(COST.key, text.length)) yield;
  }
  const removed = yield* removedLinks(input);
  const validFrom = yield* lastExpiry(input);
  const digest = hash.digest("base64url").slice(0, DIGEST_CHARS);
  const { revision, time: stateTime } = state;
  return { revision, time: stateTime, problems: listed, validFrom, validUntil, digest, removed };
}

/** The time at which the last expired problem expired, or the time of the state if that is later. */
function* lastExpiry({ state, recent, time, windows }: ProblemInput): Steps<number> {
  let last = state.time;
  for (const [changes, windowMs] of [
    [recent.lost, windows.lostLinkMs],
    [recent.moved, windows.movedHostMs],
  ] as const) {
    const pause = new Pause();
    // The changes are in order of time.
    for (const change of changes.values()) {
      const until = change.time + windowMs;
      if (until > time) break;
      last = Math.max(last, until);
      if (pause.due(COST.key)) yield;
    }
  }
  return last;
}

/** The links that were removed within the window before the time of the state, in order of removal. */
export function* removedLinks({
  state,
  recent,
  windows,
}: Pick<ProblemInput, "state" | "recent" | "windows">): Steps<LostLink[]> {
  const removed: LostLink[] = [];
  const pause = new Pause();
  for (const link of recent.lost.values()) {
    if (link.time + windows.lostLinkMs > state.time) removed.push(link);
    if (pause.due(COST.key)) yield;
  }
  return removed;
}

/** The hosts removed after a time, which depends on the state, so that a list does not change with the clock alone. */
function* removedHosts({ removedHosts: all }: RecentChanges, after: number): Generator<RemovedHost> {
  for (const host of all.values()) if (host.time > after) yield host;
}

/** The fault through which the finding may cut off devices. */
function faultOf({ id, kind, entity, link, since }: Finding): Fault | undefined {
  if (!mayCutOff(kind)) return undefined;
  const at = link ? { src: link.src.device, dst: link.dst.device } : entity;
  return at === undefined ? undefined : { id, at, since: Date.parse(since) };
}

function problemOf(
  { id, kind, isMissing: _, ...rest }: Finding,
  effects: ReadonlyMap<string, FaultEffect>,
  { causedBy, consequences }: Causes,
): NetworkProblem {
  const cutOff = effects.get(id)?.cutOff ?? NOTHING_CUT_OFF;
  const severity = cutOff.deviceCount > 0 ? "critical" : KIND_TRAITS[kind].severity;
  const cause = causedBy.get(id);
  return {
    id,
    severity,
    kind,
    ...rest,
    cutOff,
    ...(cause !== undefined && { causedBy: cause }),
    consequences: consequences.get(id) ?? 0,
  };
}
