import { expect, test } from "bun:test";
import { recordName } from "./claim.ts";
import type { Kind } from "./ids.ts";

const cases: [Kind, unknown, string | undefined][] = [
  ["devices", { id: "of:1", type: 5 }, "of:1"],
  ["ports", { element: "of:1", port: 7, isEnabled: "no" }, "of:1 7"],
  ["links", { src: { device: "a", port: 1 }, dst: null }, '{"device":"a","port":1}'],
  ["hosts", { mac: "not a mac", vlan: 10 }, "not a mac 10"],
  ["hosts", { vlan: null }, undefined],
  ["devices", { __proto__: { id: "inherited" } }, undefined],
  ["devices", "text", undefined],
  ["devices", null, undefined],
  ["devices", { id: "x".repeat(1000) }, "x".repeat(120)],
];
for (const [kind, record, name] of cases) {
  test(`${kind} ${JSON.stringify(record).slice(0, 60)}`, () => expect(recordName(kind, record)).toBe(name));
}
