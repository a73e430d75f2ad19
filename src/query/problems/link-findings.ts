/**
 * Findings are problems before their consequences are computed. Here are those about links that are INACTIVE, one-sided or
 * lost. A cable has one finding of each kind, even if both of its links have the problem.
 */
import { COST, collectPaced, mapPaced, type Paced, Pause, type Steps } from "../../lib/steps.ts";
import { cableId, reverseLinkId } from "../../model/cable.ts";
import type { Link } from "../../model/entity.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import type { ProblemKind } from "../../model/problem-kinds.ts";
import type { NetworkState } from "../../view/view.ts";
import type { EntityNames } from "./entity-names.ts";
import type { DevicePair } from "./parts.ts";
import type { LostLink, ProblemWindows, RecentChanges } from "./recent-changes.ts";
import type { Condition, SinceFinder } from "./since.ts";

/** The state whose problems are found, and what else they depend on. */
export interface ProblemInput {
  readonly state: NetworkState;
  readonly recent: RecentChanges;
  readonly finder: SinceFinder;
  /** Problems that are listed for a limited time are found if that time is not over then. Epoch milliseconds. */
  readonly time: number;
  readonly windows: ProblemWindows;
}

/** A problem without the fields that depend on all problems together. */
export interface Finding extends Omit<NetworkProblem, "severity" | "cutOff" | "causedBy" | "consequences"> {
  /** Set for drift if everything that the finding is about is intended and not observed. */
  readonly isMissing?: boolean;
}

export const isoTime = (ms: number): string => new Date(ms).toISOString();

export const IS_INACTIVE: Condition<"links"> = {
  name: "inactive",
  kind: "links",
  holds: ({ state }) => state === "INACTIVE",
};
export const IS_ONE_SIDED: Condition<"links"> = {
  name: "one-sided",
  kind: "links",
  holds: ({ bidirectional }) => !bidirectional,
};

/** Selects the ACTIVE links. The problem of an INACTIVE link that is known in one direction is its state, not its direction. */
export const activeOnly = (links: Paced<Link>): Paced<Link> =>
  mapPaced(links, (link) => (link.state === "ACTIVE" ? link : undefined));

const LINK_TEXTS = {
  "link-inactive": "is down",
  "link-one-sided": "is known in one direction only",
  "link-lost": "is lost: no source reports it any more",
} as const satisfies Partial<Record<ProblemKind, string>>;

export function* linkFindings(
  kind: "link-inactive" | "link-one-sided",
  condition: Condition<"links">,
  links: Paced<Link>,
  finder: SinceFinder,
  names: EntityNames,
): Steps<Finding[]> {
  const found = yield* collectPaced(links);
  const since = yield* finder.find(condition, found);
  const cables = new CableFindings(aboutLinks(kind, names));
  const pause = new Pause();
  for (const link of found) {
    if (pause.due(COST.key)) yield;
    cables.add(link, since.get(link.id) ?? link.lastChanged);
  }
  return yield* cables.findings();
}

interface CableSide {
  readonly link: Link;
  readonly since: string;
}

/** A cable is inactive or one-sided since the first of its links is. The link with the lower id names the cable. */
const firstOf = (a: CableSide, b: CableSide): CableSide => ({
  link: a.link.id < b.link.id ? a.link : b.link,
  since: a.since < b.since ? a.since : b.since,
});

/** A cable is lost since the last of its links is. That link names it, so that nothing changes when the other expires. */
const lastOf = (a: CableSide, b: CableSide): CableSide =>
  a.since === b.since ? firstOf(a, b) : a.since > b.since ? a : b;

/** The description of a kind of problem of cables. */
interface CableProblem {
  readonly kind: ProblemKind;
  /** The prefix of the problem's id, before the id of the cable. */
  readonly prefix: string;
  /** Returns a sentence about the affected links of a cable. The first link names the cable. */
  text(links: readonly [Link, ...Link[]]): string;
  /** Chooses which of the two links of a cable names it, and since when. The default is `firstOf`. */
  readonly join?: typeof firstOf;
  /** Returns whether a link is intended and not observed. */
  readonly isMissing?: (link: Link) => boolean;
}

const aboutLinks = (kind: keyof typeof LINK_TEXTS, names: EntityNames): CableProblem => ({
  kind,
  prefix: `${kind}:`,
  text: ([link]) => `${names.entity("links", link)} ${LINK_TEXTS[kind]}.`,
});

/** Collects one finding per cable. */
export class CableFindings {
  readonly #problem: CableProblem;
  readonly #cables = new Map<string, CableSide[]>();

  constructor(problem: CableProblem) {
    this.#problem = problem;
  }

  add(link: Link, since: string): void {
    const id = cableId(link);
    const other = this.#cables.get(id);
    if (other) other.push({ link, since });
    else this.#cables.set(id, [{ link, since }]);
  }

  *findings(windowMs?: number): Steps<Finding[]> {
    const findings: Finding[] = [];
    const pause = new Pause();
    for (const [id, sides] of this.#cables) {
      findings.push(this.#finding(id, sides, windowMs));
      if (pause.due(COST.record)) yield;
    }
    return findings;
  }

  #finding(cable: string, sides: readonly CableSide[], windowMs: number | undefined): Finding {
    const { kind, prefix, text, join = firstOf, isMissing } = this.#problem;
    const { link, since } = sides.reduce(join);
    const { src, dst } = link;
    const links: [Link, ...Link[]] = [link];
    for (const side of sides) if (side.link !== link) links.push(side.link);
    return {
      id: prefix + cable,
      kind,
      since,
      ...(windowMs !== undefined && { until: isoTime(Date.parse(since) + windowMs) }),
      resource: "links",
      entity: link.id,
      link: { src, dst },
      devices: src.device === dst.device ? [src.device] : [src.device, dst.device],
      sources: [...new Set(links.flatMap(({ sources }) => sources))],
      text: text(links),
      ...(isMissing && { isMissing: links.every(isMissing) }),
    };
  }
}

/** Whether the link is lost. If the other direction is still known, the link is one-sided, not lost. */
function isLost(state: NetworkState, { link }: LostLink): boolean {
  const { src, dst } = link;
  const isKnown = (device: string) => state.get("devices", device) !== undefined;
  return isKnown(src.device) && isKnown(dst.device) && state.get("links", reverseLinkId(link)) === undefined;
}

/** Adds the ends of the found links to `pairs`. */
export function* lostFindings(
  { state, recent, time, windows: { lostLinkMs } }: ProblemInput,
  names: EntityNames,
  pairs: DevicePair[],
): Steps<Finding[]> {
  const cables = new CableFindings({ ...aboutLinks("link-lost", names), join: lastOf });
  const pause = new Pause();
  for (const removed of recent.lost.values()) {
    if (pause.due(3 * COST.key)) yield;
    if (removed.time + lostLinkMs > time && isLost(state, removed)) {
      const { src, dst } = removed.link;
      pairs.push({ src: src.device, dst: dst.device });
      cables.add(removed.link, isoTime(removed.time));
    }
  }
  return yield* cables.findings(lostLinkMs);
}

/** One link of each lost cable, in order of removal. */
export function* findLostCables(state: NetworkState, removed: readonly LostLink[]): Steps<readonly Link[]> {
  const cables = new Map<string, Link>();
  const pause = new Pause();
  for (const lost of removed) {
    if (pause.due(3 * COST.key)) yield;
    if (isLost(state, lost)) cables.set(cableId(lost.link), lost.link);
  }
  return [...cables.values()];
}
