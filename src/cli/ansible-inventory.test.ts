import { expect, test } from "bun:test";
import { parse } from "yaml";
import { renderInventory } from "./ansible-inventory.ts";
import type { Row } from "./columns.ts";

const device = (id: string, annotations: Record<string, unknown> = {}, fields: Row = {}): Row => ({
  id,
  type: "SWITCH",
  available: true,
  mfr: "unknown",
  sources: ["file"],
  ...fields,
  annotations,
});

/** The inventory as a parser of YAML reads it; `!unsafe` is the tag of a text. */
function inventoryOf(...devices: Row[]) {
  const customTags = [{ tag: "!unsafe", resolve: (text: string) => text }];
  const { all } = parse(renderInventory(devices), { version: "1.1", customTags });
  const groups = Object.entries<{ hosts: object }>(all.children).map(([name, { hosts }]) => [
    name,
    Object.keys(hosts),
  ]);
  return { hosts: all.hosts, names: Object.keys(all.hosts), groups: Object.fromEntries(groups) };
}

test("a device is a host with its address and fields, in the groups of its type, site, sources and manufacturer", () => {
  const { hosts, groups } = inventoryOf(
    device(
      "of:1",
      { name: "leaf-1", managementAddress: "10.0.0.1:830", site: "Zürich (West)" },
      { mfr: "Nicira, Inc.", available: false, sources: ["lab", "net box"], revision: 7, lastUpdate: "1" },
    ),
  );
  expect(hosts).toEqual({
    "leaf-1": {
      ansible_host: "10.0.0.1",
      gazetteer: {
        id: "of:1",
        type: "SWITCH",
        available: false,
        mfr: "Nicira, Inc.",
        sources: ["lab", "net box"],
        annotations: { name: "leaf-1", managementAddress: "10.0.0.1:830", site: "Zürich (West)" },
      },
    },
  });
  expect(groups).toEqual({
    mfr_nicira_inc: ["leaf-1"],
    site_zürich_west: ["leaf-1"],
    source_lab: ["leaf-1"],
    source_net_box: ["leaf-1"],
    type_switch: ["leaf-1"],
    unavailable: ["leaf-1"],
  });
});

test("a device without an address, site and manufacturer has none of them", () => {
  const { hosts, groups } = inventoryOf(device("of:1", { managementAddress: "http://a/", site: " " }));
  expect(Object.keys(hosts.of_1)).toEqual(["gazetteer"]);
  expect(groups).toEqual({ source_file: ["of_1"], type_switch: ["of_1"] });
});

test("a name that several devices have, or that Ansible reserves, is replaced by the id", () => {
  const { hosts, names } = inventoryOf(
    device("of:1", { name: "same" }),
    device("of:2", { name: "same" }),
    device("of:3", { name: "LocalHost" }),
    device("of:4", { name: "of_1" }),
    device("all"),
  );
  expect(names).toEqual(["all_", "of_1", "of_1_", "of_2", "of_3"]);
  expect([hosts.of_1.gazetteer.id, hosts.of_1_.gazetteer.id]).toEqual(["of:4", "of:1"]);
});

test.each([
  ["a:1", "a_1"],
  ["[1:3]", "_1_3_"],
  ["../../etc/passwd", "_.._etc_passwd"],
  ["--help", "help"],
  ["{{ x }}", "_x_"],
  ["東京-1", "東京-1"],
  ["yes", "yes"],
  ["007", "007"],
  ["__proto__", "__proto__"],
])("the name %j is the host %j", (name, host) => {
  expect(inventoryOf(device("of:1", { name })).names).toEqual([host]);
});

test("a text that could be a template is tagged, as a key too; others are not", () => {
  const text = renderInventory([device("of:1", { "a{{ b }}": "{% c %}", name: "d", e: "f}}" })]);
  expect(text).toContain('!unsafe a{{ b }}: !unsafe "{% c %}"');
  expect(text.match(/!unsafe/g)).toHaveLength(2);
});

test("no devices are an empty inventory", () => {
  expect(inventoryOf()).toEqual({ hosts: {}, names: [], groups: {} });
});
