/** An overview of a cluster for display only: its nodes, its leases and its NATS stream. No code makes decisions from it. */
import Type from "typebox";

const int64 = (description: string) => Type.Integer({ format: "int64", description });

export const ClusterNode = Type.Object(
  {
    name: Type.String(),
    node: Type.String({ description: "Names this run of the node." }),
    url: Type.String({ description: "Where it listens." }),
    version: Type.String(),
    revision: int64("That it has reached."),
    lag: int64(
      "Messages of the stream that it had not applied when it last wrote its status, at most seconds ago.",
    ),
    sources: Type.Array(Type.String(), { description: "Those that it has configured." }),
    held: Type.Array(Type.String(), { description: "Those that it runs." }),
    since: int64("When it was started: epoch milliseconds."),
    ageSeconds: Type.Integer({ description: "Time since it last wrote its status." }),
    clockOffsetSeconds: Type.Optional(
      Type.Number({ description: "By how much its clock is ahead of that of NATS; 0 within the accuracy." }),
    ),
    lostSince: Type.Optional(
      int64(
        "Set when it no longer writes its status, without a stop in order: when it last did, in epoch milliseconds. The other fields are of that time.",
      ),
    ),
    trouble: Type.Optional(Type.String({ description: "What is wrong between the node and NATS." })),
  },
  { $id: "ClusterNode" },
);
export type ClusterNode = Readonly<Type.Static<typeof ClusterNode>>;

const EngineServer = Type.Object(
  {
    name: Type.String(),
    state: Type.Enum(["leader", "current", "behind", "offline"], { $id: "EngineServerState" }),
    lag: Type.Optional(int64("Operations that it is behind the leader.")),
    offlineSince: Type.Optional(
      int64(
        "When the leader last heard of a server that is offline: epoch milliseconds. Absent where the leader has not heard of it since it leads.",
      ),
    ),
  },
  { $id: "EngineServer", description: "A NATS server that stores the log." },
);

const EngineSnapshot = Type.Object(
  {
    revision: int64("Of which it is the state."),
    time: int64("Of that revision: epoch milliseconds."),
    bytes: int64("Compressed."),
  },
  { $id: "EngineSnapshot" },
);

const EngineHealth = Type.Object(
  {
    stream: Type.String(),
    replicas: int64("Servers that store each change."),
    servers: Type.Array(EngineServer),
    messages: int64("Of the stream."),
    bytes: int64("Of the stream."),
    maxBytes: Type.Optional(
      int64("A stream of this size is full; absent where only the account is the limit."),
    ),
  },
  { $id: "EngineHealth" },
);

const SourceLease = Type.Object(
  {
    source: Type.String(),
    node: Type.String({ description: "The name of the node that runs it." }),
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
    name: Type.Optional(Type.String({ description: "Absent on a single node, as all the rest." })),
    nodes: Type.Array(ClusterNode),
    leases: Type.Array(SourceLease),
    engine: Type.Optional(EngineHealth),
    snapshots: Type.Optional(
      Type.Array(EngineSnapshot, {
        description:
          "From which new nodes begin, the newest first. Of a former log, where there is no stream.",
      }),
    ),
    errors: Type.Optional(
      Type.Array(OverviewError, {
        description: "The parts that could not be read now, and why: they are empty or absent.",
      }),
    ),
    error: Type.Optional(Type.String({ description: "All of `errors` in one text." })),
  },
  { $id: "ClusterOverview" },
);
export type ClusterOverview = Readonly<Type.Static<typeof ClusterOverview>>;
