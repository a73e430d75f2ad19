/** Since when a problem exists and until when it is listed, whatever is computed at the same time. */
import { expect, test } from "bun:test";
import { Problems } from "../../src/query/problems/problems.ts";
import { openHarness } from "./harness.ts";
import { A, B, C, link, TREE, timeNow } from "./problem-network.ts";

test("two lists that are computed at a time do not mix", async () => {
  await using harness = await openHarness();
  const { history, clock } = harness;
  await harness.apply(TREE);
  await harness.apply([...link(A, C, "INACTIVE"), ...link(A, B, "INACTIVE")]);
  const since = timeNow(harness);
  // The links change, and are still INACTIVE.
  for (const label of ["first", "second"])
    await harness.apply(
      [...link(A, C, "INACTIVE"), ...link(A, B, "INACTIVE")].map((change) =>
        change.op === "set" && change.kind === "links"
          ? { ...change, claim: { ...change.claim, annotations: { label } } }
          : change,
      ),
    );
  const problems = new Problems(history, clock);
  const running = [3, 4].map((revision) => problems.at(revision, history.timeOf(revision)));
  const lists: unknown[] = [];
  while (lists.length < running.length)
    for (const steps of running) {
      const { done, value } = steps.next();
      if (done && value) lists.push(value.problems.map(({ problem }) => problem.since));
    }
  expect(lists).toEqual([
    [since, since],
    [since, since],
  ]);
});
