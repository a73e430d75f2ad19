import { expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import type { NetworkProblem } from "../model/network-problem.ts";
import { type WatchContext, watch } from "./watch.ts";
import { ProblemsState } from "./watch-problems.ts";

const text = (event: string, revision: number, id: string, isLast: boolean, severity = "major") =>
  `${isLast ? `id: ${revision}\n` : ""}event: ${event}\ndata: ${JSON.stringify({
    resource: "problems",
    revision,
    value: { id, severity, kind: "link-lost", since: "2026-11-15T01:00:00.000Z", cutOff: {} },
  })}\n\n`;

const contextOf = (chunks: readonly string[]): WatchContext => ({
  connect: async () =>
    (async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
    })(),
  clock: new ManualClock(),
  random: () => 1,
});

test("a change that arrives in several chunks is one list, also at the same revision", async () => {
  const chunks = [
    text("snapshot", 2, "a", false),
    'id: 2\nevent: synced\ndata: {"revision":2}\n\n',
    text("added", 3, "b", false),
    `${text("removed", 3, "a", true)}${text("added", 3, "c", false)}`,
    text("added", 3, "d", true),
  ];
  const lists: string[] = [];
  for await (const { revision, problems } of watch(new ProblemsState(), contextOf(chunks), {})) {
    lists.push(`${revision}: ${problems.map(({ id }) => id).join(" ")}`);
    if (problems.length === 3) break;
  }
  expect(lists).toEqual(["2: a", "3: b", "3: b c d"]);
});

test("what changed is put in its place, worst first, and the others stay the same objects", async () => {
  const chunks = [
    ...["c", "a", "e"].map((id) => text("snapshot", 2, id, false)),
    'id: 2\nevent: synced\ndata: {"revision":2}\n\n',
    text("added", 3, "d", false) + text("updated", 3, "e", false, "critical") + text("added", 3, "b", true),
    text("removed", 4, "a", false) + text("updated", 4, "b", false, "warning") + text("added", 4, "f", true),
  ];
  const lists: (readonly NetworkProblem[])[] = [];
  for await (const { problems } of watch(new ProblemsState(), contextOf(chunks), {})) {
    lists.push(problems);
    if (lists.length === 3) break;
  }
  const orders = lists.map((list) => list.map(({ id }) => id).join(" "));
  expect(orders).toEqual(["a c e", "e a b c d", "e c d f b"]);
  expect(lists[2]?.[1]).toBe(lists[0]?.[1]);
});
