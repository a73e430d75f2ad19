/**
 * The explanation of the paths between two ends: how many shortest paths there are and which devices and links they use
 * together, or why there is none. The schema is what `explain=true` returns on `/paths/{src}/{dst}`.
 */
import Type from "typebox";
import { LinkEnd } from "./entity.ts";

const ids = (description: string) => Type.Array(Type.String(), { description });

export const ExplainedEnd = Type.Object(
  {
    id: Type.String({ description: "The id; as in the request where nothing with it is known." }),
    resource: Type.Optional(
      Type.Enum(["devices", "hosts"], {
        $id: "PathEndResource",
        description: "Absent where nothing with the id is known.",
      }),
    ),
    name: Type.Optional(Type.String()),
    device: Type.Optional(Type.String({ description: "The device; of a host the one where it is located." })),
    port: Type.Optional(Type.String({ description: "Of a host: the port of the device." })),
  },
  { $id: "ExplainedEnd" },
);
export type ExplainedEnd = Type.Static<typeof ExplainedEnd>;

/** The reasons why a device or a link cannot be used. */
export const OBSTACLE_STATES = ["unavailable", "gone", "inactive", "lost", "one-way"] as const;

export const PathObstacle = Type.Object(
  {
    resource: Type.Enum(["devices", "links"], { $id: "ObstacleResource" }),
    id: Type.String(),
    state: Type.Enum([...OBSTACLE_STATES], {
      $id: "ObstacleState",
      description:
        "Of a device: `unavailable`, or `gone` within the last 24 hours. Of a link: `inactive`, `lost` (gone within the last 24 hours), or `one-way`: only the other direction is known.",
    }),
    since: Type.Optional(
      Type.String({
        format: "date-time",
        description: "Since when it is so, as far as the history is kept.",
      }),
    ),
    name: Type.Optional(Type.String({ description: "Of a device." })),
    src: Type.Optional(LinkEnd),
    dst: Type.Optional(LinkEnd),
  },
  { $id: "PathObstacle" },
);
export type PathObstacle = Type.Static<typeof PathObstacle>;

const ReachableSet = Type.Object(
  { count: Type.Integer({ minimum: 0 }), devices: ids("At most 100 of them, the nearest first.") },
  { $id: "ReachableSet" },
);
export type ReachableSet = Type.Static<typeof ReachableSet>;

/** The highest `count`, which a client can read into a signed 64-bit integer. */
export const MAX_PATH_COUNT = 2n ** 63n - 1n;

export const NO_PATH_REASONS = ["unknown-end", "same-device", "parted", "never-joined"] as const;

export const NoPath = Type.Object(
  {
    reason: Type.Enum([...NO_PATH_REASONS], {
      $id: "NoPathReason",
      description:
        "`parted`: what is in `obstacles` parts the ends. `never-joined`: nothing is known that joins them, up or down.",
    }),
    from: Type.Optional(ReachableSet),
    to: Type.Optional(ReachableSet),
    needed: Type.Optional(
      Type.Integer({ minimum: 1, description: "The fewest obstacles that must end for there to be a path." }),
    ),
    obstacles: Type.Optional(
      Type.Array(PathObstacle, {
        description: "At most 100 devices and links, each on a path with the fewest obstacles.",
      }),
    ),
    obstacleCount: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { $id: "NoPath" },
);
export type NoPath = Type.Static<typeof NoPath>;

export const PathExplanation = Type.Object(
  {
    src: ExplainedEnd,
    dst: ExplainedEnd,
    count: Type.Integer({
      format: "int64",
      minimum: 0,
      description: "The number of shortest paths; 2^63 - 1 where there are more. It may be above 2^53.",
    }),
    cost: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "That of each path, as in the list of paths; absent where there is none.",
      }),
    ),
    none: Type.Optional(NoPath),
    devices: ids("The devices that any of the paths uses."),
    links: ids("The links that any of the paths uses."),
  },
  { $id: "PathExplanation" },
);
export type PathExplanation = Type.Static<typeof PathExplanation>;
