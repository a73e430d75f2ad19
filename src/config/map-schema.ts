/** The sections of the configuration for the map: links to other tools, metrics on links, and saved views. */
import Type from "typebox";
import { MapLink, UnitName } from "../model/map-settings.ts";
import { MapView, ShownName } from "../model/map-view.ts";
import { secretOptions } from "../sources/secret.ts";
import { upstreamOptions } from "../sources/upstream/options.ts";

const MiB = 1024 * 1024;

const label = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: "^[a-zA-Z_][a-zA-Z0-9_]{0,127}$",
      title: "the name of a label of Prometheus",
      description,
    }),
  );

export const METRIC_DIRECTIONS = ["out", "in", "both"] as const;

const MetricQuery = Type.Object(
  {
    name: ShownName,
    unit: Type.Optional(UnitName),
    query: Type.String({
      minLength: 1,
      maxLength: 4096,
      title: "a query of Prometheus (PromQL) of at most 4096 characters",
      description: "The query, which returns one value for each port.",
    }),
    device: label("The label that names the device."),
    port: label("The label that names the port."),
    direction: Type.Optional(
      Type.Enum(METRIC_DIRECTIONS, {
        description: "The value is of what leaves the port, enters it, or of both.",
      }),
    ),
    max: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1e18,
        title: "a number above 0",
        description: "The value that is drawn as full.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type MetricQuery = Type.Static<typeof MetricQuery>;

export const MetricsServer = Type.Object(
  {
    ...upstreamOptions,
    ...secretOptions("token", "A token for Bearer authentication."),
    timeoutSeconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 60, description: "How long a query may take as a whole." }),
    ),
    maxResponseBytes: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 256 * MiB,
        description: "The largest response that is read, after decompression.",
      }),
    ),
    intervalSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3600,
        description: "A query is sent at most this often, for all pages together.",
      }),
    ),
    queries: Type.Array(MetricQuery, { minItems: 1, maxItems: 50, title: "a list of one to 50 queries" }),
  },
  { additionalProperties: false },
);
export type MetricsServer = Type.Static<typeof MetricsServer>;

/** The defaults of a query and its server. */
export const METRIC_DEFAULTS = {
  unit: "%",
  device: "instance",
  port: "ifName",
  direction: "out",
  max: 100,
  intervalSeconds: 30,
  timeoutSeconds: 10,
  maxResponseBytes: 16 * MiB,
} as const;

/** The sections, which are spread into the schema of the configuration. */
export const mapSections = {
  links: Type.Array(MapLink, {
    maxItems: 200,
    default: [],
    description:
      "Links out of the map, in the panels of devices, links and hosts: a list of `{name, kind, url}`.",
  }),
  metrics: Type.Array(MetricsServer, {
    maxItems: 10,
    default: [],
    description: "Metrics that the map shows on links: a list of Prometheus servers, each with its queries.",
  }),
  views: Type.Array(MapView, {
    maxItems: 200,
    default: [],
    description:
      "Saved views of the map, for everybody: a list of `{name, state, arrangement}`, as the page prints it.",
  }),
};
