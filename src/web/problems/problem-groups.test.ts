import { expect, test } from "bun:test";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { divideProblems, groupProblems } from "./problem-groups.ts";

const problem = (n: number, fields: Partial<NetworkProblem> = {}): NetworkProblem => ({
  id: `p${n}`,
  severity: "major",
  kind: "link-lost",
  since: "2026-11-15T03:12:00.000Z",
  resource: "links",
  devices: [],
  sources: [],
  text: "",
  cutOff: { devices: [], deviceCount: 0, hostCount: 0 },
  consequences: 0,
  ...fields,
});
const ALL = { severities: [], acknowledged: true };
const many = (count: number, first = 0) => Array.from({ length: count }, (_, n) => problem(first + n));

test("groups are worst first, and leave out what is acknowledged or filtered", () => {
  const problems = [problem(1, { severity: "critical" }), problem(2), problem(3, { severity: "warning" })];
  const severities = (filter: typeof ALL | { severities: ["warning"]; acknowledged: boolean }) =>
    groupProblems(
      divideProblems(problems, ({ id }) => id === "p2"),
      filter,
      new Map(),
    ).map(({ severity }) => severity);
  expect(severities(ALL)).toEqual(["critical", "major", "warning"]);
  expect(severities({ ...ALL, acknowledged: false })).toEqual(["critical", "warning"]);
  expect(severities({ severities: ["warning"], acknowledged: true })).toEqual(["warning"]);
});

test.each([
  [8, undefined, 8, 0],
  [9, undefined, 6, 3],
  [500, undefined, 6, 494],
  [500, 50, 56, 444],
  [20, 50, 20, 0],
])("of %i of one kind with %p more, %i are shown and %i are left", (count, more, shown, rest) => {
  const key = "major link-lost";
  const [group] = groupProblems(
    divideProblems([...many(count), problem(-1, { kind: "conflict" })], () => false),
    ALL,
    new Map(more === undefined ? [] : [[key, more]]),
  );
  expect(group?.problems).toHaveLength(count + 1);
  expect(group?.kinds.map((kind) => [kind.kind, kind.shown.length, kind.rest])).toEqual([
    ["link-lost", shown, rest],
    ["conflict", 1, 0],
  ]);
});
