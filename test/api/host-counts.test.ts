/** The counts of hosts at each device: they agree with the list of hosts, now and in the past. */

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Host } from "../../src/model/entity.ts";
import { runs } from "../support/property.ts";
import { API, openHarness, PROPERTY_TIMEOUT_MS } from "./harness.ts";
import { anyNetwork, anyStep, deviceId, setDevice, setHost } from "./network.ts";

interface Counts {
  readonly counts: Readonly<Record<string, number>>;
  readonly total: number;
}

function countByDevice(hosts: readonly Host[]): Counts {
  const counts: Record<string, number> = {};
  for (const { locations } of hosts)
    for (const device of new Set(locations.map(({ elementId }) => elementId)))
      counts[device] = (counts[device] ?? 0) + 1;
  return { counts, total: hosts.length };
}

describe("count=device", () => {
  test(
    "counts the hosts of the list at each device, filtered or not, in every state",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          anyNetwork,
          fc.array(anyStep, { minLength: 1, maxLength: 6 }),
          async (first, steps) => {
            await using h = await openHarness();
            for (const step of [first, ...steps]) await h.apply(step.changes, step.source);
            for (const at of [h.view.revision, Math.ceil(h.view.revision / 2), 1])
              for (const filter of [
                `at=${at}`,
                `at=${at}&device=${deviceId(1)}`,
                "q=0",
                "suspended=false",
                "",
              ]) {
                const { hosts } = await h.json<{ hosts: Host[] }>(`${API}/hosts?${filter}`);
                const expected = countByDevice(hosts);
                expect(await h.json<Counts>(`${API}/hosts?count=device&${filter}`)).toEqual(expected);
              }
          },
        ),
        { numRuns: runs(20) },
      );
    },
    PROPERTY_TIMEOUT_MS,
  );

  test("has a media type and an entity tag, and refuses what has no meaning with it", async () => {
    await using h = await openHarness();
    await h.apply([setDevice(1), setHost(1, "a", "10.0.0.1")]);
    const response = await h.fetch(`${API}/hosts?count=device`);
    expect(response.headers.get("content-type")).toBe("application/vnd.gazetteer.counts+json");
    expect(response.headers.get("gazetteer-revision")).toBe(String(h.view.revision));
    expect(await response.json()).toEqual({ counts: { [deviceId(1)]: 1 }, total: 1 });
    for (const query of [
      "count=port",
      "count=device&limit=1",
      "count=device&sort=id",
      "count=device&since=1",
    ])
      expect((await h.fetch(`${API}/hosts?${query}`)).status).toBe(400);
    expect((await h.fetch(`${API}/links?count=device`)).status).toBe(400);
  });
});
