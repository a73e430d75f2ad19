/**
 * The state of a service, as `/readyz` shows it: one schema and the types inferred from it. The health resource renders it,
 * the OpenAPI document describes it, and the client, `gazetteer status` and the page read it.
 */
import Type from "typebox";
import { int64, text } from "./schema-parts.ts";
import { SourceStatus } from "./source-status.ts";

const LostMember = Type.Object(
  {
    kind: Type.Enum(["node", "server"], {
      $id: "LostMemberKind",
      description: "A node of the cluster, or a NATS server that stores its log.",
    }),
    name: Type.String(),
    since: int64("The time since which nothing was heard of it, in epoch milliseconds."),
  },
  { $id: "LostMember" },
);
export type LostMember = Readonly<Type.Static<typeof LostMember>>;

const ClusterReadiness = Type.Object(
  {
    name: Type.String(),
    node: text("The id of this run of the node; each start has another one."),
    lag: int64("Number of messages of the log that the node knows of and has not applied yet."),
    staleSeconds: Type.Optional(
      int64(
        "The greatest possible age of the view in seconds, as in the header Gazetteer-Stale. Set only while the node cannot follow the log.",
      ),
    ),
    condition: Type.Optional(text("The problem with the log of the cluster; absent if there is none.")),
    error: Type.Optional(Type.String()),
    since: Type.Optional(
      int64("The time since which the condition or the error exists, in epoch milliseconds."),
    ),
    lost: Type.Optional(
      Type.Array(LostMember, {
        description:
          "The nodes and NATS servers that are lost, until they return, a node for seven days at most; absent if none is.",
      }),
    ),
  },
  {
    $id: "ClusterStatus",
    description:
      "The state of this node of a cluster. Present only on a node of a cluster and with valid credentials.",
  },
);
export type ClusterReadiness = Readonly<Type.Static<typeof ClusterReadiness>>;

const ReaderProcesses = Type.Object(
  { configured: Type.Integer(), alive: Type.Integer() },
  {
    $id: "ReaderProcesses",
    description:
      "Number of processes that serve requests, including the main process. Present only with valid credentials.",
  },
);
export type ReaderProcesses = Readonly<Type.Static<typeof ReaderProcesses>>;

const Storage = Type.Object(
  {
    bytes: int64("Size of the stored changes and snapshots on this machine, in bytes."),
    snapshots: Type.Integer(),
    oldest: int64("The oldest revision that can be read."),
    oldestTime: int64("The time of that revision, in epoch milliseconds."),
  },
  { $id: "Storage", description: "The stored history. Present only with valid credentials." },
);

const LogStatus = Type.Object(
  {
    status: Type.Literal("failing"),
    error: Type.String(),
    since: int64("The time since which changes cannot be stored, in epoch milliseconds."),
  },
  {
    $id: "LogStatus",
    description:
      "The failure of the log. Present only while changes cannot be stored, for example on a full disk.",
  },
);

/**
 * The status is `degraded` when every source was synced once, but at least one is stale or the log cannot be used. It is
 * `stale` when the view of this node of a cluster is older than allowed.
 */
export const Readiness = Type.Object(
  {
    status: Type.Enum(["ready", "degraded", "starting", "stale", "stopping"], { $id: "ReadinessStatus" }),
    version: Type.Optional(text("The version of the program. Present only with valid credentials.")),
    revision: Type.Optional(int64("The revision of the view. Present only with valid credentials.")),
    logId: Type.Optional(
      text("The id of the log, as in the header Gazetteer-Log. Present only with valid credentials."),
    ),
    sources: Type.Optional(
      Type.Array(SourceStatus, {
        description: "The sources and their status. Present only with valid credentials.",
      }),
    ),
    readers: Type.Optional(ReaderProcesses),
    storage: Type.Optional(Storage),
    log: Type.Optional(LogStatus),
    cluster: Type.Optional(ClusterReadiness),
  },
  { $id: "Readiness" },
);
export type Readiness = Readonly<Type.Static<typeof Readiness>>;
