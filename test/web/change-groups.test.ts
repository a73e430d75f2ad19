import { expect, test } from "bun:test";
import type { Port } from "../../src/model/entity.ts";
import { ChangeGroups, type RecentChange } from "../../src/web/change-groups.ts";
import { device } from "../support/sample-network.ts";
import { sampleCable, sampleHost, sampleNetwork } from "./sample-network.ts";

const network = sampleNetwork();
const port = (element: string, n: string, more: Partial<Port>): Port => ({
  element,
  port: n,
  type: "copper",
  portSpeed: 1000,
  isEnabled: true,
  firstSeen: "2026-11-15T01:00:00.000Z",
  lastChanged: "2026-11-15T01:00:00.000Z",
  sources: ["demo"],
  revision: 7,
  ...more,
});
let revision = 0;
const at = (time: number) => ({ revision: ++revision, time });
const portDown = (element: string, n: number, time: number): RecentChange => ({
  ...at(time),
  event: "updated",
  resource: "ports",
  value: port(element, String(n), { isEnabled: false }),
  changed: ["isEnabled"],
});
const deviceDown = (id: string, time: number): RecentChange => ({
  ...at(time),
  event: "updated",
  resource: "devices",
  value: device(id, { available: false }),
  changed: ["available"],
});
const texts = (groups: ChangeGroups) =>
  groups
    .list(network)
    .map(({ title, count, changes }) =>
      count === 1 ? `${changes[0]?.title} ${changes[0]?.text}` : `${title} ${changes[0]?.many}`,
    );

test("many ports of a device that go down within a minute are one group", () => {
  const groups = new ChangeGroups();
  for (let n = 1; n <= 14; n++) groups.add(network, [portDown("c", n, n * 1000)]);
  groups.add(network, [portDown("b", 1, 15_000), portDown("c", 3, 16_000)]);
  expect(texts(groups)).toEqual(["14 ports of switch-c went down", "switch-b port 1 went down"]);
  groups.add(network, [portDown("c", 3, 200_000)]);
  expect(texts(groups)[0]).toBe("switch-c port 3 went down");
});

test("links are grouped by the device that they have in common, both directions as one", () => {
  const groups = new ChangeGroups();
  const down = (a: string, b: string): RecentChange[] =>
    sampleCable(a, b, { state: "INACTIVE" }).map((value) => ({
      ...at(1000),
      event: "updated",
      resource: "links",
      value,
      changed: ["state"],
    }));
  groups.add(network, [...down("a/1", "b/1"), ...down("b/2", "c/1"), ...down("b/3", "d/1")]);
  expect(texts(groups)).toEqual(["3 links of switch-b went down"]);
});

test("a flood of other changes does not push out a fault", () => {
  const groups = new ChangeGroups();
  groups.add(network, [deviceDown("a", 0)]);
  const moves = Array.from({ length: 5000 }, (_, i): RecentChange => {
    const mac = `02:00:00:00:${(i >> 8).toString(16).padStart(2, "0")}:${(i & 255).toString(16).padStart(2, "0")}`;
    return { ...at(i * 100), event: "added", resource: "hosts", value: sampleHost(mac, `x${i}/1`) };
  });
  groups.add(network, moves);
  const listed = groups.list(network);
  expect(listed.length).toBeLessThanOrEqual(200);
  expect(listed.some(({ changes }) => changes[0]?.text === "went down")).toBe(true);
});
