import { expect, test } from "bun:test";
import { nearest } from "./nearest.ts";

const FIELDS = ["available", "type", "mfr", "hw", "serial", "driver", "managementAddress"];

test.each([
  ["availble", "available"],
  ["tpye", "type"],
  ["Serial", "serial"],
  ["mfg", "mfr"],
  ["managmentAdress", "managementAddress"],
  ["drivers", "driver"],
])("%s is nearest to %s", (word, expected) => {
  expect(nearest(word, FIELDS)).toBe(expected);
});

test.each(["temperature", "xyz", "availabilityzone", ""])("%j is near no candidate", (word) => {
  expect(nearest(word, ["available", "type", "serial"])).toBeUndefined();
});

test("the nearest candidate wins; of equally near ones, the first", () => {
  expect(nearest("hos", ["boss", "hosts", "host"])).toBe("host");
  expect(nearest("hoss", ["hosts", "host", "boss"])).toBe("hosts");
  expect(nearest("anything", [])).toBeUndefined();
});
