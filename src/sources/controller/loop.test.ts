import { expect, test } from "bun:test";
import { describeLoop, upstreamLogsOf } from "./gazetteer.ts";
import type { GazetteerPeer } from "./peer.ts";

const peer = (
  logId: string,
  upstreamLogs: Readonly<Record<string, readonly string[]>> = {},
): GazetteerPeer => ({
  ok: true,
  kind: "gazetteer",
  logId,
  sources: Object.entries(upstreamLogs).map(([name, logs]) => ({ name, upstreamLogs: logs })),
  isStarting: false,
});

test("no loop: a chain, a diamond, no log of its own", () => {
  expect(describeLoop("A", peer("B"), "b")).toBeUndefined();
  expect(describeLoop("A", peer("B", { x: ["C", "D"], y: ["D"] }), "b")).toBeUndefined();
  expect(describeLoop(undefined, peer("B", { x: ["A"] }), "b")).toBeUndefined();
});

test("the message names the loop", () => {
  expect(describeLoop("A", peer("A"), "b:80")).toBe(
    "refused: b:80 has the log of this service (A); it is this service itself, or a copy of its data folder",
  );
  expect(describeLoop("A", peer("B", { x: ["C"], y: ["A"] }), "b:80")).toBe(
    'refused, a loop: this service (log A) reads from b:80 (log B), whose source "y" reads from this service; remove one of these sources',
  );
  expect(describeLoop("A", peer("B", { x: ["C", "A"] }), "b:80")).toContain("through another Gazetteer;");
});

test("the logs of a peer are its own and those of its sources", () => {
  expect(upstreamLogsOf(peer("B", { x: ["C", "D"], y: ["D", "B"] }))).toEqual(["B", "C", "D"]);
});
