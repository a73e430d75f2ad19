/** Times and durations for display, in the time zone of the reader. */
const TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const FULL = new Intl.DateTimeFormat("en-GB", {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

const isSameDay = (a: Date, b: Date): boolean => a.toDateString() === b.toDateString();

/** A time such as `03:12:45`, with the day unless that is today. */
export function formatShortTime(ms: number, now = new Date()): string {
  const date = new Date(ms);
  return isSameDay(date, now) ? TIME.format(date) : `${DAY.format(date)} ${TIME.format(date)}`;
}

export const formatFullTime = (ms: number): string => FULL.format(ms);

/** The text of a moment of the address: its time, or its revision while the time of that is not loaded. */
export const formatMoment = (moment: string, ms: number | undefined, format = formatFullTime): string =>
  ms === undefined ? `revision ${moment}` : format(ms);

/** The RFC 3339 timestamp to the second, which is the form of a moment in addresses. */
export const toTimestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** The RFC 3339 timestamp, with milliseconds unless they are zero. */
export const toExactTimestamp = (ms: number): string =>
  new Date(Math.ceil(ms)).toISOString().replace(".000Z", "Z");

/** A time in the form in which a user types it, in the time zone of the reader: `2026-11-16 08:05:30`. */
export function formatTyped(ms: number): string {
  const date = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 19).replace("T", " ");
}

/** A duration such as `3 s`, `5 min`, `2 h` or `4 d`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}
