import { expect, test } from "bun:test";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { compareProblems } from "../../model/problem-kinds.ts";
import { newOccurrences } from "./new-problems.tsx";

const problem = (id: string, fields: Partial<NetworkProblem> = {}): NetworkProblem => ({
  id,
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
const [a, b, c] = [problem("a"), problem("b"), problem("c")];
const LATER = "2026-11-15T04:00:00.000Z";

test.each<[string, NetworkProblem[], NetworkProblem[], string[]]>([
  ["the same", [a, b], [a, b], []],
  ["read again", [a, b], [problem("a"), problem("b")], []],
  ["added", [b], [a, b, c], ["a", "c"]],
  ["gone", [a, b, c], [b], []],
  ["back at another time", [a, b, c], [a, problem("b", { since: LATER }), c], ["b"]],
  ["critical", [a, b, c], [a, b, problem("c", { severity: "critical" })], ["c"]],
  ["no longer critical", [problem("b", { severity: "critical" }), a], [a, b], ["b"]],
  [
    "another cut-off",
    [a, b],
    [a, problem("b", { cutOff: { devices: [], deviceCount: 1, hostCount: 4 } })],
    [],
  ],
  ["another severity below critical", [a, b], [a, problem("b", { severity: "minor" })], []],
  ["of none", [], [a], ["a"]],
])("new occurrences in a list that is: %s", (_, before, after, expected) => {
  const sorted = (list: NetworkProblem[]) => list.toSorted(compareProblems);
  expect(newOccurrences(sorted(before), sorted(after)).map(({ id }) => id)).toEqual(expected);
});
