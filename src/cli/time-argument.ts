/** Moments as people say them: a revision, a time, how long ago, now. */
import { usageFailure } from "./failure.ts";

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
const AGO = /^(\d{1,9}(?:\.\d{1,9})?)([smhdw])$/;

/** As the interface takes it. What is none of them is refused; a time is left to the service to read. */
export function momentGiven(text: string, nowMs: number): number | string | Date {
  if (text === "now") return new Date(nowMs);
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const [, amount, unit = ""] = AGO.exec(text) ?? [];
  const time = nowMs - Number(amount) * (UNITS_MS[unit] ?? 0);
  if (amount !== undefined && Math.abs(time) <= 8.64e15) return new Date(time);
  if (/^\d{4}-\d\d-\d\d./.test(text)) return text;
  throw usageFailure(
    `${JSON.stringify(text)} is no moment; say a revision, a time such as 2026-11-15T03:00:00Z, how long ago (90s, 5m, 2h, 3d, 1w), or now`,
  );
}
