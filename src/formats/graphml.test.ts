import { expect, test } from "bun:test";
import { device, graph, host, hostileGraph, link, mac } from "../../test/support/sample-network.ts";
import { renderGraphml } from "./graphml.ts";

const render = (...parts: Parameters<typeof graph>) => [...renderGraphml(graph(...parts))].join("");
const a = { device: "of:1", port: "1" };
const b = { device: "of:2", port: "2" };

test("every record is rendered, with typed data", () => {
  const xml = render(
    [device("of:1", { annotations: { "a<b": "x" } }), device("of:2")],
    [link(a, b), link(b, a)],
    [host(mac(1), a)],
  );
  expect(xml).toContain('<graph id="gazetteer" edgedefault="directed">');
  expect(xml).toMatch(/<key id="n\d+" for="node" attr.name="available" attr.type="boolean"\/>/);
  expect(xml).toMatch(/<key id="n\d+" for="node" attr.name="revision" attr.type="long"\/>/);
  expect(xml).toMatch(/<key id="n\d+" for="node" attr.name="annotations.a&lt;b" attr.type="string"\/>/);
  expect(xml).toContain('<edge id="of:1/1-of:2/2" source="of:1" target="of:2">');
  expect(xml).toContain('<edge id="of:2/2-of:1/1" source="of:2" target="of:1">');
  expect(xml).toContain(`<edge id="${mac(1)}/None/nic-of:1/1" source="${mac(1)}/None" target="of:1">`);
});

test("every used key is declared once", () => {
  const xml = [...renderGraphml(hostileGraph())].join("");
  const declared = [...xml.matchAll(/<key id="(\w+)"/g)].map(([, id]) => id);
  expect(new Set(declared).size).toBe(declared.length);
  for (const [, id] of xml.matchAll(/<data key="(\w+)"/g)) expect(declared).toContain(id);
});

test("a host with the id of a device is another node", () => {
  const xml = render([device("of:1"), device(`${mac(1)}/None`)], [], [host(mac(1), a)]);
  expect(xml).toContain(`<node id="${mac(1)}/None">`);
  expect(xml).toContain(`<node id="${mac(1)}/None~2">`);
});
