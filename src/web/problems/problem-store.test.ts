import { expect, test } from "bun:test";
import { signal } from "@preact/signals";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { DEFAULT_STATE } from "../state.ts";
import { createProblemStore } from "./problem-store.ts";

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
