import { expect, test } from "bun:test";
import fc from "fast-check";
import { parse } from "yaml";
import type { NetworkDocument } from "../import/import-file.ts";
import { renderNetwork } from "./import.ts";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("yes", "NO", "null", "~", "1e3", "0x1", "- a", "a: b", "# c", "a #b", "10:20", "\u202e", "\u0085", "", " a", "a/b c.d"),
  fc.constantFrom("\u001b[2J", "2026-01-01", "=", "<<", "*a", "&a", "!!str", "%", "@", "`", "{", "[", "a\nb", "\ud800"),
); // biome-ignore format: lists of texts
const annotations = fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true });
const end = fc.record({ device: text, port: text });
const port = fc.record({ port: text, portSpeed: fc.nat(), annotations });
const location = fc.record({ elementId: text, port: text });
const few = { maxLength: 3 };
const network = fc.record({
  devices: fc.array(
    fc.record(
      {
        id: text,
        available: fc.boolean(),
        annotations,
        aliases: fc.array(text, few),
        ports: fc.array(port, { maxLength: 2 }),
      },
      { requiredKeys: ["id"] },
    ),
    few,
  ),
  links: fc.array(fc.record({ src: end, dst: end, bidirectional: fc.constant(true) }), few),
  hosts: fc.array(fc.record({ mac: text, locations: fc.array(location, { maxLength: 2 }) }), few),
}) as fc.Arbitrary<NetworkDocument>;

test("YAML and JSON have the same content, for two parsers, and no control characters", () => {
  fc.assert(
    fc.property(network, (document) => {
      const present = Object.entries(document).filter(([, records]) => records.length > 0);
      // A lone surrogate is written as such an escape, which no parser of YAML has to keep.
      fc.pre(JSON.stringify(document).isWellFormed() && !/\\ud[89a-f]/i.test(JSON.stringify(document)));
      const expected = present.length > 0 ? Object.fromEntries(present) : { devices: [] };
      const yaml = [...renderNetwork(document, false)].join("");
      expect(parse(yaml)).toEqual(expected);
      expect(Bun.YAML.parse(yaml)).toEqual(expected);
      expect(yaml).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
      const json = JSON.parse([...renderNetwork(document, true)].join(""));
      expect(json).toEqual(Object.fromEntries(present));
    }),
  );
});
