/** The page's counts of hosts, and the hosts that it has opened, as the stream changes them; without a browser. */
import { describe, expect, test } from "bun:test";
import { sampleHost } from "../../../test/support/page-network.ts";
import type { Host } from "../../model/entity.ts";
import { Hosts, hostsAtDevice, hostWithId } from "./hosts.ts";

describe("hosts", () => {
  const counts = { counts: { a: 2, b: 1 }, total: 3, revision: 5 };
  const host = (n: number, end: string, revision = 1) =>
    sampleHost(`02:00:00:00:00:0${n}`, end, { revision });
  const change = (event: "added" | "updated" | "removed", value: Host, changed?: string[]) =>
    ({ resource: "hosts", event, value, revision: value.revision, ...(changed && { changed }) }) as const;

  test("changes of hosts that are not loaded change the counts, unless the counts contain them already", () => {
    const hosts = new Hosts(counts);
    hosts.apply(change("added", host(1, "a/1", 5)));
    expect([hosts.count("a"), hosts.total]).toEqual([2, 3]);
    hosts.apply(change("added", host(2, "a/1", 6)));
    hosts.apply(change("removed", host(3, "b/1", 7)));
    expect([hosts.count("a"), hosts.count("b"), hosts.total]).toEqual([3, 0, 3]);
    expect(hosts.opened.size).toBe(0);
    expect(hosts.countsAreStale).toBe(false);
  });

  test("a host that moves from an unknown place makes the counts stale until they are loaded again", async () => {
    const hosts = new Hosts(counts);
    hosts.apply(change("updated", host(1, "b/1", 6), ["ipAddresses"]));
    expect(hosts.countsAreStale).toBe(false);
    hosts.apply(change("updated", host(1, "b/1", 7), ["locations"]));
    expect(hosts.countsAreStale).toBe(true);
    await hosts.recount(async () => ({ counts: { a: 1, b: 2 }, total: 3, revision: 7 }));
    expect([hosts.count("a"), hosts.count("b"), hosts.countsAreStale]).toEqual([1, 2, false]);
  });

  test("a move that a list contains before the stream has it makes the counts stale", () => {
    const hosts = new Hosts(counts);
    const moved = host(1, "b/1", 7);
    hosts.open(hostWithId(moved.id));
    hosts.setLoaded(hostWithId(moved.id).key, [moved], true);
    hosts.apply(change("updated", moved, ["locations"]));
    expect(hosts.countsAreStale).toBe(true);
  });

  test("counts that are older than the stream by the time they arrive lose none of its changes", async () => {
    const hosts = new Hosts(counts);
    hosts.apply(change("updated", host(1, "b/1", 7), ["locations"]));
    let minRevision = 0;
    await hosts.recount(async (revision) => {
      minRevision = revision;
      hosts.apply(change("added", host(2, "a/1", 8)));
      hosts.apply(change("added", host(3, "a/1", 9)));
      hosts.apply(change("updated", host(4, "b/1", 10), ["locations"]));
      return { counts: { a: 2, b: 2 }, total: 4, revision: 8 };
    });
    expect(minRevision).toBe(7);
    // The host of revision 8 is in the counts already; that of 10 came from an unknown place.
    expect([hosts.count("a"), hosts.total, hosts.countsAreStale]).toEqual([3, 5, true]);
    hosts.apply(change("removed", host(3, "a/1", 11)));
    await hosts.recount(async () => ({ counts: { a: 1, b: 3 }, total: 4, revision: 11 }));
    expect([hosts.count("a"), hosts.count("b"), hosts.countsAreStale]).toEqual([1, 3, false]);
  });

  test("an opened device has its hosts, also those that the stream changed while they were loaded", () => {
    const hosts = new Hosts(counts);
    hosts.open(hostsAtDevice("a"));
    expect(hosts.stateOf("device a")).toBe("loading");
    hosts.apply(change("removed", host(1, "a/1", 6)));
    hosts.apply(change("updated", host(2, "b/1", 7), ["locations"]));
    hosts.apply(change("added", host(3, "a/2", 8)));
    hosts.setLoaded("device a", [host(1, "a/1"), host(2, "a/1"), host(4, "a/1")], true);
    expect(
      hosts
        .openedAt("a")
        .map(({ mac }) => mac.at(-1))
        .toSorted(),
    ).toEqual(["3", "4"]);
    expect(hosts.openedAt("b")).toEqual([]);
    expect(hosts.stateOf("device a")).toBe("complete");
  });

  test("a row of a long table shows the last change of its host, although the host is not opened", () => {
    const hosts = new Hosts(counts);
    const row = host(1, "a/1", 2);
    expect(hosts.latest(row)).toBe(row);
    hosts.apply(change("updated", host(1, "b/1", 6), ["locations"]));
    expect(hosts.latest(row).location.elementId).toBe("b");
    for (let n = 0; n < 2000; n++) hosts.apply(change("added", { ...host(2, "a/1", 7), id: `${n}` }));
    expect(hosts.latest(row)).toBe(row);
  });

  test("what is closed is forgotten, unless something else has it open", () => {
    const hosts = new Hosts(counts);
    for (const group of [hostsAtDevice("a"), hostWithId(host(1, "a/1").id)]) {
      hosts.open(group);
      hosts.setLoaded(
        group.key,
        [host(1, "a/1"), ...(group.key.startsWith("device") ? [host(2, "a/1")] : [])],
        true,
      );
    }
    hosts.close("device a");
    expect([...hosts.opened.values()].map(({ mac }) => mac.at(-1))).toEqual(["1"]);
    hosts.close(hostWithId(host(1, "a/1").id).key);
    expect(hosts.opened.size).toBe(0);
    expect(hosts.count("a")).toBe(2);
  });

  test("a host is known when it is loaded, and when it is known not to exist", () => {
    const hosts = new Hosts(counts);
    expect(hosts.isKnown("x")).toBe(false);
    hosts.open(hostWithId("x"));
    expect(hosts.isKnown("x")).toBe(false);
    hosts.setLoaded("host x", [], true);
    expect(hosts.isKnown("x")).toBe(true);
  });
});
