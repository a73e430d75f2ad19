import { expect, test } from "bun:test";
import { device, graph, host, hostileGraph, link, mac } from "../../test/support/sample-network.ts";
import { renderDot } from "./dot.ts";

const renderLines = (...parts: Parameters<typeof graph>) =>
  [...renderDot(graph(...parts))].join("").split("\n");

test("devices are nodes, cables are edges with their ports, hosts are counted", () => {
  const a = { device: "of:1", port: "1" };
  const b = { device: "of:2", port: "2" };
  const lines = renderLines(
    [device("of:1", { annotations: { name: "one" } }), device("of:2", { available: false })],
    [link(a, b), link(b, a)],
    [host(mac(1), a), host(mac(2), a)],
  );
  expect(lines.find((line) => line.startsWith('  "of:1" ['))).toContain('label="one\\nSWITCH, 2 hosts"');
  expect(lines.find((line) => line.startsWith('  "of:2" ['))).toContain('style="filled,dashed"');
  const edges = lines.filter((line) => line.includes(" -- "));
  expect(edges).toHaveLength(1);
  expect(edges[0]).toStartWith('  "of:1" -- "of:2" [taillabel="1", headlabel="2", style="solid"');
  expect(edges[0]).not.toContain("dir=");
});

test.each([
  [{ state: "INACTIVE" }, 'style="dashed"'],
  [{ verified: false }, 'style="dotted"'],
  [{ annotations: { conflict: "x" } }, 'style="bold"'],
  [{}, 'dir="forward"'],
] as const)("a one-way link with %j has %s", (fields, attribute) => {
  const lines = renderLines(
    [device("a"), device("b")],
    [link({ device: "a", port: "1" }, { device: "b", port: "1" }, fields)],
  );
  expect(lines.find((line) => line.includes(" -- "))).toContain(attribute);
});

test("no text ends its quotes", () => {
  const text = [...renderDot(hostileGraph())].join("");
  const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, "");
  expect(outside).toMatch(/^[\w\s{}[\]=,-]*$/);
  expect(text).not.toMatch(/[\0-\x09\x0b-\x1f\x7f]/);
});

test("backslashes and entities in labels are shown and not interpreted", () => {
  const lines = renderLines([device("a", { annotations: { name: 'N\\N &amp; "q"' } })], []);
  expect(lines.find((line) => line.startsWith('  "a" ['))).toContain(
    'label="N\\\\N &amp;amp; \\"q\\"\\nSWITCH"',
  );
});
