/** The search for the next incident, which the service makes in parts, and what is said of its result. */
import type { Alarm, Client, Incident } from "../../client/client.ts";
import { formatFullTime } from "../elements/format-time.ts";
import { formatCount } from "./entity-names.ts";
import { parseMoment } from "./load-network.ts";

export type Direction = "previous" | "next";

export interface IncidentResult {
  /** Undefined at the end of the history. */
  readonly incident: Incident | undefined;
  readonly text: string;
}

/** `at` undefined is now. `onSearched` is called with the time until which there is none. */
export async function findIncident(
  client: Client,
  direction: Direction,
  at: string | undefined,
  onSearched: (ms: number) => void,
  signal: AbortSignal,
): Promise<IncidentResult> {
  let from = at === undefined ? undefined : parseMoment(at);
  for (;;) {
    const { incident, searched, complete } = await client.incident(direction, from, { signal });
    if (incident) return { incident, text: describeIncident(incident) };
    if (complete) return { incident: undefined, text: endText(direction, searched.time) };
    from = searched.revision;
    onSearched(searched.time);
  }
}

function endText(direction: Direction, ms: number): string {
  if (direction === "next") return "There is no later incident until now.";
  // Revision 0, the empty network, has no time.
  return ms > 0
    ? `There is no earlier incident: the history starts at ${formatFullTime(ms)}.`
    : "There is no earlier incident since the history started.";
}

/** Both directions of a link are one. */
export function describeIncident({ alarms, alarmCount, from }: Incident): string {
  const count = (resource: Alarm["resource"], event: Alarm["event"]) =>
    new Set(
      alarms
        .filter((alarm) => alarm.resource === resource && alarm.event === event)
        .map(({ id, cable }) => cable ?? id),
    ).size;
  const parts = [
    [count("devices", "unavailable"), "device", "down"],
    [count("devices", "removed"), "device", "removed"],
    [count("links", "inactive"), "link", "inactive"],
    [count("links", "removed"), "link", "removed"],
  ] as const;
  const texts = parts.flatMap(([n, noun, state]) => (n > 0 ? [`${formatCount(n, noun)} ${state}`] : []));
  const more =
    alarmCount > alarms.length ? [`${formatCount(alarmCount - alarms.length, "other alarm")}`] : [];
  return `Incident of ${formatFullTime(from.time)}: ${[...texts, ...more].join(", ")}`;
}
