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
])("%s was meant as %s", (word, meant) => {
  expect(nearest(word, FIELDS)).toBe(meant);
});

test.each(["temperature", "xyz", "availabilityzone", ""])("%j is no slip of any", (word) => {
  expect(nearest(word, ["available", "type", "serial"])).toBeUndefined();
});

test("the nearest wins, the first of equals", () => {
  expect(nearest("hos", ["boss", "hosts", "host"])).toBe("host");
  expect(nearest("hoss", ["hosts", "host", "boss"])).toBe("hosts");
  expect(nearest("anything", [])).toBeUndefined();
});
