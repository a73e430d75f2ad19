/**
 * Paths, and what a port is used for. The network and the expected values are those of ONOS 2.7.0's own REST application
 * on the same network: a square of four switches with a parallel link, one behind it, an INDIRECT link to two more, a
 * link in one direction only, and a switch that is not available.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Claims, LinkClaim } from "../../src/model/claim.ts";
import { type Harness, openHarness } from "./harness.ts";

const device = (n: number): string => `of:${n.toString(16).padStart(16, "0")}`;
const cable = (
  [a, portA]: readonly [number, number],
  [b, portB]: readonly [number, number],
  more: Partial<LinkClaim> = {},
): LinkClaim[] => {
  const src = { device: device(a), port: String(portA) };
  const dst = { device: device(b), port: String(portB) };
  return [
    { src, dst, ...more },
    { src: dst, dst: src, ...more },
  ];
};
const host = (n: number, at: number, port: string) => ({
  mac: `00:00:00:00:00:0${n}`,
  locations: [{ elementId: device(at), port }],
});
const NETWORK: Claims = {
  devices: [
    ...[1, 2, 3, 4, 5, 6, 7, 8, 0xaa].map((n) => ({ id: device(n) })),
    { id: device(0xee), available: false },
  ],
  ports: [1, 2, 3, 4, 5, 6, 7, 8].flatMap((n) =>
    [1, 2, 3, 4, 5, 7, 8].map((port) => ({ element: device(n), port: String(port) })),
  ),
  links: [
    ...cable([1, 1], [2, 1]),
    ...cable([1, 2], [3, 1]),
    ...cable([2, 2], [4, 1]),
    ...cable([3, 2], [4, 2]),
    ...cable([4, 3], [5, 1]),
    ...cable([4, 4], [6, 1], { type: "INDIRECT" }),
    ...cable([6, 2], [7, 1]),
    ...cable([7, 2], [8, 1]).slice(0, 1),
    ...cable([2, 5], [4, 5]),
    ...cable([1, 7], [4, 7], { type: "TUNNEL", state: "INACTIVE" }),
    ...cable([0xaa, 1], [1, 8]),
  ],
  hosts: [host(1, 1, "20"), host(2, 4, "20"), host(6, 8, "20"), host(7, 1, "25")],
};

let api: Harness;
beforeAll(async () => {
  api = await openHarness({ limits: { paths: 256 } });
  await api.replace(NETWORK);
});
afterAll(() => api.stop());

interface PathJson {
  readonly cost: number;
  readonly links: readonly { src: EndJson; dst: EndJson; type: string; state: string }[];
}
type EndJson = { readonly port: string } & ({ readonly device: string } | { readonly host: string });

const pointText = (end: EndJson): string =>
  `${"device" in end ? end.device.replace(/^of:0*/, "") : end.host}/${end.port}`;
const pathText = ({ cost, links }: PathJson): string =>
  `${cost}: ${links.map(({ src, dst }) => `${pointText(src)}-${pointText(dst)}`).join(" ")}`;
const pathsOf = async (src: string, dst: string): Promise<string[]> => {
  const { paths } = await api.json<{ paths: PathJson[] }>(`paths/${src}/${dst}`);
  return paths.map(pathText);
};
const hostId = (n: number): string => `00:00:00:00:00:0${n}%2FNone`;

describe("paths", () => {
  test("are all the shortest ones, in ONOS's shape, in a fixed order", async () => {
    expect(await pathsOf(device(1), device(4))).toEqual([
      "2: 1/1-2/1 2/2-4/1",
      "2: 1/1-2/1 2/5-4/5",
      "2: 1/2-3/1 3/2-4/2",
    ]);
    const { paths } = await api.json<{ paths: PathJson[] }>(`paths/${device(1)}/${device(0xaa)}`);
    expect(paths).toMatchObject([
      {
        cost: 1,
        links: [
          {
            src: { port: "8", device: device(1) },
            dst: { port: "1", device: device(0xaa) },
            type: "DIRECT",
            state: "ACTIVE",
          },
        ],
      },
    ]);
  });

  test("an INDIRECT link costs as much as in ONOS", async () => {
    expect((await pathsOf(device(1), device(7))).map((text) => text.split(":")[0])).toEqual(
      new Array(3).fill("32770"),
    );
  });

  test.each([
    ["a device that is not available", device(1), device(0xee)],
    ["a device that does not exist", device(1), device(0x99)],
    ["a host that does not exist", hostId(9), hostId(1)],
    ["text that is no id", "xyz", device(1)],
    ["the direction that has no link", device(8), device(1)],
    ["a device and itself", device(1), device(1)],
  ])("none: 200 with an empty list (%s)", async (_, src, dst) => {
    for (const suffix of ["", "/disjoint"]) {
      const response = await api.fetch(`paths/${src}/${dst}${suffix}`);
      expect(response.status).toBe(200);
      expect(response.headers.get("gazetteer-paths")).toBe("0");
      expect(await response.json()).toEqual({ paths: [] });
    }
  });

  test("hosts at the ends, percent-encoded or not, and ids in any case", async () => {
    const expected = [
      "4: 00:00:00:00:00:01/None/0-1/20 1/1-2/1 2/2-4/1 4/20-00:00:00:00:00:02/None/0",
      "4: 00:00:00:00:00:01/None/0-1/20 1/1-2/1 2/5-4/5 4/20-00:00:00:00:00:02/None/0",
      "4: 00:00:00:00:00:01/None/0-1/20 1/2-3/1 3/2-4/2 4/20-00:00:00:00:00:02/None/0",
    ];
    expect(await pathsOf(hostId(1), hostId(2))).toEqual(expected);
    expect(await pathsOf("00:00:00:00:00:01/None", "00:00:00:00:00:02/-1")).toEqual(expected);
    expect(await pathsOf(hostId(1), device(1))).toEqual(["1: 00:00:00:00:00:01/None/0-1/20"]);
    expect(await pathsOf(hostId(1), hostId(7))).toEqual([
      "2: 00:00:00:00:00:01/None/0-1/20 1/25-00:00:00:00:00:07/None/0",
    ]);
    expect(await pathsOf(device(1).toUpperCase(), "OF:00000000000000AA")).toEqual(["1: 1/8-aa/1"]);
  });

  test("an earlier state has the paths of that time", async () => {
    await using own = await openHarness();
    await own.replace(NETWORK);
    const { revision } = own.view;
    await own.apply([{ op: "remove", kind: "devices", id: device(3) }]);
    const count = async (query: string) =>
      (await own.fetch(`paths/${device(1)}/${device(4)}${query}`)).headers.get("gazetteer-paths");
    expect(await count("")).toBe("2");
    expect(await count(`?at=${revision}`)).toBe("3");
  });
});

test("disjoint paths: pairs that share no link", async () => {
  const { paths } = await api.json<{ paths: { primary: PathJson; backup?: PathJson }[] }>(
    `paths/${device(1)}/${device(4)}/disjoint`,
  );
  expect(paths.map(({ primary, backup }) => [primary, backup].map((path) => path && pathText(path)))).toEqual(
    [
      ["2: 1/1-2/1 2/2-4/1", "2: 1/2-3/1 3/2-4/2"],
      ["2: 1/1-2/1 2/5-4/5", "2: 1/2-3/1 3/2-4/2"],
    ],
  );
  expect(await api.json(`paths/${device(1)}/${device(5)}/disjoint`)).toEqual({ paths: [] });
  const within = await api.json<{ paths: object[] }>(`paths/${hostId(1)}/${hostId(7)}/disjoint`);
  expect(within.paths.map(Object.keys)).toEqual([["primary"]]);
});

describe("a grid with 10 billion paths and more", () => {
  const SIZE = 19;
  const at = (x: number, y: number) => `g${x}-${y}`;
  let grid: Harness;
  beforeAll(async () => {
    grid = await openHarness({ limits: { paths: 100 } });
    const devices: { id: string }[] = [];
    const links: LinkClaim[] = [];
    const join = (a: string, b: string, portA: string, portB: string) =>
      links.push({ src: { device: a, port: portA }, dst: { device: b, port: portB } });
    for (let x = 0; x < SIZE; x++) {
      for (let y = 0; y < SIZE; y++) {
        devices.push({ id: at(x, y) });
        if (x + 1 < SIZE) join(at(x, y), at(x + 1, y), "1", "2");
        if (y + 1 < SIZE) join(at(x, y), at(x, y + 1), "3", "4");
      }
    }
    await grid.replace({ devices, links });
  });
  afterAll(() => grid.stop());
  const path = `paths/${at(0, 0)}/${at(SIZE - 1, SIZE - 1)}`;

  test("says how many there are and leads to more; all pages are of one revision", async () => {
    const seen: string[] = [];
    let cursor = "";
    const revisions = new Set<string | null>();
    for (let page = 0; page < 3; page++) {
      const response = await grid.fetch(`${path}${cursor}`);
      expect(response.headers.get("gazetteer-paths")).toBe("9075135300");
      revisions.add(response.headers.get("gazetteer-revision"));
      const body = await response.json();
      expect(body.paths).toHaveLength(100);
      expect(response.headers.get("link")).toContain(encodeURI(body.next));
      seen.push(...body.paths.map(pathText));
      cursor = `?cursor=${body.next}`;
      // A change between two pages does not show.
      await grid.apply([{ op: "remove", kind: "links", id: `${at(0, page)}/1-${at(1, page)}/2` }]);
    }
    expect(new Set(seen).size).toBe(300);
    expect(revisions.size).toBe(1);
  });

  test.each([
    ["limit=101", "100"],
    ["limit=0", "from 1 to 100"],
    ["cursor=x", "cursor"],
    ["sort=cost", "does not exist here"],
  ])("%s is a 400", async (query, detail) => {
    const response = await grid.fetch(`${path}?${query}`);
    expect(response.status).toBe(400);
    expect((await response.json()).detail).toContain(detail);
  });

  test("limit shortens a page", async () => {
    const { paths, next } = await grid.json<{ paths: unknown[]; next: string }>(`${path}?limit=2`);
    expect(paths).toHaveLength(2);
    expect(next).toBeString();
  });
});

describe("connect points", () => {
  const facts = async (fact: string) => {
    const points: string[] = [];
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) {
      for (const port of [1, 2, 3, 4, 5, 7, 8]) {
        const body = await api.json(`topology/${fact}/${device(n)}:${port}`);
        if (body[fact] === true) points.push(`${n}:${port}`);
        else expect(body).toEqual({ [fact]: false });
      }
    }
    return points;
  };

  test("infrastructure: used by an active link between available devices", async () => {
    expect(await facts("infrastructure")).toEqual([
      ...["1:1", "1:2", "1:8", "2:1", "2:2", "2:5", "3:1", "3:2", "4:1", "4:2", "4:3", "4:4", "4:5"],
      ...["5:1", "6:1", "6:2", "7:1", "7:2", "8:1"],
    ]);
  });

  test("broadcast: all but the infrastructure that is not on the spanning tree of its cluster", async () => {
    const broadcast = await facts("broadcast");
    const infrastructure = await facts("infrastructure");
    // As ONOS, which takes any of several shortest links to 4; here it is the one with the lowest id.
    expect(infrastructure.filter((point) => !broadcast.includes(point))).toEqual([
      ...["2:5", "3:2", "4:2", "4:4", "4:5", "6:1", "7:2"],
    ]);
  });

  test("the device in any case; a port that only a link names; a device that is not available", async () => {
    expect(await api.json("topology/infrastructure/OF:00000000000000AA:1")).toEqual({ infrastructure: true });
  });

  test.each([
    [`topology/broadcast/${device(1)}:99`, 404],
    [`topology/broadcast/${device(0x99)}:1`, 404],
    ["topology/broadcast/xyz", 404],
    [`topology/infrastructure/${device(1)}:x`, 400],
  ])("%s is %i", async (path, status) => {
    expect((await api.fetch(path)).status).toBe(status);
  });
});

test("links/usestalelinkage", async () => {
  expect(await api.json("links/usestalelinkage")).toEqual({ active: true });
  expect(await api.json("links/useStaleLinkAge")).toEqual({ active: true });
});

test("INDIRECT links do not join clusters", async () => {
  const { clusters } = await api.json("topology/clusters");
  expect(clusters).toEqual([
    { id: 0, deviceCount: 6, linkCount: 14, root: device(1) },
    { id: 1, deviceCount: 2, linkCount: 2, root: device(6) },
    { id: 2, deviceCount: 1, linkCount: 0, root: device(8) },
  ]);
});
