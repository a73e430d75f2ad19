import { describe, expect, test } from "bun:test";
import { ClaimedNetwork, describeBatch } from "../../test/support/claims.ts";
import type { HostClaim, LinkClaim } from "../model/claim.ts";

async function network(): Promise<ClaimedNetwork> {
  const net = new ClaimedNetwork();
  await net.set("first", "devices", { id: "of:a" }, { id: "of:b" }, { id: "of:c" });
  return net;
}
const cable = (from: string, to: string, more: Partial<LinkClaim> = {}): LinkClaim => ({
  src: { device: from.slice(0, 4), port: from.slice(5) },
  dst: { device: to.slice(0, 4), port: to.slice(5) },
  ...more,
});
const host = (n: number, ips: string[], vlan = "None", at = "of:a/9"): HostClaim => ({
  mac: `00:00:00:00:00:${n.toString(16).padStart(2, "0")}`,
  vlan,
  ipAddresses: ips,
  locations: [{ elementId: at.slice(0, 4), port: at.slice(5) }],
});
const id = (n: number, vlan = "None") => `00:00:00:00:00:0${n}/${vlan}`;
const linkConflicts = (net: ClaimedNetwork) =>
  Object.fromEntries(net.all("links").map(({ id, annotations }) => [id, annotations?.conflict]));
const hostConflicts = (net: ClaimedNetwork) =>
  net.all("hosts").map(({ annotations }) => annotations?.conflict);

describe("two links on one port", () => {
  test("are both in conflict until one is removed", async () => {
    const net = await network();
    await net.set("first", "links", cable("of:a/1", "of:b/1"));
    const batch = await net.set("second", "links", cable("of:a/1", "of:c/1"));
    expect(describeBatch(batch)).toEqual([
      "added links of:a/1-of:c/1",
      "updated links of:a/1-of:b/1 (annotations)",
    ]);
    expect(linkConflicts(net)).toEqual({
      "of:a/1-of:b/1": "port of:a/1 has another link to of:c/1",
      "of:a/1-of:c/1": "port of:a/1 has another link to of:b/1",
    });
    await net.remove("second", "links", "of:a/1-of:c/1");
    expect(linkConflicts(net)).toEqual({ "of:a/1-of:b/1": undefined });
  });

  test("are in conflict at the destination too, but the two directions of one cable are not", async () => {
    const net = await network();
    await net.set("first", "links", cable("of:a/1", "of:b/1"), cable("of:b/1", "of:a/1"));
    expect(Object.values(linkConflicts(net))).toEqual([undefined, undefined]);
    await net.set("first", "links", cable("of:c/1", "of:b/1"));
    expect(linkConflicts(net)).toEqual({
      "of:a/1-of:b/1": "port of:b/1 has another link from of:c/1",
      "of:b/1-of:a/1": undefined,
      "of:c/1-of:b/1": "port of:b/1 has another link from of:a/1",
    });
  });

  test("are no longer in conflict when the state, the type or the device of one changes", async () => {
    for (const end of ["state", "type", "device"]) {
      const net = await network();
      await net.set("first", "links", cable("of:a/1", "of:b/1"), cable("of:a/1", "of:c/1"));
      expect(Object.values(linkConflicts(net)).every((conflict) => conflict?.startsWith("port of:a/1"))).toBe(
        true,
      );
      if (end === "state") await net.set("first", "links", cable("of:a/1", "of:c/1", { state: "INACTIVE" }));
      if (end === "type") await net.set("first", "links", cable("of:a/1", "of:c/1", { type: "TUNNEL" }));
      if (end === "device") await net.remove("first", "devices", "of:c");
      expect(Object.values(linkConflicts(net)).filter((conflict) => conflict !== undefined)).toEqual([]);
    }
  });
});

describe("one address on two hosts", () => {
  test("of one VLAN is a conflict on both until one loses it", async () => {
    const net = await network();
    await net.set("first", "hosts", host(1, ["10.0.0.1", "2001:db8::1"]));
    const batch = await net.set("second", "hosts", host(2, ["2001:DB8:0::1"]));
    expect(describeBatch(batch)).toEqual([`added hosts ${id(2)}`, `updated hosts ${id(1)} (annotations)`]);
    expect(hostConflicts(net)).toEqual([
      `2001:db8::1 is also claimed by ${id(2)}`,
      `2001:db8::1 is also claimed by ${id(1)}`,
    ]);
    await net.set("second", "hosts", host(2, ["2001:db8::2"]));
    expect(hostConflicts(net)).toEqual([undefined, undefined]);
  });

  test("can move from one to the other in one commit, in either order, without a conflict", async () => {
    for (const order of [
      [1, 2],
      [2, 1],
    ]) {
      const net = await network();
      await net.set("first", "hosts", host(1, ["10.0.0.1"]), host(2, []));
      const claims = [host(1, []), host(2, ["10.0.0.1"])];
      const batch = await net.set("first", "hosts", ...order.flatMap((n) => claims[n - 1] ?? []));
      expect(describeBatch(batch)).toEqual([
        `updated hosts ${id(1)} (ipAddresses)`,
        `updated hosts ${id(2)} (ipAddresses)`,
      ]);
    }
  });

  test("of two VLANs is no conflict; neither is one MAC in two VLANs", async () => {
    const net = await network();
    await net.set("first", "hosts", host(1, ["10.0.0.1"], "1"), host(2, ["10.0.0.1"], "11"));
    await net.set("first", "hosts", host(1, ["10.0.0.1"], "12"));
    expect(hostConflicts(net)).toEqual([undefined, undefined, undefined]);
  });

  test("of many hosts names none of them, and one more host changes no other", async () => {
    const net = await network();
    const four = [1, 2, 3, 4].map((n) => host(n, ["10.0.0.1"]));
    await net.set("first", "hosts", ...four);
    expect(hostConflicts(net)[3]).toBe(
      [1, 2, 3].map((n) => `10.0.0.1 is also claimed by ${id(n)}`).join("; "),
    );
    expect(describeBatch(await net.set("first", "hosts", host(5, ["10.0.0.1"]))).length).toBe(5);
    expect(new Set(hostConflicts(net))).toEqual(new Set(["10.0.0.1 is also claimed by more than 3 others"]));
    const batch = await net.set("first", "hosts", host(6, ["10.0.0.1"]));
    expect(describeBatch(batch)).toEqual([`added hosts ${id(6)}`]);
    await net.remove("first", "hosts", id(1), id(2));
    expect(hostConflicts(net)[0]).toBe(
      [4, 5, 6].map((n) => `10.0.0.1 is also claimed by ${id(n)}`).join("; "),
    );
  });
});

describe("two sources that report a host", () => {
  test("at different locations: both are kept, and the host is in conflict", async () => {
    const net = await network();
    await net.set("second", "hosts", host(1, [], "None", "of:b/2"));
    await net.set("first", "hosts", host(1, [], "None", "of:a/1"));
    expect(net.all("hosts")[0]).toMatchObject({
      locations: [
        { elementId: "of:a", port: "1" },
        { elementId: "of:b", port: "2" },
      ],
      annotations: { conflict: "seen at of:a/1 by first, at of:b/2 by second" },
    });
    await net.set("second", "hosts", host(1, [], "None", "of:a/1"));
    expect(net.all("hosts")[0]).not.toHaveProperty("annotations");
  });
});

test("a conflict is appended to a claimed annotation of that name and does not become part of the claim", async () => {
  const net = await network();
  await net.set("first", "hosts", { ...host(1, ["10.0.0.1"]), annotations: { conflict: "mine" } });
  await net.set("first", "hosts", host(2, ["10.0.0.1"]));
  expect(hostConflicts(net)[0]).toBe(`mine; 10.0.0.1 is also claimed by ${id(2)}`);
  await net.remove("first", "hosts", id(2));
  expect(hostConflicts(net)).toEqual(["mine"]);
});
