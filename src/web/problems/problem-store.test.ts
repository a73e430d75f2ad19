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

test("there is room for the problems that are not acknowledged, whatever became of others", () => {
  const { live, acknowledged, room, liveSections } = createProblemStore(signal(DEFAULT_STATE));
  const lostLinks = (count: number, name: string) =>
    Array.from({ length: count }, (_, n) => ({ ...lostLink, id: `${name}${n}` }));
  const show = (problems: NetworkProblem[]) => {
    live.value = { problems, state: "current", receivedMs: 1 };
  };
  show(lostLinks(1000, "gone"));
  acknowledged.set(live.value.problems, true);
  expect(room.value).toBe(MAX_ACKNOWLEDGED - 1000);
  show(lostLinks(MAX_ACKNOWLEDGED + 1000, "p"));
  expect(room.value).toBe(MAX_ACKNOWLEDGED);
  acknowledged.set(live.value.problems.slice(0, room.value), true);
  expect(room.value).toBe(0);
  expect(liveSections.value.major.waiting.map(({ id }) => id)).toEqual(
    Array.from({ length: 1000 }, (_, n) => `p${MAX_ACKNOWLEDGED + n}`),
  );
});

test("what calls for attention follows from no other problem and is no notice; the worst are counted apart", () => {
  const { live, acknowledged, open, sections } = createProblemStore(signal(DEFAULT_STATE));
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
  expect(sections.value.critical.waiting).toHaveLength(2);
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

test("of more than there is room for, the worst stay acknowledged", () => {
  const entries = changedEntries(new Map(), many(MAX_ACKNOWLEDGED + 1000), true, none);
  expect(entries.size).toBe(MAX_ACKNOWLEDGED);
  expect(entries.has("p0")).toBe(true);
  expect(entries.has(`p${MAX_ACKNOWLEDGED}`)).toBe(false);
});

test("entries of problems that are gone are dropped first, then the oldest", () => {
  const old = changedEntries(new Map(), many(10), true, none);
  const full = changedEntries(old, many(MAX_ACKNOWLEDGED - 10, 10), true, none);
  const listed = () => new Set([...full.keys()].filter((id) => id !== "p50"));
  const entries = changedEntries(full, [problem(-1)], true, listed);
  expect([entries.size, entries.has("p50"), entries.has("p9")]).toEqual([MAX_ACKNOWLEDGED, false, true]);
  const next = changedEntries(entries, [problem(-2)], true, () => new Set(entries.keys()));
  expect([next.size, next.has("p9"), next.has("p-2")]).toEqual([MAX_ACKNOWLEDGED, false, true]);
});

test("what another program stored is ignored", () => {
  for (const text of [undefined, "", "{", "7", "{}", '["a"]', '[["a"],["a",1]]'])
    expect(parseEntries(text).size).toBe(0);
  expect([...parseEntries('[["a","b"],["c",1]]')]).toEqual([["a", "b"]]);
});
