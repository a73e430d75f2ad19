/** Schemas of the bodies that are not entities: changes, differences, time lines, problems, readiness. */
import Type from "typebox";
import { KINDS } from "../model/ids.ts";
import { PROBLEMS } from "./problem.ts";

const Moment = Type.Object({
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
    revision: Type.Integer({ description: "Ask again with since=this." }),
  }),
  Differences: Type.Object({
    from: Moment,
    to: Moment,
    changes: Type.Array(Type.Object({ event, resource, value, before: Type.Optional(value), changed })),
  }),
  Timeline: Type.Object({
    from: Type.Number(),
    to: Type.Number(),
    counts: Type.Array(Type.Integer()),
    oldest: Moment,
    newest: Moment,
  }),
  Targets: Type.Array(
    Type.Object({ targets: Type.Array(Type.String()), labels: Type.Record(Type.String(), Type.String()) }),
    { description: "Prometheus' HTTP service discovery." },
  ),
};

export const PROBLEM_SCHEMA = Type.Object(
  {
    type: Type.String({
      description: `A stable address into the docs, ending in one of: ${Object.keys(PROBLEMS).join(", ")}.`,
    }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: "What was wrong, and what to do." }),
    instance: Type.String({ description: "This request's id, as in the service's log." }),
    code: Type.Integer({ description: "The status again, as ONOS has it." }),
    message: Type.String({ description: "The detail again, as ONOS has it." }),
  },
  { description: "RFC 9457." },
);

export const READY_SCHEMA = Type.Object({
  status: Type.Enum(["ready", "degraded", "starting", "stopping"]),
  revision: Type.Integer(),
  sources: Type.Array(
    Type.Object({
      name: Type.String(),
      kind: Type.String(),
      status: Type.Enum(["starting", "synced", "stale", "stopped"]),
      since: Type.Number(),
      error: Type.Optional(Type.String()),
      lastSyncedAt: Type.Optional(Type.Number()),
      restarts: Type.Integer(),
    }),
  ),
});
