import { expect, test } from "bun:test";
import Type from "typebox";
import { adviseGoneKey, dropIgnoredKeys, type GoneKey, goneKeyMessage } from "./gone-keys.ts";
import { findSchemaFaults, type SchemaFault } from "./schema-faults.ts";

const GONE: readonly GoneKey[] = [
  { key: "limits.urlBytes", advice: "remove it" },
  { key: "views.picture", advice: "the map has no picture", ignored: "key" },
  { key: "views.boxes.width", advice: "name an annotation", ignored: "entry" },
];

test("the fault of a key that is gone says what to do, others stay as they are", () => {
  const strict = { additionalProperties: false };
  const schema = Type.Object(
    { limits: Type.Object({ paths: Type.Optional(Type.Integer()) }, strict) },
    strict,
  );
  const advise = (value: unknown) =>
    findSchemaFaults(schema, value).map((fault) => adviseGoneKey(fault, GONE).message);
  expect(advise({ limits: { urlBytes: 1 } })).toEqual(["is gone; remove it"]);
  expect(advise({ limits: { urlByte: 1, paths: "x" } })).toEqual([
    "unknown key; known here: paths",
    "must be a whole number",
  ]);
  const fault: SchemaFault = { path: ["urlBytes"], message: "unknown key", atKey: true };
  expect(adviseGoneKey(fault, GONE, ["limits"]).message).toBe("is gone; remove it");
  expect(goneKeyMessage("limits", GONE)).toBeUndefined();
});

test("ignored keys are dropped, alone or with the entry of the list that has them, and named", () => {
  const value = {
    limits: { urlBytes: 1 },
    views: [
      {
        name: "a",
        picture: "x",
        boxes: [
          { name: "drawn", width: 3 },
          { name: "sites", annotation: "site" },
        ],
      },
      { name: "b" },
    ],
  };
  const { value: rest, dropped, originalPath } = dropIgnoredKeys(value, GONE);
  expect({ rest, dropped }).toEqual({
    rest: {
      limits: { urlBytes: 1 },
      views: [{ name: "a", boxes: [{ name: "sites", annotation: "site" }] }, { name: "b" }],
    },
    dropped: [
      { path: ["views", 0, "picture"], message: "is gone; the map has no picture", atKey: true },
      { path: ["views", 0, "boxes", 0, "width"], message: "is gone; name an annotation", atKey: true },
    ],
  });
  expect(originalPath(["views", 0, "boxes", 0, "name"])).toEqual(["views", 0, "boxes", 1, "name"]);
  expect(originalPath(["views", 1, "boxes", 0])).toEqual(["views", 1, "boxes", 0]);
  expect(dropIgnoredKeys([{ picture: 1 }], GONE, ["views"])).toMatchObject({
    value: [{}],
    dropped: [{ path: [0, "picture"], message: "is gone; the map has no picture", atKey: true }],
  });
});
