/** One fault is one problem: what follows from it names it, whatever the order in which everything was reported. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { runToEnd } from "../../src/lib/steps.ts";
import type { ClaimChange } from "../../src/model/claim.ts";
import type { NetworkProblem } from "../../src/model/network-problem.ts";
import { Problems } from "../../src/query/problems/problems.ts";
import { History } from "../../src/view/history.ts";
import { ClaimedNetwork } from "../support/claims.ts";
import { assertProperty, COUNTS_CASES, PROPERTY_TIMEOUT_MS } from "../support/property.ts";
import { openHarness } from "./harness.ts";
import { commitPlanned, plannedDevice, plannedLink, plannedPort } from "./planned-network.ts";
import { A, B, C, device, host, link, linkOf, noLink, PROBLEMS, read, TREE } from "./problem-network.ts";

const [D, E, F] = ["dev:d", "dev:e", "dev:f"] as const;
const causes = (problems: readonly NetworkProblem[]): Record<string, string | undefined> =>
  Object.fromEntries(problems.map(({ id, causedBy }) => [id, causedBy]));

test("a device that fails is one problem, with its links and the devices behind it as consequences", async () => {
  await using harness = await openHarness();
  await harness.apply([
    ...TREE,
    device(D),
    device(E),
    device(F),
    ...link(C, D),
    ...link(D, E),
    ...link(D, F),
  ]);
  await harness.apply(noLink(D, F));
  await harness.apply([device(D, false), ...link(D, E, "INACTIVE")]);
  await harness.apply([device(C, false), ...link(C, D, "INACTIVE"), ...noLink(A, C)]);
  const body = await read(harness);
  const cause = `device-unavailable:${C}`;
  expect(causes(body.problems)).toEqual({
    [cause]: undefined,
    [`device-unavailable:${D}`]: cause,
    // Of its two devices that failed the earlier one, and so what that one follows from.
    [`link-inactive:${linkOf(C, D)}`]: cause,
    [`link-inactive:${linkOf(D, E)}`]: cause,
    [`link-lost:${linkOf(A, C)}`]: cause,
    [`link-lost:${linkOf(D, F)}`]: cause,
  });
  expect(body.problems[0]).toMatchObject({ id: cause, consequences: 5 });
  expect(body.problems.slice(1).every(({ consequences }) => consequences === 0)).toBe(true);
  // The order, the counts and what is cut off are those of all problems.
  expect(body.problems[0]?.cutOff.deviceCount).toBe(4);
  expect(body.counts).toMatchObject({ "device-unavailable": 2, "link-inactive": 2, "link-lost": 2 });
  const idsOf = async (query: string) => (await read(harness, query)).problems.map(({ id }) => id);
  expect(await idsOf("?causedBy=")).toEqual([cause]);
  expect(await idsOf(`?kind=link-lost&causedBy=${cause}`)).toHaveLength(2);
  expect(await idsOf(`?causedBy=,${encodeURIComponent(cause)}`)).toHaveLength(6);
  expect(await idsOf("?causedBy=nothing")).toEqual([]);
  expect((await harness.fetch(`${PROBLEMS}?causedBy=a&causedBy=b`)).status).not.toBe(500);
  // Without its cause each is a problem of its own.
  await harness.apply([device(C), ...link(A, C), ...link(C, D, "INACTIVE")]);
  expect(causes((await read(harness)).problems)).toMatchObject({
    [`device-unavailable:${D}`]: undefined,
    [`link-inactive:${linkOf(C, D)}`]: `device-unavailable:${D}`,
  });
});

test("a cut cable is the cause of the devices that it alone separates, not of a link between available ones", async () => {
  await using harness = await openHarness();
  await harness.apply([...TREE, device(D), device(E), ...link(C, D), ...link(D, E), host(5, A), host(6, A)]);
  await harness.apply(noLink(A, C));
  await harness.apply([device(E, false), ...link(C, D, "INACTIVE")]);
  const lost = `link-lost:${linkOf(A, C)}`;
  expect(causes((await read(harness)).problems)).toEqual({
    [lost]: undefined,
    [`device-unavailable:${E}`]: lost,
    [`link-inactive:${linkOf(C, D)}`]: undefined,
  });
});

test("of two devices of a link that failed at the same time, the lower id is the cause", async () => {
  await using harness = await openHarness();
  await harness.apply([...TREE, device(D), ...link(C, D), ...link(B, D), ...link(B, C)]);
  await harness.apply([device(C, false), device(D, false), ...link(C, D, "INACTIVE")]);
  expect(causes((await read(harness)).problems)).toMatchObject({
    [`link-inactive:${linkOf(C, D)}`]: `device-unavailable:${C}`,
  });
});

test("what is missing of a missing device, and of a cable that is lost, follows from those", async () => {
  await using harness = await openHarness();
  await harness.apply([
    ...[A, B, C].map((id) => device(id)),
    ...[
      [A, B],
      [B, A],
    ].map(([from = "", to = ""]): ClaimChange => {
      const [src, dst] = [
        { device: from, port: from === A ? "1" : "2" },
        { device: to, port: to === A ? "1" : "2" },
      ];
      return { op: "set", kind: "links", claim: { src, dst } };
    }),
  ]);
  await harness.apply([
    { op: "remove", kind: "links", id: `${A}/1-${B}/2` },
    { op: "remove", kind: "links", id: `${B}/2-${A}/1` },
  ]);
  const back = plannedLink(B, A, "missing");
  if (back.kind !== "links") throw new Error("no link");
  const [src, dst] = [
    { device: B, port: "2" },
    { device: A, port: "1" },
  ];
  await commitPlanned(harness, [
    plannedDevice(D, "missing"),
    plannedPort(D, "1", "missing"),
    plannedPort(C, "7", "missing"),
    plannedLink(D, A, "missing"),
    plannedLink(C, B, "missing"),
    plannedLink(A, B, "missing"),
    { kind: "links", value: { ...back.value, src, dst, id: `${B}/2-${A}/1` } },
  ]);
  const { problems } = await read(harness);
  expect(causes(problems)).toEqual({
    [`link-lost:${A}/1-${B}/2`]: undefined,
    [`drift:devices:${D}`]: undefined,
    [`drift:ports:${D}/1`]: `drift:devices:${D}`,
    [`drift:ports:${C}/7`]: undefined,
    [`drift:links:${A}/2-${D}/1`]: `drift:devices:${D}`,
    [`drift:links:${B}/2-${C}/1`]: undefined,
    [`drift:links:${A}/1-${B}/2`]: `link-lost:${A}/1-${B}/2`,
  });
  expect(problems.find(({ id }) => id === `drift:links:${A}/1-${B}/2`)).toMatchObject({
    entity: `${A}/1-${B}/2`,
    link: { src: { device: A, port: "1" }, dst: { device: B, port: "2" } },
    text: `Cable ${A}/1 to ${B}/2 is planned and missing.`,
  });
});

test("a cable whose two links differ from the plan in different ways is one problem with both", async () => {
  await using harness = await openHarness();
  await harness.apply([device(A), device(B)]);
  const unplanned = plannedLink(B, A, "unplanned");
  if (unplanned.kind !== "links") throw new Error("no link");
  const [src, dst] = [
    { device: B, port: "2" },
    { device: A, port: "1" },
  ];
  await commitPlanned(harness, [
    plannedLink(A, B, "missing"),
    { kind: "links", value: { ...unplanned.value, src, dst, id: `${B}/2-${A}/1` } },
  ]);
  const { problems } = await read(harness, "?kind=drift");
  expect(problems.map(({ id, causedBy, text }) => [id, causedBy, text])).toEqual([
    [
      `drift:links:${A}/1-${B}/2`,
      undefined,
      `Link ${A}/1 to ${B}/2 is planned and missing. Link ${B}/2 to ${A}/1 is not planned.`,
    ],
  ]);
});

const DEVICES = [A, B, C, D, E, F];
const CABLE_STATES = ["up", "up", "inactive", "lost", "one-sided"] as const;
type CableState = (typeof CABLE_STATES)[number];

interface Cable {
  /** The lower id first. */
  readonly ends: readonly [string, string];
  readonly state: CableState;
}

interface Plan {
  readonly down: ReadonlySet<string>;
  /** By the id of the cable. */
  readonly cables: ReadonlyMap<
    string,
    { readonly ends: readonly [string, string]; readonly state: CableState }
  >;
}

/** A tree, so that much is separated by one problem alone, and up to two more cables. */
const plan: fc.Arbitrary<Plan> = fc
  .record({
    // The first device is in the largest part: most hosts are there.
    down: fc.subarray(DEVICES.slice(1)),
    uplinks: fc.tuple(fc.nat(0), fc.nat(1), fc.nat(2), fc.nat(3), fc.nat(4)),
    more: fc.array(fc.uniqueArray(fc.nat(5), { minLength: 2, maxLength: 2 }), { maxLength: 2 }),
    states: fc.array(fc.constantFrom(...CABLE_STATES), { minLength: 7, maxLength: 7 }),
  })
  .map(({ down, uplinks, more, states }) => {
    const numbers = [
      ...uplinks.map((up, i) => [up, i + 1]),
      ...more.map((pair) => pair.sort((p, q) => p - q)),
    ];
    const cables = numbers.map(([p = 0, q = 0], i): [string, Cable] => {
      const ends: [string, string] = [DEVICES[p] ?? A, DEVICES[q] ?? A];
      return [linkOf(...ends), { ends, state: states[i] ?? "up" }];
    });
    return { down: new Set(down), cables: new Map(cables) };
  });

/** The problems of the network, which is reported in this order, all at the same time. */
async function listOf({ down, cables }: Plan, isReversed: boolean): Promise<NetworkProblem[]> {
  const net = new ClaimedNetwork(["first"]);
  const { view, log, committer, clock } = net;
  const history = new History({ view, log, onBatch: (listener) => committer.onBatch(listener) }, 1024 * 1024);
  const inOrder = <T>(items: T[]): T[] => (isReversed ? items.reverse() : items);
  const all = inOrder([...cables.values()]);
  await net.apply("first", ...inOrder(DEVICES.map((id) => device(id))));
  await net.apply(
    "first",
    ...all.flatMap(({ ends }) => inOrder(link(...ends))),
    host(1, A),
    host(2, A),
    host(3, A),
  );
  for (const { ends, state } of all) {
    if (state === "inactive") await net.apply("first", ...inOrder(link(...ends, "INACTIVE")));
    if (state === "lost") await net.apply("first", ...inOrder(noLink(...ends)));
    if (state === "one-sided") await net.apply("first", ...noLink(...ends).slice(1));
  }
  for (const id of inOrder([...down])) await net.apply("first", device(id, false));
  const list = runToEnd(new Problems(history, clock).newest());
  return list.problems.map(({ problem }) => problem);
}

/** The devices that are joined with the first one, by what `isUsable` says of a cable and of a device. */
function joined(plan: Plan, isUsable: (id: string) => boolean): Set<string> {
  const reached = new Set<string>([A]);
  for (const from of reached)
    for (const [id, { ends }] of plan.cables) {
      const [p, q] = ends;
      const to = p === from ? q : q === from ? p : undefined;
      if (to !== undefined && isUsable(id) && isUsable(to)) reached.add(to);
    }
  return reached;
}

/** The problems that alone separate the device from the largest part, and how much each of them separates. */
function separatorsOf(plan: Plan, target: string): { readonly id: string; readonly size: number }[] {
  const { down, cables } = plan;
  const whole = joined(plan, () => true);
  if (!whole.has(target)) return [];
  const isFault = (ends: readonly string[], state: CableState) =>
    (state === "inactive" || state === "lost") && ends.every((id) => !down.has(id));
  const faults = [
    ...[...down].map((id) => [id, `device-unavailable:${id}`] as const),
    ...[...cables].flatMap(([id, { ends, state }]) =>
      isFault(ends, state) ? [[id, `link-${state}:${id}`] as const] : [],
    ),
  ];
  return faults.flatMap(([at, id]) => {
    if (at === target) return [];
    const rest = joined(plan, (one) => one !== at);
    return rest.has(target) ? [] : [{ id, size: whole.size - rest.size }];
  });
}

test(
  "a cause is a problem of the list without a cause; each has the number of its consequences; the order is of no effect",
  async () => {
    let separated = 0;
    await assertProperty(
      fc.asyncProperty(plan, async (network) => {
        const problems = await listOf(network, false);
        const byId = new Map(problems.map((problem) => [problem.id, problem]));
        for (const { id, causedBy, consequences } of problems) {
          if (causedBy !== undefined)
            expect([id, byId.get(causedBy)?.causedBy, byId.has(causedBy)]).toEqual([id, undefined, true]);
          expect(consequences).toBe(problems.filter((other) => other.causedBy === id).length);
        }
        for (const { id, kind, causedBy, devices } of problems) {
          const ends = devices.filter((end) => network.down.has(end)).sort();
          if (kind !== "device-unavailable") {
            const [first] = ends;
            const device = first === undefined ? undefined : `device-unavailable:${first}`;
            expect([id, causedBy]).toEqual([id, byId.get(device ?? "")?.causedBy ?? device]);
            continue;
          }
          const found = separatorsOf(network, devices[0] ?? "").sort(
            (p, q) => q.size - p.size || (p.id < q.id ? -1 : 1),
          );
          expect([id, causedBy]).toEqual([id, found[0]?.id]);
          if (causedBy !== undefined) separated++;
        }
        expect(await listOf(network, true)).toEqual(problems);
      }),
      40,
    );
    if (COUNTS_CASES) expect(separated).toBeGreaterThan(10);
  },
  PROPERTY_TIMEOUT_MS,
);
