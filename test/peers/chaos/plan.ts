/**
 * What happens to the cluster, and when: a function of the seed. Every disturbance ends by itself. One node is never disturbed
 * at any time, and of the engine's three servers two run, but for a few seconds now and then.
 */
import { createRandom, type Random } from "../../../src/sources/demo/demo-random.ts";

export const NODES = 3;
export const SERVERS = 3;

export type Action =
  /** Of a node's process. `empty`: killed, and its data folder is deleted. */
  | { readonly on: "node"; readonly what: "kill" | "pause" | "stop" | "empty" }
  /** Of an engine server's process. */
  | { readonly on: "server"; readonly what: "kill" | "pause" }
  /** Of a node's connections to the engine. `stall`: they stay open, and nothing passes. */
  | { readonly on: "connections"; readonly what: "cut" | "stall" | "lose-answer" }
  /** Between an engine server and the others; nodes reach all of them. */
  | { readonly on: "routes"; readonly what: "cut" | "stall" };

export type Disturbance = Action & {
  readonly atMs: number;
  readonly lastsMs: number;
  /** Numbers of nodes or servers. */
  readonly targets: readonly number[];
};

export interface Plan {
  readonly seed: number;
  readonly durationMs: number;
  /** Whether ways between engine servers are disturbed. */
  readonly hasRoutes: boolean;
  /** Of the bucket; undefined: as the nodes make it. */
  readonly leaseTtlMs: number | undefined;
  readonly disturbances: readonly Disturbance[];
}

const FIRST_MS = 3_000;
const MAX_GAP_MS = 5_000;
const SHORT_LEASE_MS = 3_000;
/** Both servers that a quorum needs are gone for no longer. */
const MAX_WITHOUT_QUORUM_MS = 8_000;
const MAX_LASTS_MS = 22_000;

/** As often as listed. */
const ACTIONS: readonly Action[] = [
  { on: "node", what: "kill" },
  { on: "node", what: "kill" },
  { on: "node", what: "pause" },
  { on: "node", what: "pause" },
  { on: "node", what: "stop" },
  { on: "node", what: "empty" },
  { on: "server", what: "kill" },
  { on: "server", what: "kill" },
  { on: "server", what: "pause" },
  { on: "server", what: "pause" },
  { on: "connections", what: "cut" },
  { on: "connections", what: "stall" },
  { on: "connections", what: "lose-answer" },
  { on: "connections", what: "lose-answer" },
];
const ROUTE_ACTIONS: readonly Action[] = [
  { on: "routes", what: "cut" },
  { on: "routes", what: "stall" },
];

const ON_SERVERS: readonly Action["on"][] = ["server", "routes"];

export function makePlan(seed: number, durationMs: number, hasRoutes = false): Plan {
  const random = createRandom(seed);
  const actions = hasRoutes ? [...ACTIONS, ...ROUTE_ACTIONS] : ACTIONS;
  const leaseTtlMs = random.below(2) === 0 ? SHORT_LEASE_MS : undefined;
  const disturbances: Disturbance[] = [];
  for (let atMs = FIRST_MS; ; atMs += 500 + random.below(MAX_GAP_MS)) {
    const action = pick(random, actions);
    const targets = targetsOf(random, action);
    const longest =
      targets.length > 1 && ON_SERVERS.includes(action.on) ? MAX_WITHOUT_QUORUM_MS : MAX_LASTS_MS;
    const lastsMs = action.what === "lose-answer" ? 0 : 500 + random.below(longest);
    if (atMs + lastsMs > durationMs) break;
    const disturbance = { ...action, atMs, lastsMs, targets };
    const others = disturbances.filter((each) => each.atMs + each.lastsMs > atMs);
    if (isAllowed(disturbance, others)) disturbances.push(disturbance);
  }
  return { seed, durationMs, hasRoutes, leaseTtlMs, disturbances };
}

export const describeDisturbance = ({ on, what, targets, lastsMs }: Disturbance): string =>
  `${what} ${on} ${targets.map((n) => n + 1).join(", ")}${lastsMs > 0 ? ` for ${lastsMs} ms` : ""}`;

function targetsOf(random: Random, { on, what }: Action): number[] {
  const first = random.below(ON_SERVERS.includes(on) ? SERVERS : NODES);
  const next = (first + 1 + random.below(2)) % 3;
  const hasTwo = random.below(5) === 0 && what !== "empty";
  return hasTwo ? [first, next] : [first];
}

/** `others` last at the same time. A node may be killed and started while its connections are cut. */
function isAllowed({ on, targets }: Disturbance, others: readonly Disturbance[]): boolean {
  const targetsOn = (ons: readonly Action["on"][]) =>
    new Set(others.filter((each) => ons.includes(each.on)).flatMap((each) => each.targets));
  // Servers: two at once only together, which is short.
  if (ON_SERVERS.includes(on)) return targetsOn(ON_SERVERS).size === 0;
  const busy = targetsOn([on]);
  if (targets.some((target) => busy.has(target))) return false;
  return targetsOn(["node", "connections"]).union(new Set(targets)).size < NODES;
}

const pick = <T>(random: Random, from: readonly T[]): T => {
  const picked = from[random.below(from.length)];
  if (picked === undefined) throw new Error("nothing to pick from");
  return picked;
};
