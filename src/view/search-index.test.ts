import { expect, test } from "bun:test";
import { runToEnd } from "../lib/steps.ts";
import { EncodedPage } from "./encoded-page.ts";
import { indexPage } from "./search-index.ts";

const pageWith = (names: readonly string[]): EncodedPage => {
  const values = names.map((name, i) => {
    const id = `of:${String(i).padStart(16, "0")}`;
    return [id, JSON.stringify({ id, annotations: { name } })] as const;
  });
  const [page = EncodedPage.empty] = EncodedPage.empty.withChanges(new Map(values));
  return page;
};

test("a page with many words is indexed in several steps, in the same order as a small one", () => {
  const name = (i: number) => Array.from({ length: 120 }, (_, word) => (word * 7 + i) % 10).join(" ");
  const page = pageWith(Array.from({ length: 128 }, (_, i) => name(i)));
  const steps = indexPage("devices", page);
  let pauses = 0;
  let next = steps.next();
  for (; !next.done; next = steps.next()) pauses++;
  expect(pauses).toBeGreaterThan(20);
  const words = next.value;
  const at = words.lowerBound(Buffer.from("9"));
  expect(Array.from({ length: at }, (_, i) => words.isNotAfter(i, Buffer.from("9")))).not.toContain(false);
  expect(words.beginsWith(at, Buffer.from("9"))).toBe(true);
  expect(words.beginsWith(at - 1, Buffer.from("9"))).toBe(false);
});

test("the words of a page are found by their beginnings", () => {
  const words = runToEnd(indexPage("devices", pageWith(["leaf one", "spine two"])));
  const at = words.lowerBound(Buffer.from("sp"));
  expect(words.owner(at)).toBe(1);
  expect(words.fieldText(at)).toBe("spine two");
});

test("searches that meet a page at the same time index it once, also when one of them is cancelled", () => {
  const names = Array.from({ length: 200 }, (_, i) => `${"word ".repeat(60)}${i}`);
  const countSteps = (searches: ReturnType<typeof indexPage>[]): number => {
    let steps = 0;
    for (let open = searches; open.length > 0; steps++) open = open.filter((search) => !search.next().done);
    return steps;
  };
  const alone = countSteps([indexPage("devices", pageWith(names))]);
  expect(alone).toBeGreaterThan(4);
  const page = pageWith(names);
  const cancelled = indexPage("devices", page);
  cancelled.next(); // and is never advanced again
  expect(countSteps([indexPage("devices", page), indexPage("devices", page)])).toBeLessThan(alone / 2 + 3);
});
