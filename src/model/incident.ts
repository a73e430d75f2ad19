/** The schemas and types of an incident: a group of alarms that follow each other within seconds. */
import Type from "typebox";
import { flag, int64, text } from "./schema-parts.ts";

/** The longest time between two consecutive alarms of one incident. */
export const INCIDENT_GAP_MS = 10_000;
/** Number of alarms that an incident lists; further ones are only counted. */
export const MAX_LISTED_ALARMS = 100;

export const ALARM_EVENTS = ["unavailable", "inactive", "removed"] as const;

export const Alarm = Type.Object(
  {
    resource: Type.Enum(["devices", "links"], { $id: "AlarmResource" }),
    id: Type.String(),
    cable: Type.Optional(
      text("The id of the cable, which is the same for both directions of a link. Present only for a link."),
    ),
    event: Type.Enum(ALARM_EVENTS, {
      $id: "AlarmEvent",
      description: "A device became unavailable or was removed; a link became INACTIVE or was removed.",
    }),
  },
  { $id: "Alarm" },
);
export type Alarm = Type.Static<typeof Alarm>;

/** A change of a stored value, as the log has it. */
interface StoredChange {
  readonly kind: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly changed: readonly string[];
}

/**
 * What a change of a device or link means for the network: one of the events of an alarm, the end of one (`recovered`), or an
 * addition. Undefined for every other change.
 *
 * The JSON text is searched and not parsed, because this is called for each change of a batch that is written. Only a device
 * has a boolean `available`, and the `state` of a link is before all its free texts.
 */
export function availabilityEventOf(
  change: StoredChange,
): Alarm["event"] | "recovered" | "added" | undefined {
  const { kind, before, after, changed } = change;
  if (kind !== "devices" && kind !== "links") return undefined;
  if (after === null) return before === null ? undefined : "removed";
  if (before === null) return "added";
  if (kind === "devices") {
    if (!changed.includes("available")) return undefined;
    return after.includes('"available":false') ? "unavailable" : "recovered";
  }
  if (!changed.includes("state")) return undefined;
  return after.startsWith(INACTIVE_STATE, after.indexOf(STATE_KEY)) ? "inactive" : "recovered";
}
const STATE_KEY = '"state":';
const INACTIVE_STATE = `${STATE_KEY}"INACTIVE"`;

const moment = (which: string) =>
  Type.Object(
    {
      revision: int64(`The revision of the ${which} alarm.`),
      time: int64("The time of that revision, in epoch milliseconds."),
    },
    { $id: `${which === "first" ? "First" : "Last"}Alarm` },
  );

export const Incident = Type.Object(
  {
    from: moment("first"),
    to: moment("last"),
    alarms: Type.Array(Alarm, {
      description: `The alarms in order of time, at most ${MAX_LISTED_ALARMS}.`,
    }),
    alarmCount: Type.Integer({ minimum: 1, description: "Number of all alarms of the incident." }),
  },
  { $id: "Incident" },
);
export type Incident = Type.Static<typeof Incident>;

export const IncidentSearch = Type.Object(
  {
    incident: Type.Optional(Incident),
    searched: Type.Object(
      {
        revision: int64("The revision at which the search stopped. It is the `at` of the next request."),
        time: int64("The time of that revision, in epoch milliseconds."),
      },
      { $id: "SearchedUntil" },
    ),
    complete: flag(
      "Whether the search has reached the end of the history. It is meaningful only if no incident was found.",
    ),
  },
  { $id: "IncidentSearch" },
);
export type IncidentSearch = Type.Static<typeof IncidentSearch>;
