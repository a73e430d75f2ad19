/** From values of ports to values of links, as the JSON that the page gets. In steps: both grow with the network. */
import type { METRIC_DIRECTIONS } from "../config/map-schema.ts";
import { pausing, type Steps } from "../lib/steps.ts";
import type { MetricValues } from "../model/map-settings.ts";
import type { LinkPorts } from "../query/link-ports.ts";
import type { PortSample } from "./prometheus-query.ts";

const SAMPLES_PER_STEP = 256;
const VALUES_PER_STEP = 1000;
/** Names of unknown devices, to show what the labels are like. */
const MAX_EXAMPLES = 5;
const MAX_EXAMPLE_LENGTH = 80;
const DIGITS = 6;

/** Of several series for one link the largest value counts: the map must not hide the worst. */
export function* linkValues(
  ports: LinkPorts,
  samples: readonly PortSample[],
  direction: (typeof METRIC_DIRECTIONS)[number],
  time: number,
): Steps<Uint8Array> {
  const values = new Map<string, number>();
  const unknown = new Set<string>();
  let unknownSeries = 0;
  for (const sample of pausing(samples, SAMPLES_PER_STEP)) {
    if (!sample) {
      yield;
      continue;
    }
    const { device, port, value } = sample;
    const links = ports.find(device, port);
    if (links === "no-device") {
      unknownSeries++;
      if (unknown.size < MAX_EXAMPLES) unknown.add(device.slice(0, MAX_EXAMPLE_LENGTH));
      continue;
    }
    const ids = [
      ...(direction === "in" ? [] : (links?.out ?? [])),
      ...(direction === "out" ? [] : (links?.in ?? [])),
    ];
    for (const id of ids) values.set(id, Math.max(value, values.get(id) ?? value));
  }
  const facts: Omit<MetricValues, "values"> = {
    time,
    series: samples.length,
    unknownSeries,
    unknownDevices: [...unknown],
  };
  return yield* encode(facts, values);
}

function* encode(
  facts: Omit<MetricValues, "values">,
  values: ReadonlyMap<string, number>,
): Steps<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let piece = `${JSON.stringify(facts).slice(0, -1)},"values":{`;
  let separator = "";
  for (const entry of pausing(values, VALUES_PER_STEP)) {
    if (entry) {
      piece += `${separator}${JSON.stringify(entry[0])}:${Number(entry[1].toPrecision(DIGITS))}`;
      separator = ",";
      continue;
    }
    pieces.push(Buffer.from(piece));
    piece = "";
    yield;
  }
  pieces.push(Buffer.from(`${piece}}}`));
  return Buffer.concat(pieces);
}
