/** `aliases` of a device: those of all sources together, found by `q`, in every format, and not in the alias `onos`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Device } from "../../src/model/entity.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Harness, openHarness } from "./harness.ts";

const ID = "of:0000000000000001";
const OTHER = "of:0000000000000002";

let api: Harness;
beforeAll(async () => {
  api = await openHarness({ aliases: ["onos"] });
  await api.replace({ devices: [{ id: ID, aliases: ["openflow:1", "leaf-1"] }, { id: OTHER }] }, "first");
  await api.replace({ devices: [{ id: ID, aliases: ["OpenFlow:1", "00:01", ID.toUpperCase()] }] }, "second");
});
afterAll(() => api.stop());

const device = (id = ID) => api.json<Device>(`devices/${id}`);

describe("aliases", () => {
  test("are those of all sources, sorted, each once, without the id; absent where there are none", async () => {
    expect((await device()).aliases).toEqual(["00:01", "leaf-1", "openflow:1"]);
    expect(await device(OTHER)).not.toHaveProperty("aliases");
  });

  test("are found by q, selected by fields, and are no filter", async () => {
    const { devices } = await api.json<{ devices: Device[] }>("devices?q=openflow:1&fields=id,aliases");
    expect(devices).toEqual([{ id: ID, aliases: ["00:01", "leaf-1", "openflow:1"] }] as never);
    expect((await api.fetch("devices?aliases=leaf-1")).status).toBe(400);
  });

  test("are in CSV, NetJSON and GraphML", async () => {
    const csv = (await (await api.fetch("devices?format=csv")).text()).split("\r\n");
    expect(csv[0]).toEndWith(",revision,aliases,drift.state,drift.since");
    expect(csv[1]).toEndWith(",00:01 leaf-1 openflow:1,,");
    expect(csv[2]).toEndWith(",");
    const { nodes } = await api.json<{ nodes: { properties: Device }[] }>("topology?format=netjson");
    expect(nodes[0]?.properties.aliases).toEqual(["00:01", "leaf-1", "openflow:1"]);
    const graphml = await (await api.fetch("topology?format=graphml")).text();
    expect(graphml).toContain(">00:01 leaf-1 openflow:1</data>");
  });

  test("are not in the alias onos", async () => {
    for (const path of ["devices", `devices/${ID}`, `devices/${ID}/ports`]) {
      const text = await (await api.fetch(`/onos/v1/${path}`)).text();
      expect(text).toContain(ID);
      expect(text).not.toContain("aliases");
      expect(text).not.toContain("openflow:1");
    }
  });

  test("of one source go with its claim, those of the other stay; the change names the field", async () => {
    const since = api.view.revision;
    await api.apply([{ op: "remove", kind: "devices", id: ID }], "second");
    expect((await device()).aliases).toEqual(["leaf-1", "openflow:1"]);
    await api.apply([{ op: "set", kind: "devices", claim: { id: ID } }], "first");
    expect(await device()).not.toHaveProperty("aliases");
    const { changes } = await api.json<{ changes: { changed?: string[] }[] }>(`devices?since=${since}`);
    expect(JSON.stringify(changes)).toContain('"aliases"');
  });
});

test("are there after a restart, and are read back from the value", async () => {
  const data = `${temporaryFolder()}/log.sqlite`;
  const known = { type: "SWITCH", available: true, role: "NONE" } as const;
  const claims = {
    devices: [
      { id: ID, ...known, aliases: ["openflow:1"] },
      { id: OTHER, ...known },
    ],
  };
  const first = await openHarness({ data });
  await first.replace(claims);
  expect(first.view.size("claims")).toBe(0);
  await first.stop();
  const second = await openHarness({ data });
  expect((await second.json<Device>(`devices/${ID}`)).aliases).toEqual(["openflow:1"]);
  const { revision } = second.view;
  await second.replace(claims);
  expect(second.view.revision).toBe(revision);
  await second.stop();
});
