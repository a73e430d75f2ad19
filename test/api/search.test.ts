/** The search over devices and hosts: it agrees with the lists, now and in the past. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Host } from "../../src/model/entity.ts";
import { runs } from "../support/property.ts";
import { API, type Harness, openHarness, PROPERTY_TIMEOUT_MS } from "./harness.ts";
import { anyNetwork, anyStep, deviceId, setDevice, setHost } from "./network.ts";

interface Hits {
  readonly hits: readonly {
    readonly resource: "devices" | "hosts";
    readonly value: Pick<Host, "id" | "annotations">;
  }[];
  readonly complete: boolean;
}

describe("the search", () => {
  let h: Harness;
  beforeAll(async () => {
    h = await openHarness();
    const leaf = (n: number, name: string, more: object = {}) =>
      setDevice(n, { annotations: { name }, ...more });
    await h.apply([
      leaf(1, "leaf-1", { serial: "FDO-77" }),
      leaf(2, "leaf-2", { annotations: { name: "leaf-2", managementAddress: "192.0.2.9", city: "Zürich" } }),
      leaf(10, "leaf-10", { aliases: ["chassis:AB"] }),
      leaf(11, "Spine Leaf"),
      setHost(1, "leaf-cam", "10.0.0.1"),
      setHost(2, "printer two", "10.0.0.10"),
      setHost(3, "ÄPFEL", "10.0.1.1"),
      setHost(0xaf, "door", "2001:db8::1"),
    ]);
  });
  afterAll(() => h[Symbol.asyncDispose]());

  const names = async (query: string): Promise<string[]> =>
    (await h.json<Hits>(`${API}/topology/search?${query}`)).hits.map(
      ({ value }) => value.annotations?.name ?? "",
    );

  test.each([
    [
      "the whole field, the beginning of a field, the beginning of a word; devices first",
      "leaf",
      ["leaf-1", "leaf-2", "leaf-10", "leaf-cam", "Spine Leaf"],
    ],
    ["the whole field comes first", "leaf-1", ["leaf-1", "leaf-10"]],
    ["an inner word", "cam", ["leaf-cam"]],
    ["no match within a word", "eaf", []],
    ["several words, as they stand", "printer tw", ["printer two"]],
    ["several words in any order", "tw prin", ["printer two"]],
    ["upper and lower case outside ASCII", "äpf", ["ÄPFEL"]],
    ["an id", deviceId(11), ["Spine Leaf"]],
    ["an alias", "chassis:ab", ["leaf-10"]],
    ["a serial number", "fdo", ["leaf-1"]],
    ["a word of the description", "züri", ["leaf-2"]],
    ["a MAC address in another notation", "0000.0000.00af", ["door"]],
    ["the beginning of a MAC address", "00:00:00:00:00:a", ["door"]],
    ["the end of a MAC address", "af", ["door"]],
    ["the id of a host", "00:00:00:00:00:AF/None", ["door"]],
    ["an IP address before those that it begins", "10.0.0.1", ["leaf-cam", "printer two"]],
    ["an IPv6 address in another notation", "2001:DB8:0::0:1", ["door"]],
    ["a management address", "192.0.2.9", ["leaf-2"]],
    ["a block", "10.0.0.0/24", ["leaf-cam", "printer two"]],
    ["a block that is no prefix of a text", "10.0.0.8/29", ["printer two"]],
    ["a block of devices and hosts", "0.0.0.0/0", ["leaf-2", "ÄPFEL", "leaf-cam", "printer two"]],
    ["a block of IPv6", "2001:db8::/32", ["door"]],
    ["only white space around it", "  spine  ", ["Spine Leaf"]],
  ])("%s", async (_, text, expected) => {
    const found = await names(`q=${encodeURIComponent(text)}`);
    if (text.endsWith("/0") || text.endsWith("/24")) expect(found.toSorted()).toEqual(expected.toSorted());
    else expect(found).toEqual([...expected]);
  });

  test("limit, and whether these are all", async () => {
    const two = await h.json<Hits>(`${API}/topology/search?q=leaf&limit=2`);
    expect(two.hits.map(({ value }) => value.annotations?.name)).toEqual(["leaf-1", "leaf-2"]);
    expect(two.complete).toBe(false);
    expect((await h.json<Hits>(`${API}/topology/search?q=leaf&limit=5`)).complete).toBe(true);
  });

  test("the media type, the entity tag, and an entity as its own list has it", async () => {
    const response = await h.fetch(`${API}/topology/search?q=leaf-cam`);
    expect(response.headers.get("content-type")).toBe("application/vnd.gazetteer.hits+json");
    const { hosts } = await h.json<{ hosts: Host[] }>(`${API}/hosts?annotations.name=leaf-cam`);
    expect(await response.json()).toEqual({ hits: [{ resource: "hosts", value: hosts[0] }], complete: true });
    const headers = { "if-none-match": response.headers.get("etag") ?? "" };
    expect((await h.fetch(`${API}/topology/search?q=leaf-cam`, { headers })).status).toBe(304);
  });

  test.each([
    ["", "q"],
    ["q=%20", "q"],
    ["q=a&limit=101", "limit"],
    ["q=a&sort=id", "sort"],
  ])("%p is a 400 that names %s", async (query, parameter) => {
    const response = await h.fetch(`${API}/topology/search?${query}`);
    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toContain(parameter);
  });

  test("a change is found at once, and the past stays as it was", async () => {
    const { revision } = h.view;
    await h.apply([setHost(1, "moved-cam", "10.0.0.77")]);
    expect(await names("q=moved")).toEqual(["moved-cam"]);
    expect(await names("q=leaf-cam")).toEqual([]);
    expect(await names(`q=leaf-cam&at=${revision}`)).toEqual(["leaf-cam"]);
    expect(await names(`q=moved&at=${revision}`)).toEqual([]);
  });
});

const wordsIn = (text: string): string[] => {
  const lower = text.toLowerCase();
  return [...lower.matchAll(/(?<![a-z0-9\u0080-\uffff])[a-z0-9\u0080-\uffff]/g)].map(({ index }) =>
    lower.slice(index),
  );
};

test(
  "finds exactly the hosts that have a word with this beginning, in every state",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        anyNetwork,
        fc.array(anyStep, { minLength: 1, maxLength: 6 }),
        async (first, steps) => {
          await using h = await openHarness();
          for (const step of [first, ...steps]) {
            await h.apply(step.changes, step.source);
            await h.json(`${API}/topology/search?q=zzz`);
          }
          for (const at of [h.view.revision, Math.ceil(h.view.revision / 2)]) {
            const { hosts } = await h.json<{ hosts: Host[] }>(`${API}/hosts?at=${at}`);
            for (const text of ["00", "10.", "h", "1"]) {
              const expected = hosts.filter(({ id, ipAddresses, annotations }) =>
                [annotations?.name ?? "", id, ...ipAddresses].some(
                  (field) =>
                    wordsIn(field).some((word) => word.startsWith(text)) ||
                    field.toLowerCase().startsWith(text),
                ),
              );
              const { hits } = await h.json<Hits>(`${API}/topology/search?q=${text}&limit=100&at=${at}`);
              const found = hits.filter(({ resource }) => resource === "hosts").map(({ value }) => value);
              expect(found.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(expected);
            }
          }
        },
      ),
      { numRuns: runs(20) },
    );
  },
  PROPERTY_TIMEOUT_MS,
);
