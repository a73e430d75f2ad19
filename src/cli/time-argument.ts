/** Parses a point in the history that is an argument: a revision, a time, a time ago, or `now`. */
import type { Client } from "../client/client.ts";
import type { RevisionOrTime, RevisionTime } from "../client/types.ts";
import { usageFailure } from "./command.ts";

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
const TIME_AGO = /^(\d{1,9}(?:\.\d{1,9})?)([smhdw])$/;
/** The largest time that a Date can have. */
const MAX_DATE_MS = 8.64e15;

/** Returns a revision (number), or a time. Text that begins like a date is parsed by the service. */
export function parseTimeArgument(text: string, nowMs: number): number | string | Date {
  if (text === "now") return new Date(nowMs);
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const [, amount, unit = ""] = TIME_AGO.exec(text) ?? [];
  const time = nowMs - Number(amount) * (UNITS_MS[unit] ?? 0);
  if (amount !== undefined && Math.abs(time) <= MAX_DATE_MS) return new Date(time);
  if (/^\d{4}-\d\d-\d\d./.test(text)) return text;
  throw usageFailure(
    `${JSON.stringify(text)} is not a point in time; give a revision, a time such as 2026-11-15T03:00:00Z, a time ago (90s, 5m, 2h, 3d, 1w), or now`,
  );
}

/**
 * Parses a point in the history, and replaces a time ago that is before the history by the beginning of the history: `5m`
 * means "as far back as there is, at most five minutes". The history begins after the first load, because a network that is
 * read for the first time has not changed. A revision or an absolute time is not replaced; the service refuses it if it is
 * not kept. `note` is called with a line when the point is replaced.
 */
export async function withinHistory(
  client: Client,
  text: string,
  nowMs: number,
  note: (text: string) => Promise<void>,
): Promise<RevisionOrTime> {
  const value = parseTimeArgument(text, nowMs);
  if (!(value instanceof Date) || text === "now") return value;
  const { loaded } = await client.timeline(1);
  if (value.getTime() >= loaded.time) return value;
  await note(`the history begins at ${formatRevision(loaded)}, less than ${text} ago`);
  return loaded.revision;
}

export function formatRevision({ revision, time }: RevisionTime): string {
  return time > 0 ? `revision ${revision} (${new Date(time).toISOString()})` : `revision ${revision}`;
}
