/** What the map highlights, dims and hides, and that no alarm is ever dimmed, without a browser. */
import { describe, expect, test } from "bun:test";
import { sampleCable, sampleNetwork } from "../../../test/support/page-network.ts";
import { cableOf } from "../../model/cable.ts";
import { DEFAULT_STATE } from "../data/view-state.ts";
import { createHighlights } from "./highlights.ts";
import { byValue } from "./line-labels.ts";
import { PALETTES } from "./palette.ts";
import { bundleStyle, deviceStyle, type Emphasis, lineColor, STROKES } from "./style.ts";

/** One direction of a cable. */
const linkOf = (from: string, to: string, more = {}) => sampleCable(from, to, more)[0];

describe("highlights", () => {
  const highlights = (options: Partial<typeof DEFAULT_STATE>) =>
    createHighlights(sampleNetwork(), { ...DEFAULT_STATE, ...options }, undefined);
  const highlightedIds = (options: Partial<typeof DEFAULT_STATE>) =>
    [...sampleNetwork().devices.values()]
      .filter((device) => highlights(options).device(device).highlighted)
      .map(({ id }) => id);

  test("a filter highlights the devices that match; without a filter none is highlighted", () => {
    expect(highlightedIds({})).toEqual([]);
    expect(highlightedIds({ states: ["down"] })).toEqual(["d"]);
    expect(highlightedIds({ types: ["ROUTER"] })).toEqual([]);
    expect(highlightedIds({ sources: ["demo"], types: ["SWITCH"] })).toEqual(["a", "b", "c", "d"]);
  });

  test("devices outside the neighbourhood are hidden", () => {
    const { isVisible } = highlights({ around: "a", hops: 1 });
    expect(["a", "b", "c"].map(isVisible)).toEqual([true, true, false]);
  });
});

test("an alarm is never faded by a filter, a path or a layer", () => {
  const network = sampleNetwork();
  network.set({ resource: "links", value: linkOf("a/1", "b/1", { state: "INACTIVE" }) });
  network.set({ resource: "links", value: linkOf("b/1", "a/1", { state: "INACTIVE" }) });
  const filters = { ...DEFAULT_STATE, types: ["ROUTER"] };
  for (const palette of Object.values(PALETTES)) {
    const highlights = createHighlights(network, filters, undefined);
    const colours = [...network.devices.values()].map((one) => {
      const emphasis = highlights.device(one);
      expect(emphasis.highlighted).toBe(false);
      return deviceStyle(one, emphasis, undefined, palette).color;
    });
    expect(colours).toEqual([palette.dimmed, palette.dimmed, palette.dimmed, palette.down]);
    const cables = [...network.cables.values()].map((cable) =>
      lineColor({ ...cable, partlyDown: false }, highlights.cable(cable), palette),
    );
    expect(cables).toEqual([palette.down, palette.dimmed, palette.dimmed]);
  }
});

test("a metric replaces no alarm and no mark, and a partly broken bundle differs by its stroke too", () => {
  const up = sampleCable("a/1", "b/1");
  const inConflict = sampleCable("a/2", "b/2", { annotations: { conflict: "two claims" } });
  const down = sampleCable("a/3", "b/3", { state: "INACTIVE" });
  const bundle = (...cables: ReturnType<typeof sampleCable>[]) => ({
    a: "a",
    b: "b",
    cables: cables.map(([forward, reverse]) => cableOf(forward, reverse)),
  });
  const values = new Map<string, number>(
    [up, inConflict, down].flatMap((links) => links.map(({ id }) => [id, 10] as const)),
  );
  const palette = PALETTES.dark;
  const plain = { highlighted: undefined, selected: false, onPath: false, mark: undefined };
  const style = (one: ReturnType<typeof bundle>, emphasis: Emphasis = plain, metric = values) =>
    bundleStyle(one, emphasis, {
      palette,
      overlay: { name: "Load", unit: "%", max: 100, values: metric },
      speedOf: () => 0,
      isCause: false,
    });
  const metricColor = style(bundle(up)).color;
  expect(style(bundle(up), plain, new Map()).color).toBe(palette.dimmed);
  expect(style(bundle(down))).toMatchObject({ color: palette.down, stroke: STROKES.dashed });
  for (const metric of [values, new Map<string, number>()]) {
    const partlyDown = style(bundle(up, down), plain, metric);
    expect(partlyDown).toMatchObject({ color: palette.down, stroke: STROKES.longDashed, fades: false });
    const conflict = style(bundle(inConflict), plain, metric);
    expect(conflict).toMatchObject({ color: palette.warning, stroke: STROKES.double, fades: false });
    const marked = style(bundle(up), { ...plain, mark: "problem" }, metric).color;
    expect(marked).not.toBe(metricColor);
    expect(marked).toBe(palette.down);
  }
});

test("the texts of the highest values are drawn first, and those of lines without a value last", () => {
  const items = ["1", "2", "3", "4"].map((port) => {
    const [forward, reverse] = sampleCable(`a/${port}`, `b/${port}`);
    return { bundle: { a: "a", b: "b", cables: [cableOf(forward, reverse)] } };
  });
  const idsOf = (item: (typeof items)[number] | undefined) =>
    item?.bundle.cables[0]?.links.map(({ id }) => id) ?? [];
  const [first = "", second = ""] = idsOf(items[1]);
  // The larger direction of a cable counts.
  const values = new Map([
    [idsOf(items[0])[0] ?? "", 20],
    [first, 5],
    [second, 90],
    [idsOf(items[3])[0] ?? "", 20],
  ]);
  const sorted = byValue(items, { name: "Load", unit: "%", max: 100, values });
  expect(sorted.map((item) => items.indexOf(item))).toEqual([1, 0, 3, 2]);
});
