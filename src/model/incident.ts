/** The schemas and types of an incident: a group of alarms that follow each other within seconds. */
import Type from "typebox";
import { int64 } from "./entity.ts";

/** The longest time between two consecutive alarms of one incident. */
export const INCIDENT_GAP_MS = 10_000;
/** Number of alarms that an incident lists; further ones are only counted. */
export const MAX_LISTED_ALARMS = 100;

export const ALARM_EVENTS = ["unavailable", "inactive", "removed"] as const;

export const Alarm = Type.Object(
  {
    resource: Type.Enum(["devices", "links"], { $id: "AlarmResource" }),
    id: Type.String(),
    cable: Type.Optional(Type.String({ description: "Of a link: the same for both directions." })),
    event: Type.Enum(ALARM_EVENTS, {
      $id: "AlarmEvent",
      description: "A device became unavailable or was removed; a link became INACTIVE or was removed.",
    }),
  },
  { $id: "Alarm" },
);
export type Alarm = Type.Static<typeof Alarm>;

const moment = (which: string) =>
  Type.Object(
    { revision: int64(`The revision of the ${which} alarm.`), time: int64("Its epoch milliseconds.") },
    { $id: `${which === "first" ? "First" : "Last"}Alarm` },
  );

export const Incident = Type.Object(
  {
    from: moment("first"),
    to: moment("last"),
    alarms: Type.Array(Alarm, {
      description: `In order of time; at most ${MAX_LISTED_ALARMS}.`,
    }),
    alarmCount: Type.Integer({ minimum: 1, description: "All of them." }),
  },
  { $id: "Incident" },
);
export type Incident = Type.Static<typeof Incident>;

export const IncidentSearch = Type.Object(
  {
    incident: Type.Optional(Incident),
    searched: Type.Object(
      {
        revision: int64("Where the search stopped: the `at` of the next request."),
        time: int64("Its epoch milliseconds."),
      },
      { $id: "SearchedUntil" },
    ),
    complete: Type.Boolean({
      description: "Without an incident: whether the search has reached the end of the history.",
    }),
  },
  { $id: "IncidentSearch" },
);
export type IncidentSearch = Type.Static<typeof IncidentSearch>;
