/** Since when a problem exists and until when it is listed, whatever is computed at the same time. */
import { expect, test } from "bun:test";
import { Problems } from "../../src/query/problems/problems.ts";
import { openHarness } from "./harness.ts";
import { A, B, C, device, HOUR_MS, letPass, link, noLink, read, TREE, timeNow } from "./problem-network.ts";

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

test("a cable of which the directions are lost one after the other is one problem, the same until it ends", async () => {
  await using harness = await openHarness();
  await harness.apply(TREE);
  const [toB, fromB] = noLink(A, B);
  const [toC, fromC] = noLink(A, C);
  await harness.apply([toB, fromC].filter((change) => change !== undefined));
  await letPass(harness, HOUR_MS);
  await harness.apply([fromB, toC].filter((change) => change !== undefined));
  const since = timeNow(harness);
  const lost = await read(harness);
  expect(lost.problems.map((problem) => problem.since)).toEqual([since, since]);
  // A day after the first directions were lost, and less than that after the others.
  await letPass(harness, 23.5 * HOUR_MS);
  await harness.apply([device("dev:d")]);
  expect(await read(harness)).toEqual(lost);
  await letPass(harness, HOUR_MS);
  expect(await read(harness)).toMatchObject({ problems: [] });
});
