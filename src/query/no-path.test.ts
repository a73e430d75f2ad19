/** Why there is no path, against a search that tries each single repair. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { ClaimedNetwork } from "../../test/support/claims.ts";
import { assertProperty, COUNTS_CASES, PROPERTY_TIMEOUT_MS } from "../../test/support/property.ts";
import { runToEnd } from "../lib/steps.ts";
import type { Link } from "../model/entity.ts";
import { linkId } from "../model/ids.ts";
import { History } from "../view/history.ts";
import { findParting } from "./no-path.ts";
import { SinceFinder } from "./problems/since.ts";

const DEVICES: readonly string[] = ["a", "b", "c", "d", "e"];
const PAIRS = DEVICES.flatMap((p, i) => DEVICES.slice(i + 1).map((q) => [p, q] as const));
const DIRECTION_STATES = ["active", "inactive", "lost", "unknown"] as const;
type DirectionState = (typeof DIRECTION_STATES)[number];
type DeviceState = "up" | "down" | "gone";

/** One cable between two devices at most; the port is named after the other device. */
interface Plan {
  readonly devices: ReadonlyMap<string, DeviceState>;
  /** By `src dst`. */
  readonly directions: ReadonlyMap<string, DirectionState>;
}

const endsOf = (src: string, dst: string) => ({
  src: { device: src, port: String(DEVICES.indexOf(dst)) },
  dst: { device: dst, port: String(DEVICES.indexOf(src)) },
});
const idOf = (src: string, dst: string): string => {
  const ends = endsOf(src, dst);
  return linkId(ends.src, ends.dst);
};

const plan: fc.Arbitrary<Plan> = fc
  .record({
    devices: fc.array(fc.constantFrom<DeviceState>("up", "up", "up", "down", "gone"), {
      minLength: 5,
      maxLength: 5,
    }),
    cables: fc.array(
      fc.tuple(
        fc.boolean(),
        fc.constantFrom(...DIRECTION_STATES),
        fc.constantFrom<DirectionState>("active", "active", ...DIRECTION_STATES),
      ),
      { minLength: PAIRS.length, maxLength: PAIRS.length },
    ),
  })
  .map(({ devices, cables }) => {
    // The ends are known.
    const states = new Map(DEVICES.map((id, i) => [id, (i < 2 ? "up" : devices[i]) ?? "up"]));
    const directions = new Map<string, DirectionState>();
    for (const [i, [p, q]] of PAIRS.entries()) {
      const [exists = false, there = "unknown", back = "unknown"] = cables[i] ?? [];
      if (!exists) continue;
      const isGone = states.get(p) === "gone" || states.get(q) === "gone";
      // A link of a device that is gone is not in the list of links.
      for (const [key, state] of [
        [`${p} ${q}`, there],
        [`${q} ${p}`, back],
      ] as const)
        directions.set(key, isGone && state !== "unknown" ? "lost" : state);
    }
    return { devices: states, directions };
  });

/** The directions that may be used, once `repaired` is: a device with all cables at it, or one direction. */
function usable({ devices, directions }: Plan, repaired: string): (src: string, dst: string) => boolean {
  const isUp = (id: string) => devices.get(id) === "up" || id === repaired;
  const stateOf = (src: string, dst: string) => directions.get(`${src} ${dst}`) ?? "unknown";
  const isKnown = (src: string, dst: string) =>
    stateOf(src, dst) !== "unknown" || stateOf(dst, src) !== "unknown";
  return (src, dst) =>
    isUp(src) &&
    isUp(dst) &&
    (stateOf(src, dst) === "active" ||
      `${src} ${dst}` === repaired ||
      ((src === repaired || dst === repaired) && isKnown(src, dst)));
}

function hasPath(plan: Plan, repaired: string): boolean {
  const isUsable = usable(plan, repaired);
  const reached = new Set(["a"]);
  for (const src of reached) for (const dst of DEVICES) if (isUsable(src, dst)) reached.add(dst);
  return reached.has("b");
}

/** The ids of all devices and links whose repair alone gives a path from a to b. */
function singleRepairs(plan: Plan): string[] {
  const { devices, directions } = plan;
  const ids = DEVICES.filter((id) => devices.get(id) !== "up" && hasPath(plan, id));
  for (const src of DEVICES) {
    for (const dst of DEVICES) {
      const state = directions.get(`${src} ${dst}`) ?? "unknown";
      if (state === "active" || !hasPath(plan, `${src} ${dst}`)) continue;
      // A direction that is not known is named by the other one.
      if (state !== "unknown") ids.push(idOf(src, dst));
      else if (directions.get(`${dst} ${src}`) === "active") ids.push(idOf(dst, src));
    }
  }
  return ids.sort();
}

async function explain({ devices, directions }: Plan) {
  const net = new ClaimedNetwork(["first"]);
  const { view, log, committer } = net;
  const history = new History({ view, log, onBatch: (listener) => committer.onBatch(listener) }, 1024 * 1024);
  const known = [...devices].filter(([, state]) => state !== "gone");
  await net.set("first", "devices", ...known.map(([id, state]) => ({ id, available: state === "up" })));
  const all = [...directions].filter(([, state]) => state !== "unknown");
  const claims = all.map(([key, state]) => {
    const [src = "", dst = ""] = key.split(" ");
    return { ...endsOf(src, dst), state: state === "active" ? ("ACTIVE" as const) : ("INACTIVE" as const) };
  });
  const isLost = (i: number) => all[i]?.[1] === "lost";
  const stored = claims.filter((_, i) => !isLost(i));
  if (stored.length > 0) await net.set("first", "links", ...stored);
  const lost = claims
    .filter((_, i) => isLost(i))
    .map(({ src, dst }): Link => {
      const at = new Date(net.clock.now()).toISOString();
      const tracking = { firstSeen: at, lastChanged: at, sources: ["first"], revision: 1 };
      const id = linkId(src, dst);
      return {
        src,
        dst,
        id,
        type: "DIRECT",
        state: "ACTIVE",
        bidirectional: true,
        verified: false,
        ...tracking,
      };
    });
  const removed = lost.map((link) => ({ link, time: net.clock.now() }));
  return runToEnd(findParting(view.capture(), "a", "b", removed, new SinceFinder(history)));
}

test(
  "where one repair is enough, every single one that is, and nothing else, is an obstacle",
  async () => {
    let found = 0;
    await assertProperty(
      fc.asyncProperty(plan, async (network) => {
        fc.pre(!hasPath(network, ""));
        const { needed, obstacles, obstacleCount } = await explain(network);
        const expected = singleRepairs(network);
        expect(needed === 1).toBe(expected.length > 0);
        if (needed !== 1) return;
        found++;
        expect(obstacles.map(({ id }) => id).sort()).toEqual(expected);
        expect(obstacleCount).toBe(expected.length);
      }),
      150,
    );
    if (COUNTS_CASES) expect(found).toBeGreaterThan(20);
  },
  PROPERTY_TIMEOUT_MS,
);
