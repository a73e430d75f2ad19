/** Since when a problem exists and until when it is listed, whatever is computed at the same time. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { silentLogger } from "../../src/lib/logger.ts";
import { runToEnd } from "../../src/lib/steps.ts";
import type { ClaimChange } from "../../src/model/claim.ts";
import { linkId } from "../../src/model/ids.ts";
import { Problems } from "../../src/query/problems/problems.ts";
import { Compactor } from "../../src/view/compactor.ts";
import { temporaryFolder } from "../support/folder.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { openHarness } from "./harness.ts";
import {
  A,
  B,
  type Body,
  C,
  device,
  HOUR_MS,
  letPass,
  link,
  noLink,
  PROBLEMS,
  read,
  TREE,
  timeNow,
} from "./problem-network.ts";

const labelled = (links: readonly ClaimChange[], label: string): ClaimChange[] =>
  links.map((change) =>
    change.op === "set" && change.kind === "links"
      ? { ...change, claim: { ...change.claim, annotations: { label } } }
      : change,
  );

test("two lists that are computed at a time do not mix", async () => {
  await using harness = await openHarness();
  const { history, clock } = harness;
  await harness.apply(TREE);
  await harness.apply([...link(A, C, "INACTIVE"), ...link(A, B, "INACTIVE")]);
  const since = timeNow(harness);
  // The links change, and are still INACTIVE.
  for (const label of ["first", "second"])
    await harness.apply(labelled([...link(A, C, "INACTIVE"), ...link(A, B, "INACTIVE")], label));
  const problems = new Problems(history, clock);
  const running = [3, 4].map((revision) => problems.at(revision, history.timeOf(revision), () => {}));
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

test("a list of the past that several need at a time is computed once", async () => {
  await using harness = await openHarness();
  const { history, clock, log } = harness;
  await harness.apply(TREE);
  await harness.apply(noLink(A, B));
  await harness.apply([device("dev:d")]);
  const problems = new Problems(history, clock);
  const held: number[] = [];
  const start = () => problems.at(2, history.timeOf(2), ({ revision }) => held.push(revision));
  const [first, second, left] = [start(), start(), start()];
  first.next();
  second.next();
  left.next();
  // One of them no longer waits. What it would return is not read.
  left.return(runToEnd(problems.newest()));
  expect(runToEnd(second)).toBe(runToEnd(first));
  expect(held.length).toBeGreaterThanOrEqual(2);
  // The newest list is also the one of its time, where nothing has ended since.
  const newest = runToEnd(problems.newest());
  expect(runToEnd(problems.at(3, log.timeOf(3) ?? 0, () => {}))).toBe(newest);
  await letPass(harness, 24 * HOUR_MS);
  expect(runToEnd(problems.newest()).problems).toEqual([]);
  expect(runToEnd(problems.at(3, log.timeOf(3) ?? 0, () => {})).problems).toHaveLength(1);
  problems.stop();
});

test("many links that are lost at once are listed in short steps", async () => {
  await using harness = await openHarness();
  await harness.apply([device(A), device(B)]);
  const links = Array.from({ length: 2000 }, (_, i) => {
    const port = String(i);
    return { src: { device: A, port }, dst: { device: B, port } };
  });
  await harness.apply(links.map((claim) => ({ op: "set", kind: "links", claim })));
  await harness.apply(links.map(({ src, dst }) => ({ op: "remove", kind: "links", id: linkId(src, dst) })));
  const state = harness.view.capture();
  const get = state.get;
  let reads = 0;
  state.get = (...args) => {
    reads++;
    return get.apply(state, args);
  };
  const problems = new Problems(harness.history, harness.clock);
  const readsInSteps: number[] = [];
  for (const steps = problems.newest(); ; ) {
    reads = 0;
    const { done, value } = steps.next();
    readsInSteps.push(reads);
    if (!done) continue;
    expect(value.problems).toHaveLength(2000);
    break;
  }
  expect(Math.max(...readsInSteps)).toBeLessThan(1000);
  problems.stop();
});

test("a service that has less history has another tag, and refuses the cursors of the other list", async () => {
  const data = join(temporaryFolder(), "log.sqlite");
  const clock = new ManualClock();
  const first = await openHarness({ data, clock });
  // So large that the tag is not made from the bytes.
  const down = Array.from({ length: 10 }, (_, i): ClaimChange => {
    const claim = { id: `dev:${i}`, available: false, annotations: { name: "x".repeat(10_000) } };
    return { op: "set", kind: "devices", claim };
  });
  await first.apply([...TREE, ...down]);
  await first.apply(link(A, C, "INACTIVE"));
  // The links change, and are still INACTIVE.
  await first.apply(labelled(link(A, C, "INACTIVE"), "changed"));
  const page = await read(first, "?limit=5");
  const whole = await first.fetch(PROBLEMS);
  const sinceOf = ({ problems }: Body) => problems.find(({ kind }) => kind === "link-inactive")?.since;
  const since = sinceOf(await whole.json());
  const options = { retentionMs: 0, maxBytes: Number.MAX_SAFE_INTEGER, snapshotAfterChanges: 1 };
  await new Compactor(first.view, first.log, clock, silentLogger, options).compact();
  await clock.advance(10);
  await first.log.prune(clock.now(), Number.MAX_SAFE_INTEGER);
  await first.stop();
  await using second = await openHarness({ data, clock });
  const cut = await second.fetch(PROBLEMS);
  expect(sinceOf(await cut.json())).not.toBe(since);
  expect(cut.headers.get("gazetteer-revision")).toBe(whole.headers.get("gazetteer-revision"));
  expect(cut.headers.get("etag")).not.toBe(whole.headers.get("etag"));
  const next = await second.fetch(`${PROBLEMS}?limit=5&cursor=${page.next}`);
  expect([next.status, (await next.json()).type]).toEqual([410, "/docs/errors#cursor-expired"]);
});
