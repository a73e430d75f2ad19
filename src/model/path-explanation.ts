/**
 * The explanation of the paths between two ends: how many shortest paths there are and which devices and links they use
 * together, or why there is none. The schema is what `explain=true` returns on `/paths/{src}/{dst}`.
 */
import Type from "typebox";
import { LinkEnd } from "./entity.ts";
import { count, dateTime, text, texts } from "./schema-parts.ts";

export const ExplainedEnd = Type.Object(
  {
    id: text("The id of the device or host. If none is known, this is the id of the request."),
    resource: Type.Optional(
      Type.Enum(["devices", "hosts"], {
        $id: "PathEndResource",
        description: "The kind of the end; absent if no device or host with the id is known.",
      }),
    ),
    name: Type.Optional(Type.String()),
    device: Type.Optional(
      text("The id of the device. For a host, this is the device where the host is located."),
    ),
    port: Type.Optional(text("The port of the device where the host is located. Present only for a host.")),
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
        "A device is `unavailable`, or `gone` if it disappeared within the last 24 hours. A link is `inactive`, `lost` if it disappeared within the last 24 hours, or `one-way` if only the other direction is known.",
    }),
    since: Type.Optional(
      dateTime("The time since which the device or link has this state, as far as the history is kept."),
    ),
    name: Type.Optional(text("The name of the device. Present only for a device.")),
    src: Type.Optional(LinkEnd),
    dst: Type.Optional(LinkEnd),
  },
  { $id: "PathObstacle" },
);
export type PathObstacle = Type.Static<typeof PathObstacle>;

const ReachableSet = Type.Object(
  {
    count: Type.Integer({ minimum: 0 }),
    devices: texts("The ids of the devices, at most 100, the nearest first."),
  },
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
        "`parted` means that the devices and links in `obstacles` separate the ends. `never-joined` means that no known devices and links connect the ends, whatever their state.",
    }),
    from: Type.Optional(ReachableSet),
    to: Type.Optional(ReachableSet),
    needed: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "The least number of obstacles that must end before there is a path.",
      }),
    ),
    obstacles: Type.Optional(
      Type.Array(PathObstacle, {
        description:
          "The devices and links, at most 100, each of which is on a path with the fewest obstacles.",
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
      description:
        "The number of shortest paths, or 2^63 - 1 if there are more. It may be greater than 2^53.",
    }),
    cost: Type.Optional(count("The cost of each path, as in the list of paths; absent if there is no path.")),
    none: Type.Optional(NoPath),
    devices: texts("The ids of the devices that at least one of the paths uses."),
    links: texts("The ids of the links that at least one of the paths uses."),
  },
  { $id: "PathExplanation" },
);
export type PathExplanation = Type.Static<typeof PathExplanation>;
