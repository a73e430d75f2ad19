import { expect, test } from "bun:test";
import { ManualClock } from "../lib/clock.ts";
import { watchProblems } from "./watch-problems.ts";

const text = (event: string, revision: number, id: string, isLast: boolean) =>
  `${isLast ? `id: ${revision}\n` : ""}event: ${event}\ndata: ${JSON.stringify({
    resource: "problems",
    revision,
    value: { id, severity: "major", kind: "link-lost", since: "2026-11-15T01:00:00.000Z", cutOff: {} },
  })}\n\n`;

test("a change that arrives in several chunks is one list, also at the same revision", async () => {
  const chunks = [
    text("snapshot", 2, "a", false),
    'id: 2\nevent: synced\ndata: {"revision":2}\n\n',
    text("added", 3, "b", false),
    `${text("removed", 3, "a", true)}${text("added", 3, "c", false)}`,
    text("added", 3, "d", true),
  ];
  const context = {
    connect: async () =>
      (async function* () {
        for (const chunk of chunks) yield Buffer.from(chunk);
      })(),
    clock: new ManualClock(),
    random: () => 1,
  };
  const lists: string[] = [];
  for await (const { revision, problems } of watchProblems(context, {})) {
    lists.push(`${revision}: ${problems.map(({ id }) => id).join(" ")}`);
    if (problems.length === 3) break;
  }
  expect(lists).toEqual(["2: a", "3: b", "3: b c d"]);
});
