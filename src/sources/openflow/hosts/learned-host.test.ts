import { expect, test } from "bun:test";
import { LearnedHost, RecentHosts } from "./learned-host.ts";

const host = (number: number) =>
  new LearnedHost(`02:00:00:00:00:${number.toString(16).padStart(6, "0")}`, {});

test("hosts are returned once, by port; a host that is back elsewhere is not", () => {
  const recent = new RecentHosts();
  const [a, b, c] = [host(1), host(2), host(3)];
  recent.add(a, "of:1/1");
  recent.add(b, "of:1/1");
  recent.add(c, "of:1/2");
  recent.delete(b.id);
  expect(recent.takeAt("of:1/1")).toEqual([a]);
  expect(recent.takeAt("of:1/1")).toEqual([]);
  expect(recent.takeAt("of:1/2")).toEqual([c]);
});

test("one port keeps 256 hosts, all ports together the latest 10,000", () => {
  const recent = new RecentHosts();
  for (let i = 0; i < 300; i++) recent.add(host(i), "of:1/1");
  for (let i = 1000; i < 11_000; i++) recent.add(host(i), `of:2/${i}`);
  expect(recent.takeAt("of:1/1")).toEqual([]);
  expect(recent.takeAt("of:2/10999")).toHaveLength(1);
  for (let i = 0; i < 300; i++) recent.add(host(i), "of:1/1");
  expect(recent.takeAt("of:1/1")).toHaveLength(256);
});
