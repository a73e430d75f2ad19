import { expect, test } from "bun:test";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { problemDetail, problemName } from "./problem-target.ts";

const problem = (more: Partial<NetworkProblem>): NetworkProblem => ({
  id: "p",
  severity: "warning",
  kind: "drift",
  since: "2026-11-15T03:12:00.000Z",
  resource: "devices",
  entity: "of:1",
  devices: ["of:1"],
  sources: ["plan"],
  text: "",
  cutOff: { devices: [], deviceCount: 0, hostCount: 0 },
  consequences: 0,
  ...more,
});

test.each([
  ["Device core-1 (of:1) is planned and missing.", "Planned and missing"],
  ["Device core-1 is not planned.", "Not planned"],
  [
    "Device core-1 differs from the plan: type, annotations.site.",
    "Differs from the plan: type, annotations.site",
  ],
  ["Another sentence.", "Another sentence."],
])("the detail of drift does not repeat the name: %s", (text, detail) => {
  expect(problemDetail(problem({ text }))).toBe(detail);
});

test("a cable whose links differ from the plan in other ways has a detail about both directions", () => {
  const text = "Link a/1 to b/1[eth1] is not planned. Link b/1[eth1] to a/1 differs from the plan: type.";
  expect(problemDetail(problem({ resource: "links", text }))).toBe(
    "One direction is not planned, the other differs from the plan: type",
  );
});

test("ports have the names that the service states", () => {
  const location = { elementId: "of:1", port: "3" };
  const moved = problem({
    kind: "host-moved",
    resource: "hosts",
    moved: { from: location, to: location },
    text: "Host pc-1 moved from leaf-1/3[eth3] to leaf-2/4.",
  });
  expect(problemDetail(moved)).toBe("From leaf-1/3[eth3] to leaf-2/4");
  const port = problem({ resource: "ports", entity: "of:1/3", text: "Port leaf-1/3[eth3] is not planned." });
  expect([problemName(undefined, port), problemDetail(port)]).toEqual(["leaf-1/3[eth3]", "Not planned"]);
  const conflict = { ...port, kind: "conflict", text: "Port leaf-1/3[eth3]: two cables." } as const;
  expect([problemName(undefined, conflict), problemDetail(conflict)]).toEqual([
    "leaf-1/3[eth3]",
    "Two cables.",
  ]);
});
