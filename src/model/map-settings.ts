/**
 * The parts of the configuration that the service sends to the page for the map: links out, saved views and the metrics
 * that can be shown. The page gets no address and no secret of Prometheus.
 */
import Type from "typebox";
import { MAX_TEMPLATE_LENGTH } from "./link-template.ts";
import { MapView, ShownName } from "./map-view.ts";
import { int64, integer, text, texts } from "./schema-parts.ts";

export const LINK_KINDS = ["device", "link", "host"] as const;

export const MapLink = Type.Object(
  {
    name: ShownName,
    kind: Type.Enum(LINK_KINDS, {
      $id: "MapLinkKind",
      description: "The kind of entity whose panel shows the link.",
    }),
    url: Type.String({
      minLength: 1,
      maxLength: MAX_TEMPLATE_LENGTH,
      title: "an address with values, such as ssh://{managementAddress}",
      description: "The address of the link. `{NAME}` is replaced by a value of the entity.",
    }),
  },
  {
    $id: "MapLink",
    additionalProperties: false,
    description: "A link in the panels of the map that leads out of the map.",
  },
);
export type MapLink = Type.Static<typeof MapLink>;

export const UnitName = Type.String({
  maxLength: 20,
  title: "a unit such as % or Mb/s, at most 20 characters",
});

export const MapMetric = Type.Object(
  {
    name: text("The name of the metric in `/map/metrics/{name}`."),
    unit: text("The unit of the values; may be empty."),
    max: Type.Number({ description: "The value that is drawn as full." }),
    intervalSeconds: integer("The number of seconds after which there are new values."),
  },
  { $id: "MapMetric", description: "A metric that the map can show on links." },
);
export type MapMetric = Type.Static<typeof MapMetric>;

export const MapSettings = Type.Object(
  { links: Type.Array(MapLink), views: Type.Array(MapView), metrics: Type.Array(MapMetric) },
  { $id: "MapSettings" },
);
export type MapSettings = Type.Static<typeof MapSettings>;

export const MetricValues = Type.Object(
  {
    time: int64("The time at which Prometheus was queried, in epoch milliseconds."),
    values: Type.Record(Type.String(), Type.Number(), {
      description:
        "The values by the id of the link. A link without a value is absent, which does not mean that its value is zero.",
    }),
    series: integer("The number of time series in the response that have a number as their value."),
    unknownSeries: integer("The number of these time series whose labels name no device of the network."),
    unknownDevices: texts("Some of the unknown names in the labels of these time series."),
  },
  { $id: "MetricValues", description: "The values of one metric on links." },
);
export type MetricValues = Type.Static<typeof MetricValues>;
