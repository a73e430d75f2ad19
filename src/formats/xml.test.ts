import { expect, test } from "bun:test";
import fc from "fast-check";
import { HOSTILE_TEXTS } from "../../test/support/sample-network.ts";
import { xmlCharacters, xmlText } from "./xml.ts";

test.each([
  ["a & b < c > d \" e ' f", "a &amp; b &lt; c &gt; d &quot; e &#39; f"],
  ["]]>", "]]&gt;"],
  ["tab\tcr\rlf\n", "tab&#9;cr&#13;lf&#10;"],
  ["nul\0esc\u001b\uFFFE\uFFFF", "nul\uFFFDesc\uFFFD\uFFFD\uFFFD"],
  ["lone \uD800 pair 🛰", "lone \uFFFD pair 🛰"],
])("%j is escaped as %j", (text, escaped) => {
  expect(xmlText(text)).toBe(escaped);
});

test("an escaped text is parsed back, except for characters that XML forbids", () => {
  const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };
  const decodeReferences = (xml: string) =>
    xml.replace(/&(?:#(\d+)|(\w+));/g, (_, code, name) =>
      code ? String.fromCharCode(code) : (entities[name] ?? "?"),
    );
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: "binary" })), (text) => {
      const escaped = xmlText(text);
      expect(escaped).not.toMatch(/[<>"'\t\r\n\0-\x1f\ufffe\uffff]/);
      expect(decodeReferences(escaped)).toBe(xmlCharacters(text));
      expect(escaped.isWellFormed()).toBe(true);
    }),
  );
});
