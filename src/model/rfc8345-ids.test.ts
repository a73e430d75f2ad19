import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeRfc8345Id, encodeRfc8345Id } from "./rfc8345-ids.ts";

test.each([
  ["device", "of:0000000000000001", "of:0000000000000001"],
  ["device", "not a uri", "gazetteer:device/not%20a%20uri"],
  ["device", "gazetteer:device/x", "gazetteer:device/gazetteer:device/x"],
  ["host", "00:00:00:00:00:0A/None", "gazetteer:host/00:00:00:00:00:0A/None"],
] as const)("%s %s is %s", (kind, id, uri) => {
  expect(encodeRfc8345Id(kind, id)).toBe(uri);
  expect(decodeRfc8345Id(uri)).toEqual({ kind, id });
});

test.each([
  "gazetteer:",
  "gazetteer:device",
  "gazetteer:nothing/x",
  "gazetteer:device/%zz",
  "gazetteer:host/%ff",
])("%s is not an id", (uri) => {
  expect(decodeRfc8345Id(uri)).toBeUndefined();
});

test("every well-formed id is decoded to itself", () => {
  const id = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(id, fc.constantFrom("device", "host"), (text, kind) => {
      expect(decodeRfc8345Id(encodeRfc8345Id(kind, text))).toEqual({ kind, id: text });
    }),
  );
});
