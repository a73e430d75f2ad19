/**
 * A problem of the network: its schema and the types inferred from it. It is called `NetworkProblem` to distinguish it from
 * the problem details of HTTP (RFC 9457).
 */
import Type from "typebox";
import { HostLocation, Link } from "./entity.ts";
import { PROBLEM_KINDS, PROBLEM_RESOURCES, PROBLEM_SEVERITIES } from "./problem-kinds.ts";
import { count, dateTime, text, texts } from "./schema-parts.ts";

export const ProblemKind = Type.Enum(PROBLEM_KINDS, { $id: "ProblemKind" });
export const ProblemSeverity = Type.Enum(PROBLEM_SEVERITIES, { $id: "ProblemSeverity" });
export const ProblemResource = Type.Enum(PROBLEM_RESOURCES, { $id: "ProblemResource" });

export const CutOff = Type.Object(
  {
    devices: texts("The ids of the devices, at most 100, beginning with those next to the largest part."),
    deviceCount: Type.Integer({ minimum: 0 }),
    hostCount: count("Number of hosts at these devices."),
  },
  {
    $id: "CutOff",
    description:
      "The devices that are not in the largest part of the network (by hosts) because of this problem, alone or together with others, and their hosts.",
  },
);
export type CutOff = Type.Static<typeof CutOff>;

export const NetworkProblem = Type.Object(
  {
    id: text("The id of the problem. It is the same whenever the same problem occurs again."),
    severity: ProblemSeverity,
    kind: ProblemKind,
    since: dateTime(
      "The time since which the problem exists. A problem that was gone and is back has a new time.",
    ),
    until: Type.Optional(
      dateTime(
        "The time at which the problem will no longer be listed. Present only if it is listed for a limited time.",
      ),
    ),
    resource: ProblemResource,
    entity: Type.Optional(text("The id of the entity. For a cable, this is the lower id of its two links.")),
    source: Type.Optional(text("The name of the source. Present only if a source fails or is stale.")),
    references: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "Number of ports, links and hosts that refer to the unknown device. Present only for an unknown device.",
      }),
    ),
    link: Type.Optional(
      Type.Object(
        { src: Link.properties.src, dst: Link.properties.dst },
        {
          $id: "ProblemLink",
          description:
            "The ends of the link. Present only for a link, because a lost link is not in the list of links.",
        },
      ),
    ),
    moved: Type.Optional(
      Type.Object(
        { from: HostLocation, to: HostLocation },
        {
          $id: "ProblemMove",
          description: "The old and the new location of the host. Present only for a host that moved.",
        },
      ),
    ),
    devices: texts("The ids of the devices that the problem is about."),
    sources: texts(
      "The names of the sources that claim the entity, or the name of the source that fails or is stale.",
    ),
    text: text("A description of the problem for people, in one sentence."),
    cutOff: CutOff,
    causedBy: Type.Optional(
      text(
        "The id of the problem that this one follows from. That problem is in the whole list and has no `causedBy` itself.",
      ),
    ),
    consequences: count("Number of problems in the whole list whose `causedBy` is the id of this one."),
  },
  { $id: "NetworkProblem" },
);
export type NetworkProblem = Type.Static<typeof NetworkProblem>;

export const ProblemCounts = Type.Object(
  Object.fromEntries(PROBLEM_KINDS.map((kind) => [kind, Type.Integer({ minimum: 0 })])),
  { $id: "ProblemCounts", description: "Number of problems of each kind, on all pages together." },
);
