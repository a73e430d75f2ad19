/** Schemas of the bodies that are not entities: changes, differences, timelines, problems, readiness. */
import Type from "typebox";
import { KINDS } from "../model/ids.ts";
import { SourceStatus } from "../model/source-status.ts";
import { PROBLEMS } from "./problem.ts";

const RevisionTime = Type.Object({
  revision: Type.Integer(),
  time: Type.Number({ description: "Epoch milliseconds." }),
});
const event = Type.Enum(["added", "updated", "removed"]);
const resource = Type.Enum([...KINDS]);
const value = Type.Object(
  {},
  { description: "The device, port, link or host; its last value when removed." },
);
const changed = Type.Optional(
  Type.Array(Type.String(), { description: "Top-level fields that differ, on updated." }),
);

export const CHANGE_SCHEMAS = {
  Changes: Type.Object({
    changes: Type.Array(
      Type.Object({ event, resource, revision: Type.Integer(), time: Type.Number(), value, changed }),
    ),
    revision: Type.Integer({ description: "Pass it as `since` to read the changes after these." }),
  }),
  Differences: Type.Object({
    from: RevisionTime,
    to: RevisionTime,
    changes: Type.Array(Type.Object({ event, resource, value, before: Type.Optional(value), changed })),
  }),
  Timeline: Type.Object({
    from: Type.Number(),
    to: Type.Number(),
    counts: Type.Array(Type.Integer()),
    oldest: RevisionTime,
    newest: RevisionTime,
  }),
  Targets: Type.Array(
    Type.Object({ targets: Type.Array(Type.String()), labels: Type.Record(Type.String(), Type.String()) }),
    { description: "Prometheus' HTTP service discovery." },
  ),
};

export const PROBLEM_SCHEMA = Type.Object(
  {
    type: Type.String({
      description: `A stable reference into the docs, ending in one of: ${Object.keys(PROBLEMS).join(", ")}.`,
    }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: "What is wrong, and what to do." }),
    instance: Type.String({ description: "This request's id, as in the service's log." }),
    code: Type.Integer({ description: "The status again, under the name that ONOS uses." }),
    message: Type.String({ description: "The detail again, under the name that ONOS uses." }),
  },
  { description: "RFC 9457." },
);

export const READY_SCHEMA = Type.Object({
  status: Type.Enum(["ready", "degraded", "starting", "stopping"]),
  revision: Type.Integer(),
  sources: Type.Array(SourceStatus),
});
