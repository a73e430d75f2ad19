import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/property.ts";
import { runToEnd } from "../lib/steps.ts";
import type { Link } from "../model/entity.ts";
import { LinkGraph } from "./link-graph.ts";

type GraphLinkInput = Pick<Link, "src" | "dst" | "state" | "type">;

const device = fc.constantFrom("a", "b", "c", "d", "e");
const change = fc.oneof(
  fc.record({ device, available: fc.option(fc.boolean(), { nil: undefined }) }),
  fc.record({
    src: device,
    dst: device,
    state: fc.constantFrom("ACTIVE", "INACTIVE", undefined),
    type: fc.constantFrom("DIRECT", "INDIRECT"),
  }),
);

/** The clusters by their definition: two devices are in one when each reaches the other. */
function expectedClusters(devices: ReadonlyMap<string, boolean>, links: ReadonlyMap<string, GraphLinkInput>) {
  const usable = [...links.values()].filter(
    ({ src, dst, state, type }) =>
      state === "ACTIVE" && type !== "INDIRECT" && devices.get(src.device) && devices.get(dst.device),
  );
  const reaches = (from: string, to: string): boolean => {
    const seen = new Set([from]);
    for (const at of seen) for (const { src, dst } of usable) if (src.device === at) seen.add(dst.device);
    return seen.has(to);
  };
  const available = [...devices].filter(([, isAvailable]) => isAvailable).map(([id]) => id);
  const clusters = new Map<string, string[]>();
  for (const id of available.sort()) {
    const root = [...clusters.keys()].find((other) => reaches(id, other) && reaches(other, id)) ?? id;
    clusters.set(root, [...(clusters.get(root) ?? []), id]);
  }
  return [...clusters.values()].map((ids) => ({
    devices: ids,
    links: [...links]
      .filter(
        ([, link]) => usable.includes(link) && ids.includes(link.src.device) && ids.includes(link.dst.device),
      )
      .map(([id]) => id)
      .sort(),
  }));
}

test("any changes give the graph of their definition, and earlier graphs stay as they were", () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 10 }), (rounds) => {
      let graph = LinkGraph.empty;
      const devices = new Map<string, boolean>();
      const links = new Map<string, GraphLinkInput>();
      const earlier: { graph: LinkGraph; clusters: unknown }[] = [];
      for (const round of rounds) {
        const changedDevices: [string, { available: boolean } | undefined][] = [];
        const changedLinks: [string, GraphLinkInput | undefined][] = [];
        for (const step of round) {
          if ("device" in step) {
            const { available } = step;
            changedDevices.push([step.device, available === undefined ? undefined : { available }]);
            if (available === undefined) devices.delete(step.device);
            else devices.set(step.device, available);
          } else {
            const id = `${step.src}-${step.dst}`;
            const { state, type } = step;
            const link = state && {
              src: { device: step.src, port: "1" },
              dst: { device: step.dst, port: "2" },
              state,
              type,
            };
            changedLinks.push([id, link]);
            if (link) links.set(id, link);
            else links.delete(id);
          }
        }
        graph = runToEnd(graph.with({ devices: changedDevices, links: changedLinks }));
        const clusters = expectedClusters(devices, links);
        expect(runToEnd(graph.clusters())).toEqual(clusters);
        expect(runToEnd(graph.clusterCount())).toBe(clusters.length);
        for (const id of ["a", "b", "c", "d", "e"]) {
          expect(graph.hasDevice(id)).toBe(devices.has(id));
          const out = [...links].filter(
            ([, { src, dst, state }]) =>
              src.device === id && state === "ACTIVE" && devices.get(id) && devices.get(dst.device),
          );
          expect(
            graph
              .outgoing(id)
              .map((link) => link.id)
              .sort(),
          ).toEqual(out.map(([link]) => link).sort());
        }
        earlier.push({ graph, clusters });
      }
      for (const { graph: old, clusters } of earlier)
        expect<unknown>(runToEnd(old.clusters())).toEqual(clusters);
    }),
    { numRuns: runs(200) },
  );
});

test("a chain of many devices is computed in steps, and only once", () => {
  const ids = Array.from({ length: 10_000 }, (_, n) => `d${n}`);
  const devices = ids.map((id) => [id, { available: true }] as const);
  const links = ids.slice(1).flatMap((id, n) => {
    const [src, dst] = [
      { device: ids[n] ?? "", port: "1" },
      { device: id, port: "2" },
    ];
    const state = "ACTIVE" as const;
    const type = "DIRECT" as const;
    return [
      [`${src.device}-${id}`, { src, dst, state, type }] as const,
      [`${id}-${src.device}`, { src: dst, dst: src, state, type }] as const,
    ];
  });
  const graph = runToEnd(LinkGraph.empty.with({ devices, links }));
  const steps = [...graph.clusterCount()].length;
  expect(steps).toBeGreaterThan(10);
  expect([...graph.clusterCount()].length).toBe(0);
  expect(runToEnd(graph.clusters()).map((cluster) => cluster.devices.length)).toEqual([10_000]);
  expect([...graph.devicesWithin(["d0"], 9999)].length).toBeGreaterThan(10);
  expect(runToEnd(graph.devicesWithin(["d0"], 5))).toEqual(new Set(ids.slice(0, 6)));
});
