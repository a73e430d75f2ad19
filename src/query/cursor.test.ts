import { expect, test } from "bun:test";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { QueryFault } from "./fault.ts";

const KEY = new Uint8Array(32).fill(7);
const SCOPE = "devices type=SWITCH";

test.each([
  { revision: 12, after: "of:0000000000000001" },
  { revision: 0, after: 50 },
])("%j is the same after encoding and decoding", (cursor) => {
  expect(decodeCursor(encodeCursor(cursor, SCOPE, KEY), SCOPE, KEY)).toEqual(cursor);
});

test("a cursor of another list, of another log, or with a changed character is a fault", () => {
  const text = encodeCursor({ revision: 12, after: "x" }, SCOPE, KEY);
  const changed = `${text.slice(0, 5)}${text[5] === "A" ? "B" : "A"}${text.slice(6)}`;
  const results = [
    decodeCursor(text, "links type=SWITCH", KEY),
    decodeCursor(text, SCOPE, new Uint8Array(32)),
    decodeCursor(changed, SCOPE, KEY),
    decodeCursor(`${text}=`, SCOPE, KEY),
    decodeCursor("", SCOPE, KEY),
  ];
  for (const result of results) {
    expect(result).toBeInstanceOf(QueryFault);
    expect(result).toMatchObject({ code: "bad-cursor", parameter: "cursor" });
  }
});
