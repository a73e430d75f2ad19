/**
 * The status of a source, as `/readyz` shows it: one schema and the types inferred from it. The supervisor produces
 * it, the health resource and the metrics render it, the OpenAPI document describes it and the client reads it.
 */
import Type from "typebox";
import { int64 } from "./entity.ts";
import { SOURCE_ROLES } from "./merge-settings.ts";

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
        description: "`intended` for the plan; absent for a source of what is observed.",
      }),
    ),
    status: Type.Enum(SOURCE_STATES, { $id: "SourceState" }),
    node: Type.Optional(Type.String({ description: "In a cluster: the name of the node that runs it." })),
    since: int64("Epoch milliseconds at which the source entered `status`."),
    error: Type.Optional(Type.String({ description: "Why it fails." })),
    failedSince: Type.Optional(
      int64("Epoch milliseconds since when it fails, as the log has it; in a cluster on every node."),
    ),
    lastSyncedAt: Type.Optional(int64("Epoch milliseconds of the last committed claims.")),
    restarts: Type.Integer(),
    entities: Type.Optional(
      Type.Object(
        {
          devices: Type.Integer(),
          ports: Type.Integer(),
          links: Type.Integer(),
          hosts: Type.Integer(),
        },
        { $id: "EntityCounts", description: "What it claims of what is shown." },
      ),
    ),
    upstreamLogs: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "The logs that its data come from, where it reads another Gazetteer: of that one, and of those it reads.",
      }),
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
