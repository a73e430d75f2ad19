/**
 * The status of a source, as `/readyz` shows it: one schema and the types inferred from it. The supervisor produces
 * it, the health resource and the metrics render it, the OpenAPI document describes it and the client reads it.
 */
import Type from "typebox";
import { SOURCE_ROLES } from "./merge-settings.ts";
import { int64, text, texts } from "./schema-parts.ts";

export const SOURCE_STATES = ["starting", "synced", "stale", "standby", "stopped"] as const;

/**
 * - `starting`: no claims were committed yet. `error` is set when earlier attempts failed.
 * - `synced`: the claims in the view are what the source last reported.
 * - `stale`: the last claims stay in the view, but the source failed or reported trouble since. `error` has the reason.
 * - `standby`: another node of the cluster runs the source, or it has not reported yet since it was taken over. `error` is
 *   set while it fails there.
 * - `stopped`: the source was stopped.
 */
export type SourceState = (typeof SOURCE_STATES)[number];

export const SourceStatus = Type.Object(
  {
    name: Type.String(),
    kind: Type.String(),
    role: Type.Optional(
      Type.Enum([...SOURCE_ROLES], {
        $id: "SourceRole",
        description: "`intended` if the source is the plan; absent if the source reports what is observed.",
      }),
    ),
    status: Type.Enum(SOURCE_STATES, { $id: "SourceState" }),
    node: Type.Optional(text("The name of the node that runs the source. Present only in a cluster.")),
    since: int64("The time at which the source entered `status`, in epoch milliseconds."),
    error: Type.Optional(text("The reason why the source fails.")),
    failedSince: Type.Optional(
      int64(
        "The time since which the source fails, in epoch milliseconds. The log stores it, so it is the same on every node of a cluster.",
      ),
    ),
    lastSyncedAt: Type.Optional(int64("The time of the last committed claims, in epoch milliseconds.")),
    restarts: Type.Integer(),
    entities: Type.Optional(
      Type.Object(
        {
          devices: Type.Integer(),
          ports: Type.Integer(),
          links: Type.Integer(),
          hosts: Type.Integer(),
        },
        {
          $id: "EntityCounts",
          description: "Number of shown entities that the source claims, for each kind.",
        },
      ),
    ),
    upstreamLogs: Type.Optional(
      texts(
        "The ids of the logs that the data come from. Present only if the source reads another Gazetteer: the log of that one and the logs that it reads itself.",
      ),
    ),
  },
  { $id: "SourceStatus" },
);
export type SourceStatus = Readonly<Type.Static<typeof SourceStatus>>;

/** Whether the source does not work now, on this node or on the one that runs it. */
export const isFailing = ({ status, error, failedSince }: SourceStatus): boolean =>
  status !== "synced" && status !== "stopped" && (error !== undefined || failedSince !== undefined);

/** The status with the source's own counters, which `/metrics` shows and `/readyz` does not. */
export interface SourceReport extends SourceStatus {
  readonly metrics?: Readonly<Record<string, number>>;
}
