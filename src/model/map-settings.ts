/**
 * The parts of the configuration that the service sends to the page for the map: links out, saved views and the metrics
 * that can be shown. The page gets no address and no secret of Prometheus.
 */
import Type from "typebox";
import { MAX_TEMPLATE_LENGTH } from "./link-template.ts";
import { MapView, ShownName } from "./map-view.ts";

export const LINK_KINDS = ["device", "link", "host"] as const;

export const MapLink = Type.Object(
  {
    name: ShownName,
    kind: Type.Enum(LINK_KINDS, { $id: "MapLinkKind", description: "Of what the panel shows the link." }),
    url: Type.String({
      minLength: 1,
      maxLength: MAX_TEMPLATE_LENGTH,
      title: "an address with values, such as ssh://{managementAddress}",
      description: "The address; `{NAME}` stands for a value of the entity.",
    }),
  },
  { $id: "MapLink", additionalProperties: false, description: "A link out of the map, in panels." },
);
export type MapLink = Type.Static<typeof MapLink>;

export const UnitName = Type.String({
  maxLength: 20,
  title: "a unit such as % or Mb/s, at most 20 characters",
});

export const MapMetric = Type.Object(
  {
    name: Type.String({ description: "Names it in `/map/metrics/{name}`." }),
    unit: Type.String({ description: "Of its values; may be empty." }),
    max: Type.Number({ description: "The value that is drawn as full." }),
    intervalSeconds: Type.Integer({ description: "How often there are new values." }),
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
    time: Type.Integer({ format: "int64", description: "When Prometheus was queried: epoch milliseconds." }),
    values: Type.Record(Type.String(), Type.Number(), {
      description: "By the id of the link. A link without a value is absent: that is not zero.",
    }),
    series: Type.Integer({
      description: "The time series of the response that have a number as their value.",
    }),
    unknownSeries: Type.Integer({ description: "Those whose labels name no device of the network." }),
    unknownDevices: Type.Array(Type.String(), { description: "Some of the names that these have." }),
  },
  { $id: "MetricValues", description: "The values of one metric on links." },
);
export type MetricValues = Type.Static<typeof MetricValues>;
