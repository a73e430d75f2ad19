import { expect, test } from "bun:test";
import { AdmissionFilter } from "./response-cache.ts";

test("a text is new once for each version", () => {
  const admissionFilter = new AdmissionFilter();
  expect([
    admissionFilter.isNew("a", 1),
    admissionFilter.isNew("a", 1),
    admissionFilter.isNew("b", 1),
  ]).toEqual([true, false, true]);
  expect([admissionFilter.isNew("a", 2), admissionFilter.isNew("a", 2)]).toEqual([true, false]);
});

test("of 5,000 texts that are read in turn nearly all are known", () => {
  const admissionFilter = new AdmissionFilter();
  const texts = Array.from({ length: 5000 }, (_, i) => `/hosts/${i}`);
  const countNew = () => texts.filter((text) => admissionFilter.isNew(text, 7)).length;
  expect(countNew()).toBeGreaterThan(4990);
  expect(countNew()).toBeLessThan(800);
});

test("of texts that are more than the cache can hold, read in turn, few are known", () => {
  const admissionFilter = new AdmissionFilter();
  const texts = Array.from({ length: 60_000 }, (_, i) => `/hosts/${i}`);
  const countNew = () => texts.filter((text) => admissionFilter.isNew(text, 7)).length;
  countNew();
  expect(countNew()).toBeGreaterThan(55_000);
});
