/**
 * The state of a service, as `/readyz` shows it: one schema and the types inferred from it. The health resource renders it,
 * the OpenAPI document describes it, and the client, `gazetteer status` and the page read it.
 */
import Type from "typebox";
import { int64 } from "./entity.ts";
import { SourceStatus } from "./source-status.ts";

const ClusterReadiness = Type.Object(
  {
    name: Type.String(),
    node: Type.String({ description: "Names this run of the node." }),
    lag: int64("Messages of the log that the node knows of and has not applied yet."),
    staleSeconds: Type.Optional(
      int64("While the log cannot be followed: how old the view may be, as in Gazetteer-Stale."),
    ),
    condition: Type.Optional(
      Type.String({ description: "What is wrong with the log of the cluster; absent when nothing is." }),
    ),
    error: Type.Optional(Type.String()),
    since: Type.Optional(int64("Epoch milliseconds.")),
  },
  { $id: "ClusterStatus", description: "Only on a node of a cluster, with valid credentials." },
);
export type ClusterReadiness = Readonly<Type.Static<typeof ClusterReadiness>>;

const ReaderProcesses = Type.Object(
  { configured: Type.Integer(), alive: Type.Integer() },
  {
    $id: "ReaderProcesses",
    description: "The processes that serve requests, the main one included; only with valid credentials.",
  },
);
export type ReaderProcesses = Readonly<Type.Static<typeof ReaderProcesses>>;

const Storage = Type.Object(
  {
    bytes: int64("Size of the stored changes and snapshots on this machine."),
    snapshots: Type.Integer(),
    oldest: int64("The oldest revision that can be read."),
    oldestTime: int64("Epoch milliseconds of that revision."),
  },
  { $id: "Storage", description: "The history; only with valid credentials." },
);

const LogStatus = Type.Object(
  {
    status: Type.Literal("failing"),
    error: Type.String(),
    since: int64("Epoch milliseconds."),
  },
  { $id: "LogStatus", description: "Only while changes cannot be stored, for example on a full disk." },
);

/**
 * The status is `degraded` when every source was synced once, but at least one is stale or the log cannot be used. It is
 * `stale` when the view of this node of a cluster is older than allowed.
 */
export const Readiness = Type.Object(
  {
    status: Type.Enum(["ready", "degraded", "starting", "stale", "stopping"], { $id: "ReadinessStatus" }),
    version: Type.Optional(Type.String({ description: "Of the program; only with valid credentials." })),
    revision: Type.Optional(int64("The revision of the view; only with valid credentials.")),
    logId: Type.Optional(
      Type.String({ description: "As in the header Gazetteer-Log; only with valid credentials." }),
    ),
    sources: Type.Optional(
      Type.Array(SourceStatus, { description: "The sources; only with valid credentials." }),
    ),
    readers: Type.Optional(ReaderProcesses),
    storage: Type.Optional(Storage),
    log: Type.Optional(LogStatus),
    cluster: Type.Optional(ClusterReadiness),
  },
  { $id: "Readiness" },
);
export type Readiness = Readonly<Type.Static<typeof Readiness>>;
