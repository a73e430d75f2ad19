/** The order of lists by annotations, and by the devices that links and hosts are at. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { API, type Harness, openHarness } from "./harness.ts";
import { deviceId, setDevice, setHost } from "./network.ts";

describe("sort by what is no scalar field", () => {
  let h: Harness;
  beforeAll(async () => {
    h = await openHarness();
    const link = (src: number, srcPort: number, dst: number) =>
      ({
        op: "set",
        kind: "links",
        claim: { src: { device: deviceId(src), port: srcPort }, dst: { device: deviceId(dst), port: 1 } },
      }) as const;
    await h.apply([
      ...["c", "a", "b"].map((name, n) =>
        setDevice(n + 1, { annotations: { name, rack: name === "b" ? "1" : "2" } }),
      ),
      setDevice(4),
      link(2, 10, 1),
      link(2, 9, 3),
      link(1, 1, 2),
      setHost(1, "z", "10.0.0.1", 3),
      setHost(2, "y", "10.0.0.2", 1),
      setHost(3, "x", "10.0.0.3", 2),
    ]);
  });
  afterAll(() => h[Symbol.asyncDispose]());

  test.each([
    ["devices?sort=annotations.name", [4, 2, 3, 1]],
    ["devices?sort=-annotations.name", [1, 3, 2, 4]],
    ["devices?sort=name", [4, 2, 3, 1]],
    ["devices?sort=annotations.rack,-name", [4, 3, 1, 2]],
    ["devices?sort=annotations.rack,-annotations.name", [4, 3, 1, 2]],
    ["devices?sort=annotations.toString", [1, 2, 3, 4]],
    // The devices 1, 2 and 3 have the names c, a and b.
    ["links?sort=src", ["2/9", "2/10", "1/1"]],
    ["links?sort=-dst", ["2/10", "2/9", "1/1"]],
    ["hosts?sort=location", ["3", "1", "2"]],
    ["hosts?sort=-location&limit=2", ["2", "1"]],
    ["hosts?sort=annotations.name", ["3", "2", "1"]],
  ])("%s", async (path, expected) => {
    type Body = Record<
      "devices" | "links" | "hosts",
      readonly { id: string; src?: { device: string; port: string } }[]
    >;
    const body = await h.json<Partial<Body>>(`${API}/${path}`);
    const short = (id: string) => id.replace(/^(of:0*|00:00:00:00:00:0)/, "").replace("/None", "");
    const ids = [
      ...(body.devices ?? []).map(({ id }) => Number(short(id))),
      ...(body.links ?? []).map(({ src }) => `${short(src?.device ?? "")}/${src?.port}`),
      ...(body.hosts ?? []).map(({ id }) => short(id)),
    ];
    expect(ids).toEqual([...expected]);
  });

  test("an order by devices changes with a name, also for a client that has the list before", async () => {
    const path = `${API}/links?sort=src&fields=src`;
    const before = await h.fetch(path);
    const etag = before.headers.get("etag") ?? "";
    const body = await before.text();
    expect((await h.fetch(path, { headers: { "if-none-match": etag } })).status).toBe(304);
    await h.apply([setDevice(1, { annotations: { name: "0" } })]);
    const after = await h.fetch(path, { headers: { "if-none-match": etag } });
    expect(after.status).toBe(200);
    expect(await after.text()).not.toBe(body);
    await h.apply([setDevice(1, { annotations: { name: "c", rack: "2" } })]);
  });

  test("a fault lists what there is", async () => {
    const response = await h.fetch(`${API}/links?sort=source`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("src, dst, name, annotations.KEY");
  });
});
