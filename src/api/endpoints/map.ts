/**
 * The settings of the map, and the values of a metric on links, which the page reads in addition to the network. All users
 * get the same bytes, so that each document is encoded and compressed once.
 */
import { quote } from "../../lib/error-text.ts";
import { MapSettings, MetricValues } from "../../model/map-settings.ts";
import { CHANGED_MS, FIRST, SECOND } from "../openapi/example-network.ts";
import { ProblemDetails } from "../response/problem.ts";
import { JSON_TYPE } from "../response/representation.ts";
import { StaticFile } from "../site/static-site.ts";
import type { MetricOutcome } from "./map-source.ts";
import { FILE_HEADERS, type ServiceEndpoint } from "./service-endpoint.ts";

const SETTINGS_PATH = "/map/settings.json";
const METRICS_PREFIX = "/map/metrics/";
/** The settings of a service without a configuration for its map. */
const NO_SETTINGS = Buffer.from('{"links":[],"views":[],"metrics":[]}');

/** The files by the bytes that they serve. An entry lives as long as the bytes. */
const files = new WeakMap<Uint8Array, StaticFile>();

function fileOf(bytes: Uint8Array): StaticFile {
  const file = files.get(bytes) ?? new StaticFile(bytes, JSON_TYPE);
  files.set(bytes, file);
  return file;
}

export const getMapSettings: ServiceEndpoint = {
  path: SETTINGS_PATH,
  access: "reader",
  matches: (path) => path === SETTINGS_PATH,
  respond: ({ service: { map }, request }) => fileOf(map?.settings ?? NO_SETTINGS).respond(request),
  openapi: {
    id: "getMapSettings",
    tag: "Service",
    summary: "What the configuration gives the map",
    description: "Links out of the map, saved views, and the metrics that can be shown on links.",
    mediaType: JSON_TYPE,
    schema: MapSettings,
    example: {
      links: [{ name: "Shell", kind: "device", url: "ssh://{managementAddress}" }],
      views: [{ name: "Core", state: "type=ROUTER", arrangement: { pins: [{ device: FIRST, x: 0, y: 0 }] } }],
      metrics: [{ name: "Utilisation", unit: "%", max: 100, intervalSeconds: 30 }],
    },
    headers: FILE_HEADERS,
    isFile: true,
  },
};

export const getMapMetric: ServiceEndpoint = {
  path: `${METRICS_PREFIX}{metric}`,
  access: "reader",
  matches: (path) => path.startsWith(METRICS_PREFIX),
  async respond({ service: { map }, request, path }) {
    const name = decodeName(path.slice(METRICS_PREFIX.length));
    const outcome: MetricOutcome | undefined = await map?.metric(name);
    if (!outcome)
      throw new ProblemDetails(
        "not-found",
        `There is no metric ${quote(name)}; ${SETTINGS_PATH} lists them.`,
      );
    if (!outcome.ok) throw new ProblemDetails("metrics-failed", `${name}: ${outcome.message}.`);
    return fileOf(outcome.json).respond(request);
  },
  openapi: {
    id: "getMapMetric",
    tag: "Service",
    summary: "The values of a metric on links",
    description:
      "From Prometheus, queried once in an interval for all clients. A failure is a problem, not values.",
    mediaType: JSON_TYPE,
    schema: MetricValues,
    example: {
      time: CHANGED_MS,
      series: 3,
      unknownSeries: 1,
      unknownDevices: ["10.0.0.9"],
      values: { [`${FIRST}/1-${SECOND}/1`]: 42.5 },
    },
    headers: FILE_HEADERS,
    isFile: true,
    problems: [400, 502],
  },
};

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ProblemDetails("bad-path", `${quote(text)} in the path is not percent-encoded UTF-8.`);
  }
}
