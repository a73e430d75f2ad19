/** Ids that differ only in case: one device, one spelling everywhere it is shown, any spelling where it is looked up. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Device, Host, Link, Port } from "../../src/model/entity.ts";
import { type Harness, openHarness } from "./harness.ts";

let api: Harness;
let earlier = 0;
beforeAll(async () => {
  api = await openHarness();
  await api.replace(
    {
      devices: [{ id: "b" }, { id: "Leaf-1" }, { id: "OF:00000000000000AA" }],
      ports: [{ element: "LEAF-1", port: "1" }],
      links: [
        { src: { device: "leaf-1", port: "1" }, dst: { device: "of:00000000000000aa", port: "2" } },
        { src: { device: "of:00000000000000AA", port: "2" }, dst: { device: "LEAF-1", port: "1" } },
      ],
    },
    "first",
  );
  await api.replace(
    {
      devices: [{ id: "leaf-1", mfr: "maker" }],
      hosts: [{ mac: "00:00:00:00:00:01", locations: [{ elementId: "LEAF-1", port: "7" }] }],
    },
    "second",
  );
  earlier = api.view.revision;
  await api.apply([{ op: "set", kind: "devices", claim: { id: "b", mfr: "other" } }]);
});
afterAll(() => api.stop());

const ids = async (path: string): Promise<string[]> => {
  const [list = []] = Object.values(await api.json<Record<string, { id: string }[]>>(path));
  return list.map(({ id }) => id);
};

test("the first source in precedence spells the id; of: is in lower case; order is by the shown id", async () => {
  expect(await ids("devices")).toEqual(["Leaf-1", "b", "of:00000000000000aa"]);
  const leaf = await api.json<Device>("devices/LEAF-1");
  expect(leaf).toMatchObject({ id: "Leaf-1", mfr: "maker", sources: ["first", "second"] });
});

test("links, ports and locations show the same spelling", async () => {
  const { links } = await api.json<{ links: Link[] }>("links");
  expect(links.map(({ id, bidirectional }) => ({ id, bidirectional }))).toEqual([
    { id: "Leaf-1/1-of:00000000000000aa/2", bidirectional: true },
    { id: "of:00000000000000aa/2-Leaf-1/1", bidirectional: true },
  ]);
  const { ports } = await api.json<{ ports: Port[] }>("devices/leaf-1/ports");
  expect(ports.map(({ element }) => element)).toEqual(["Leaf-1"]);
  const { hosts } = await api.json<{ hosts: Host[] }>("hosts");
  expect(hosts[0]?.location).toEqual({ elementId: "Leaf-1", port: "7" });
});

describe.each(["now", "earlier"])("look-ups and filters accept any spelling, %s", (when) => {
  const at = () => (when === "now" ? "" : `&at=${earlier}`);

  test.each([
    ["devices?id=LEAF-1", ["Leaf-1"]],
    ["devices?id=OF:00000000000000AA,leaf-1", ["Leaf-1", "of:00000000000000aa"]],
    ["links?device=OF:00000000000000aA&direction=EGRESS", ["of:00000000000000aa/2-Leaf-1/1"]],
    ["links?device=leaf-1&port=1&direction=Ingress", ["of:00000000000000aa/2-Leaf-1/1"]],
    ["links?src=LEAF-1", ["Leaf-1/1-of:00000000000000aa/2"]],
    ["links?dst=LEAF-1", ["of:00000000000000aa/2-Leaf-1/1"]],
    ["links?id=LEAF-1/1-OF:00000000000000AA/2", ["Leaf-1/1-of:00000000000000aa/2"]],
    ["devices?around=leaf-1", ["Leaf-1", "of:00000000000000aa"]],
    ["hosts?device=leaf-1", ["00:00:00:00:00:01/None"]],
  ])("%s", async (path, expected) => {
    expect(await ids(path + at())).toEqual(expected);
  });

  test("devices/ports?element=", async () => {
    const { ports } = await api.json<{ ports: Port[] }>(`devices/ports?element=LEAF-1${at()}`);
    expect(ports).toMatchObject([{ element: "Leaf-1", port: "1" }]);
    expect(ports[0]).not.toHaveProperty("annotations");
  });
});

test("when the first source withdraws the device, the next one spells it: the old ids are removed, the new ones added", async () => {
  await using own = await openHarness();
  const link = { src: { device: "x", port: "1" }, dst: { device: "Y", port: "1" } };
  await own.replace({ devices: [{ id: "X" }, { id: "y" }], links: [link] }, "first");
  await own.replace({ devices: [{ id: "x" }] }, "second");
  const { revision } = own.view;
  await own.apply([{ op: "remove", kind: "devices", id: "x" }], "first");
  const changes = await own.json<{ changes: { event: string; resource: string; value: { id: string } }[] }>(
    `topology?since=${revision}`,
  );
  expect(
    changes.changes.map(({ event, resource, value }) => `${event} ${resource} ${value.id}`).sort(),
  ).toEqual(["added devices x", "added links x/1-y/1", "removed devices X", "removed links X/1-y/1"]);
  const before = await own.json<{ devices: Device[] }>(`devices?id=x&at=${revision}`);
  expect(before.devices.map(({ id }) => id)).toEqual(["X"]);
});
