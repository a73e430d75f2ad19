import { expect, test } from "bun:test";
import { signal } from "@preact/signals";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { DEFAULT_STATE } from "../data/view-state.ts";
import { changedEntries, createProblemStore, MAX_ACKNOWLEDGED, parseEntries } from "./problem-store.ts";

const lostLink: NetworkProblem = {
  id: "link-lost:a/1-b/1",
  severity: "major",
  kind: "link-lost",
  since: "2026-11-15T03:12:00.000Z",
  resource: "links",
  devices: ["a", "b"],
  sources: ["racks"],
  text: "",
  cutOff: { devices: [], deviceCount: 0, hostCount: 0 },
  consequences: 0,
};

test("a lost link is another one when its problem changes, and the same while others change", () => {
  const { live, lost } = createProblemStore(signal(DEFAULT_STATE));
  const show = (...problems: NetworkProblem[]) => {
    live.value = { problems, state: "current", receivedMs: 1 };
    return lost.value;
  };
  const first = show(lostLink);
  expect(first).toEqual([lostLink]);
  expect(show(lostLink, { ...lostLink, id: "conflict:a", kind: "conflict" })).toBe(first);
  const worse: NetworkProblem = { ...lostLink, severity: "critical" };
  expect(show(worse)).toEqual([worse]);
});

test("what calls for attention follows from no other problem and is no notice; the worst are counted apart", () => {
  const { live, acknowledged, open, sections, followers } = createProblemStore(signal(DEFAULT_STATE));
  const down: NetworkProblem = { ...lostLink, id: "down", kind: "device-unavailable", severity: "critical" };
  const problems: NetworkProblem[] = [
    down,
    { ...down, id: "behind", causedBy: "down" },
    lostLink,
    { ...lostLink, id: "of the device", causedBy: "down" },
    { ...lostLink, id: "other" },
    { ...lostLink, id: "moved", kind: "host-moved", severity: "notice" },
  ];
  live.value = { problems, state: "current", receivedMs: 1 };
  expect(open.value).toEqual({ count: 3, worst: "critical", worstCount: 1 });
  expect(sections.value.critical.waiting).toEqual([down]);
  expect([...followers.value].map(([cause, some]) => [cause, some.map(({ id }) => id)])).toEqual([
    ["down", ["behind", "of the device"]],
  ]);
  acknowledged.set([down], true);
  expect(open.value).toEqual({ count: 2, worst: "major", worstCount: 2 });
  acknowledged.set(problems, true);
  expect(open.value).toEqual({ count: 0, worst: undefined, worstCount: 0 });
});

const problem = (n: number) => ({ id: `p${n}`, since: `t${n}` });

const none = () => new Set<string>();

test("a problem is acknowledged with its time, and no longer when that is undone", () => {
  const one = changedEntries(new Map(), [problem(1), problem(2)], true, none);
  expect([...one]).toEqual([
    ["p2", "t2"],
    ["p1", "t1"],
  ]);
  expect([...changedEntries(one, [problem(1)], false, none)]).toEqual([["p2", "t2"]]);
  expect([...changedEntries(one, [{ id: "p2", since: "later" }], true, none)]).toEqual([
    ["p1", "t1"],
    ["p2", "later"],
  ]);
});

const many = (count: number, first = 0) => Array.from({ length: count }, (_, n) => problem(first + n));

test("of more than fit, entries of problems that are gone are dropped first, then the oldest", () => {
  const fits = many(MAX_ACKNOWLEDGED - 1);
  const gone = changedEntries(new Map(), [problem(-1)], true, none);
  const full = changedEntries(gone, fits, true, none);
  expect([full.size, full.has("p-1")]).toEqual([MAX_ACKNOWLEDGED, true]);
  const listed = () => new Set([...many(MAX_ACKNOWLEDGED + 1), problem(-2)].map(({ id }) => id));
  const next = changedEntries(full, [problem(-2)], true, listed);
  expect([next.size, next.has("p-1"), next.has("p-2")]).toEqual([MAX_ACKNOWLEDGED, false, true]);
  // The problems of one step are sorted, and the worst stay.
  const entries = changedEntries(next, many(MAX_ACKNOWLEDGED + 1), true, listed);
  expect([entries.size, entries.has("p0"), entries.has("p-2")]).toEqual([MAX_ACKNOWLEDGED, true, false]);
  expect(entries.has(`p${MAX_ACKNOWLEDGED}`)).toBe(false);
});

test("what another program stored is ignored", () => {
  for (const text of [undefined, "", "{", "7", "{}", '["a"]', '[["a"],["a",1]]'])
    expect(parseEntries(text).size).toBe(0);
  expect([...parseEntries('[["a","b"],["c",1]]')]).toEqual([["a", "b"]]);
});
