/** Schemas of the bodies of the service's own paths. */
import Type from "typebox";
import { ClusterOverview } from "../../model/cluster-overview.ts";
import { MapSettings, MetricValues } from "../../model/map-settings.ts";
import { Readiness } from "../../model/readiness.ts";
import type { Schema } from "./components.ts";

export const LIVENESS_SCHEMA = Type.Object({ status: Type.Literal("alive") }, { $id: "Liveness" });
export const OPENAPI_SCHEMA = Type.Object(
  {
    openapi: Type.String(),
    info: Type.Record(Type.String(), Type.Unknown()),
    ...Type.Partial(
      Type.Object({
        servers: Type.Array(Type.Unknown()),
        security: Type.Array(Type.Unknown()),
        tags: Type.Array(Type.Unknown()),
        paths: Type.Record(Type.String(), Type.Unknown()),
        components: Type.Record(Type.String(), Type.Unknown()),
      }),
    ).properties,
  },
  { $id: "OpenApiDocument" },
);

export const SERVICE_SCHEMAS: readonly Schema[] = [
  LIVENESS_SCHEMA,
  Readiness,
  ClusterOverview,
  MapSettings,
  MetricValues,
  OPENAPI_SCHEMA,
];
