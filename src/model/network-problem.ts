/**
 * A problem of the network: its schema and the types inferred from it. It is called `NetworkProblem` to distinguish it from
 * the problem details of HTTP (RFC 9457).
 */
import Type from "typebox";
import { HostLocation, Link } from "./entity.ts";
import { PROBLEM_KINDS, PROBLEM_RESOURCES, PROBLEM_SEVERITIES } from "./problem-kinds.ts";

const time = (description: string) => Type.String({ format: "date-time", description });

export const ProblemKind = Type.Enum(PROBLEM_KINDS, { $id: "ProblemKind" });
export const ProblemSeverity = Type.Enum(PROBLEM_SEVERITIES, { $id: "ProblemSeverity" });
export const ProblemResource = Type.Enum(PROBLEM_RESOURCES, { $id: "ProblemResource" });

export const CutOff = Type.Object(
  {
    devices: Type.Array(Type.String(), {
      description: "Their ids, at most 100: those next to the largest part first.",
    }),
    deviceCount: Type.Integer({ minimum: 0 }),
    hostCount: Type.Integer({ minimum: 0, description: "The hosts at these devices." }),
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
    id: Type.String({ description: "The same whenever the same problem occurs again." }),
    severity: ProblemSeverity,
    kind: ProblemKind,
    since: time("Since when it exists; the new time when it was gone and is back."),
    until: Type.Optional(time("When it is listed no longer, of what is listed for a limited time.")),
    resource: ProblemResource,
    entity: Type.Optional(
      Type.String({ description: "The id of the entity; of a cable, the lower one of its two links." }),
    ),
    source: Type.Optional(
      Type.String({ description: "The name of the source, of one that fails or is stale." }),
    ),
    references: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "Of an unknown device: the number of ports, links and hosts that refer to it.",
      }),
    ),
    link: Type.Optional(
      Type.Object(
        { src: Link.properties.src, dst: Link.properties.dst },
        { $id: "ProblemLink", description: "The ends, of a link: a lost one is not in the list of links." },
      ),
    ),
    moved: Type.Optional(
      Type.Object(
        { from: HostLocation, to: HostLocation },
        { $id: "ProblemMove", description: "Of a host that moved." },
      ),
    ),
    devices: Type.Array(Type.String(), { description: "The devices that it is about." }),
    sources: Type.Array(Type.String(), { description: "The sources that claim the entity, or the source." }),
    text: Type.String({ description: "One sentence for people." }),
    cutOff: CutOff,
    causedBy: Type.Optional(
      Type.String({
        description:
          "The id of the problem of the whole list that this one follows from, and that has no `causedBy` itself.",
      }),
    ),
    consequences: Type.Integer({
      minimum: 0,
      description: "The number of problems of the whole list whose `causedBy` names this one.",
    }),
  },
  { $id: "NetworkProblem" },
);
export type NetworkProblem = Type.Static<typeof NetworkProblem>;

export const ProblemCounts = Type.Object(
  Object.fromEntries(PROBLEM_KINDS.map((kind) => [kind, Type.Integer({ minimum: 0 })])),
  { $id: "ProblemCounts", description: "How many there are of each kind, on all pages together." },
);
