/** The index of the search: a search builds what is missing, in slices. */
import { expect, test } from "bun:test";
import { Scheduler } from "../../src/lib/scheduler.ts";
import { runToEnd } from "../../src/lib/steps.ts";
import type { EncodedPage } from "../../src/view/encoded-page.ts";
import { wordsOf } from "../../src/view/search-index.ts";
import { until } from "../support/until.ts";
import { API, openHarness } from "./harness.ts";
import { setDevice, setHost } from "./network.ts";

const hasWords = (page: EncodedPage): boolean => wordsOf(page) !== undefined;

test("indexes in slices, and a client that goes away ends the search", async () => {
  const held: (() => void)[] = [];
  let isHeld = false;
  let now = 0;
  const scheduler = new Scheduler({
    now: () => {
      if (isHeld) now += 10;
      return now;
    },
    nextTurn: (callback) => (isHeld ? held.push(callback) : setImmediate(callback)),
  });
  await using h = await openHarness({ scheduler });
  await h.apply(Array.from({ length: 5000 }, (_, n) => setDevice(n)));
  const pages = runToEnd(h.view.capture().pages("devices"));
  const indexed = () => pages.filter(hasWords).length;
  const turn = async () => {
    held.shift()?.();
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  isHeld = true;
  const gone = new AbortController();
  const response = h.fetch("topology/search?q=of", { signal: gone.signal }).catch(() => undefined);
  await until(() => held.length > 0, { what: "the search to begin" });
  const seen = [indexed()];
  for (let i = 0; i < 9; i++) {
    await turn();
    seen.push(indexed());
  }
  for (const [i, count] of seen.entries()) expect(count - (seen[i - 1] ?? 0)).toBeLessThanOrEqual(2);
  expect(seen.at(-1)).toBeGreaterThan(seen[0] ?? 0);
  gone.abort();
  await response;
  for (let i = 0; held.length > 0 && i < pages.length; i++) await turn();
  expect(held).toEqual([]);
  expect(indexed()).toBeLessThan(pages.length / 2);
});

test("is built by the first search, and the next one indexes what has changed", async () => {
  await using h = await openHarness();
  const pages = () =>
    (["devices", "hosts"] as const).flatMap((kind) => [...runToEnd(h.view.capture().pages(kind))]);
  await h.apply([
    setDevice(1),
    ...Array.from({ length: 100 }, (_, n) => setHost(n, `host-${n}`, `10.0.0.${n}`)),
  ]);
  await h.fetch("/map/settings.json");
  expect(pages().some(hasWords)).toBe(false);
  await h.json(`${API}/topology/search?q=host`);
  expect(pages().every(hasWords)).toBe(true);
  await h.apply([setHost(1, "renamed", "10.0.0.1")]);
  expect(pages().every(hasWords)).toBe(false);
  await h.json(`${API}/topology/search?q=renamed`);
  expect(pages().every(hasWords)).toBe(true);
});
