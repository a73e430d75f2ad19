/**
 * The program for NetBox of docs/integrations.md, through `pynetbox` against recorded pages: what only one side has, and files
 * whose columns are those of NetBox's import.
 */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import answers from "../../sources/merging/netbox/answers.json";
import { FakeNetbox } from "../../sources/merging/netbox/fake-netbox.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startService } from "../../support/service.ts";
import { hasRecipes, installRecipes } from "./recipes.ts";

const isPossible = hasRecipes();
const TOKEN = "0123456789abcdef0123456789abcdef01234567";
/** The documented cable between leaf1 and leaf2. */
const CABLE = 53;

/** The columns that NetBox 4.2 accepts: the fields of its import forms (netbox/dcim/forms/bulk_import.py), required ones first. */
const IMPORT_COLUMNS = {
  devices: {
    required: ["role", "manufacturer", "device_type", "status", "site"],
    optional: [
      "name",
      "tenant",
      "platform",
      "serial",
      "asset_tag",
      "location",
      "rack",
      "description",
      "tags",
    ],
  },
  interfaces: {
    required: ["device", "name", "type"],
    optional: ["label", "lag", "speed", "duplex", "enabled", "mtu", "mgmt_only", "description", "mode"],
  },
  cables: {
    required: ["side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name"],
    optional: ["type", "status", "tenant", "label", "color", "length", "length_unit", "description"],
  },
};

const NETWORK = {
  devices: [
    // The same serial number with another name and in another case, the same name without a serial number, and one that is new.
    { id: "of:0000000000000001", serial: "ec1931000042", annotations: { name: "leaf-one" } },
    { id: "of:0000000000000002", annotations: { name: "LEAF2" } },
    {
      id: "of:0000000000000003",
      mfr: 'Edge "core", Inc',
      hw: "AS7326-56X",
      serial: "EC3",
      annotations: { name: "leaf9", site: "lon1" },
    },
  ],
  ports: [
    { element: "of:0000000000000001", port: 1, annotations: { portName: "eth2" } },
    { element: "of:0000000000000001", port: 2, portSpeed: 10000, annotations: { portName: "eth7" } },
    { element: "of:0000000000000001", port: "local", annotations: { portName: "br0" } },
    { element: "of:0000000000000002", port: 1, annotations: { portName: "eth1" } },
    { element: "of:0000000000000003", port: 1, annotations: { portName: "eth1" } },
  ],
  links: [
    {
      src: { device: "of:0000000000000001", port: 1 },
      dst: { device: "of:0000000000000002", port: 1 },
      bidirectional: true,
    },
    {
      src: { device: "of:0000000000000001", port: 2 },
      dst: { device: "of:0000000000000003", port: 1 },
      bidirectional: true,
    },
  ],
};

/** The recorded pages, without one cable. `pynetbox` asks for pages by offset, and never follows `next` to another server here. */
function answersWithout(cable: number): typeof answers {
  const changed = structuredClone(answers);
  for (const { results } of changed.interfaces)
    for (const one of results) if (one.cable?.id === cable) Object.assign(one, { cable: null });
  return changed;
}

test.skipIf(!isPossible)(
  "says what only one side has, and writes what NetBox can import at once",
  async () => {
    const folder = temporaryFolder();
    const file = join(folder, "network.json");
    writeFileSync(file, JSON.stringify(NETWORK));
    await using service = await startService({ args: ["--data", ":memory:", "--file", file] });
    const recipes = installRecipes(folder, service);
    const runWith = async (pages: typeof answers) => {
      await using netbox = new FakeNetbox(`Token ${TOKEN}`, pages);
      const env = { NETBOX_URL: netbox.url, NETBOX_TOKEN: TOKEN };
      const result = await recipes.run("netbox.py", ["fra1", "Leaf"], env);
      expect(netbox.requests.every(({ path }) => !path.includes(TOKEN))).toBe(true);
      return result;
    };
    const { status, stdout, stderr } = await runWith(answersWithout(CABLE));
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout.trimEnd().split("\n")).toEqual([
      "only in NetBox: spine1 EC1931000043",
      "only in the network: leaf9 of:0000000000000003",
      "devices.csv: 1",
      "interfaces.csv: 1",
      "cables.csv: 1",
    ]);
    const rowsOf = (name: string) =>
      readFileSync(join(folder, `${name}.csv`), "utf8")
        .trimEnd()
        .split("\r\n");
    expect(rowsOf("devices")).toEqual([
      "name,role,manufacturer,device_type,serial,status,site",
      'leaf9,Leaf,"Edge ""core"", Inc",AS7326-56X,EC3,active,lon1',
    ]);
    // The port of leaf9 follows when NetBox has leaf9, and then its cable. The device has the name that NetBox gives it.
    expect(rowsOf("interfaces")).toEqual([
      "device,name,type,speed,enabled",
      "leaf1,eth7,other,10000000,true",
    ]);
    expect(rowsOf("cables").slice(1)).toEqual([
      "leaf1,dcim.interface,eth2,leaf2,dcim.interface,eth1,connected",
    ]);
    for (const [name, { required, optional }] of Object.entries(IMPORT_COLUMNS)) {
      const columns = rowsOf(name)[0]?.split(",") ?? [];
      expect(columns).toEqual(expect.arrayContaining(required));
      expect([...required, ...optional]).toEqual(expect.arrayContaining(columns));
    }
    expect((await runWith(answers)).stdout).toContain("cables.csv: 0");
  },
);

test.skipIf(!isPossible)("a token that NetBox refuses is an error, and nothing is written", async () => {
  await using netbox = new FakeNetbox("Token another");
  const recipes = installRecipes(temporaryFolder(), {
    url: "http://127.0.0.1:1",
    credentials: "reader:secret",
  });
  const env = { NETBOX_URL: netbox.url, NETBOX_TOKEN: TOKEN };
  const { status, stdout, stderr } = await recipes.run("netbox.py", ["fra1", "Leaf"], env);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("403");
  expect(stderr).not.toContain(TOKEN);
});
