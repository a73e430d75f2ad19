/** The input of the scenes of the map for unit tests, and the result of work that is done in steps. */
import type { PageNetwork } from "../../src/web/data/page-network.ts";
import { DEFAULT_STATE } from "../../src/web/data/view-state.ts";
import type { SceneInput } from "../../src/web/map/device-scene.ts";
import { createHighlights } from "../../src/web/map/highlights.ts";
import { PALETTES } from "../../src/web/map/palette.ts";

/** A network whose devices are in a row, all in one cluster, without lines that are led around others. */
export const sceneInput = (network: PageNetwork, more: Partial<SceneInput> = {}): SceneInput => ({
  network,
  positions: new Map([...network.devices.keys()].map((id, i) => [id, { x: i * 100, y: 0, cluster: 0 }])),
  routes: new Map(),
  highlights: createHighlights(network, DEFAULT_STATE, undefined),
  palette: PALETTES.dark,
  expanded: new Set(),
  overlay: undefined,
  lost: [],
  causes: { devices: new Map(), cables: new Set() },
  speedOf: () => 0,
  portName: (_, port) => port,
  ...more,
});

/** Does all steps at once. */
export function finish<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
