/** An overview of a cluster for display only: its nodes, its leases and its NATS stream. No code makes decisions from it. */
import Type from "typebox";
import { int64, integer, text, texts } from "./schema-parts.ts";

export const ClusterNode = Type.Object(
  {
    name: Type.String(),
    node: text("The id of this run of the node; each start has another one."),
    url: text("The address on which the node listens."),
    version: Type.String(),
    revision: int64("The revision that the node has reached."),
    lag: int64(
      "Number of messages of the stream that the node had not applied when it last wrote its status, at most seconds ago.",
    ),
    sources: texts("The sources that the node has configured."),
    held: texts("The sources that the node runs."),
    since: int64("The time at which the node was started, in epoch milliseconds."),
    ageSeconds: integer("The number of seconds since the node last wrote its status."),
    clockOffsetSeconds: Type.Optional(
      Type.Number({
        description:
          "The number of seconds that the clock of the node is ahead of the clock of NATS; 0 if the difference is within the accuracy.",
      }),
    ),
    lostSince: Type.Optional(
      int64(
        "The time at which the node last wrote its status, in epoch milliseconds. Set only if the node has stopped writing its status without a regular stop; the other fields are of that time.",
      ),
    ),
    trouble: Type.Optional(text("The problem between the node and NATS.")),
  },
  { $id: "ClusterNode" },
);
export type ClusterNode = Readonly<Type.Static<typeof ClusterNode>>;

const EngineServer = Type.Object(
  {
    name: Type.String(),
    state: Type.Enum(["leader", "current", "behind", "offline"], { $id: "EngineServerState" }),
    lag: Type.Optional(int64("Number of operations that the server is behind the leader.")),
    offlineSince: Type.Optional(
      int64(
        "The time since which a server is offline, in epoch milliseconds, as the leader or a node has seen it; absent if none of them has.",
      ),
    ),
  },
  { $id: "EngineServer", description: "A NATS server that stores the log." },
);

const EngineSnapshot = Type.Object(
  {
    revision: int64("The revision whose state the snapshot has."),
    time: int64("The time of that revision, in epoch milliseconds."),
    bytes: int64("The compressed size of the snapshot in bytes."),
  },
  { $id: "EngineSnapshot" },
);

const EngineHealth = Type.Object(
  {
    stream: Type.String(),
    replicas: int64("Number of servers that store each change."),
    servers: Type.Array(EngineServer),
    messages: int64("Number of messages in the stream."),
    bytes: int64("Size of the stream in bytes."),
    maxBytes: Type.Optional(
      int64("The size at which the stream is full, in bytes; absent if only the account limits it."),
    ),
  },
  { $id: "EngineHealth" },
);

const SourceLease = Type.Object(
  {
    source: Type.String(),
    node: text("The name of the node that runs the source."),
  },
  { $id: "SourceLease" },
);

/** The parts of the overview. Each is read from NATS separately and may fail separately. */
export const OVERVIEW_PARTS = ["nodes", "leases", "stream", "snapshots"] as const;
export type OverviewPart = (typeof OVERVIEW_PARTS)[number];

const OverviewError = Type.Object(
  {
    part: Type.Enum([...OVERVIEW_PARTS], { $id: "ClusterOverviewPart" }),
    message: Type.String(),
  },
  { $id: "ClusterOverviewError" },
);

export const ClusterOverview = Type.Object(
  {
    name: Type.Optional(
      text("The name of the cluster. A single node has neither this field nor any other content."),
    ),
    nodes: Type.Array(ClusterNode),
    leases: Type.Array(SourceLease),
    engine: Type.Optional(EngineHealth),
    snapshots: Type.Optional(
      Type.Array(EngineSnapshot, {
        description:
          "The snapshots from which new nodes begin, the newest first. If there is no stream, they belong to a former log.",
      }),
    ),
    errors: Type.Optional(
      Type.Array(OverviewError, {
        description:
          "The parts of this overview that could not be read, with the reasons. These parts are empty or absent.",
      }),
    ),
    error: Type.Optional(text("All of `errors` in one text.")),
  },
  { $id: "ClusterOverview" },
);
export type ClusterOverview = Readonly<Type.Static<typeof ClusterOverview>>;
