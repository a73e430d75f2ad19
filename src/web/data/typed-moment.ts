/** A moment as a person types it: a revision, a time of the day, a day, or a day and a time. */

export type TypedMoment =
  /** `at` is a moment for the address; undefined is now. */
  { readonly ok: true; readonly at: string | undefined } | { readonly ok: false; readonly fault: string };

const TIME_OF_DAY = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/;
const DAY_AND_TIME = /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,3})?)?( ?(Z|[+-]\d\d:\d\d))?)?$/i;

export function parseTypedMoment(typed: string, now = new Date()): TypedMoment {
  const text = typed.trim();
  if (text === "" || text.toLowerCase() === "now") return { ok: true, at: undefined };
  if (/^\d{1,15}$/.test(text)) return { ok: true, at: text };
  const ms = TIME_OF_DAY.test(text) ? lastTimeOfDay(text, now) : parseDayAndTime(text);
  if (ms === undefined || Number.isNaN(ms)) {
    const fault = `“${text}” is no moment. Write a time (14:05), a day and a time (2026-11-16 14:05:30), or a revision (17).`;
    return { ok: false, fault };
  }
  return { ok: true, at: new Date(ms).toISOString().replace(".000Z", "Z") };
}

/** The last time the clock showed this, in the time zone of the reader. */
function lastTimeOfDay(text: string, now: Date): number | undefined {
  const [, hours, minutes, seconds = "0"] = TIME_OF_DAY.exec(text) ?? [];
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(now);
  date.setHours(hour, minute, second, 0);
  if (date > now) date.setDate(date.getDate() - 1);
  return date.getTime();
}

/** Without a zone, in that of the reader. */
function parseDayAndTime(text: string): number | undefined {
  if (!DAY_AND_TIME.test(text)) return undefined;
  const [day = "", ...rest] = text.toUpperCase().split(/[ T]/);
  return Date.parse(`${day}T${rest.join("") || "00:00"}`);
}
