/** The index of the search: it is built in slices, by a search or in the background while a page is open. */
import { describe, expect, test } from "bun:test";
import { Scheduler } from "../../src/lib/scheduler.ts";
import { runToEnd } from "../../src/lib/steps.ts";
import { hasWords } from "../../src/view/search-index.ts";
import { until } from "../support/until.ts";
import { API, type Harness, openHarness } from "./harness.ts";
import { setDevice, setHost } from "./network.ts";

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
  for (let i = 0; i < 3; i++) {
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

describe("the index of the search", () => {
  const pagesOf = (h: Harness) =>
    (["devices", "hosts"] as const).flatMap((kind) => [...runToEnd(h.view.capture().pages(kind))]);
  const allIndexed = (h: Harness) => pagesOf(h).every(hasWords);
  /** Lets the indexer begin, or end its rest. */
  const pass = async (h: Harness): Promise<void> => {
    await h.clock.advance(5000);
    await until(() => allIndexed(h), { what: "the index" });
  };
  const openNetwork = async (): Promise<Harness> => {
    const h = await openHarness();
    await h.apply([
      setDevice(1),
      ...Array.from({ length: 100 }, (_, n) => setHost(n, `host-${n}`, `10.0.0.${n}`)),
    ]);
    return h;
  };

  test("is built without a search once a page is opened, and follows the changes", async () => {
    await using h = await openNetwork();
    await h.fetch("/map/settings.json");
    await pass(h);
    const before = new Set(pagesOf(h));
    await h.apply([setHost(1, "renamed", "10.0.0.1")]);
    expect(pagesOf(h).every((page) => before.has(page))).toBe(false);
    await pass(h);
  });

  test("is not built where nobody opens a page, and no longer when the page was closed", async () => {
    await using h = await openNetwork();
    await h.json(`${API}/devices`);
    await h.clock.advance(10_000);
    expect(pagesOf(h).some(hasWords)).toBe(false);
    await h.fetch("/map/settings.json");
    await pass(h);
    await h.clock.advance(301_000);
    await h.apply([setHost(1, "renamed", "10.0.0.1")]);
    await h.clock.advance(10_000);
    expect(allIndexed(h)).toBe(false);
    await h.fetch("/map/settings.json");
    await pass(h);
  });

  test("is built in slices: a page of entities at a time", async () => {
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
    const pages = pagesOf(h);
    const indexed = () => pages.filter(hasWords).length;
    await h.fetch("/map/settings.json");
    isHeld = true;
    await h.clock.advance(5000);
    let before = indexed();
    expect(before).toBeLessThanOrEqual(1);
    while (held.length > 0) {
      held.shift()?.();
      expect(indexed() - before).toBeLessThanOrEqual(1);
      before = indexed();
    }
    expect(before).toBe(pages.length);
    isHeld = false;
  });
});
