/** What a long run must not change: resident memory, open file descriptors. Sampled, and summed up at the end. */
import { readdirSync } from "node:fs";

export interface Sample {
  readonly atMs: number;
  readonly residentBytes: number;
  readonly handles: number;
}

export const handlesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** The slope of the line that fits the samples best, in bytes a minute. */
export function memorySlope(samples: readonly Sample[]): number {
  const n = samples.length;
  if (n < 2) return 0;
  const minutes = samples.map(({ atMs }) => atMs / 60_000);
  const meanX = minutes.reduce((sum, x) => sum + x, 0) / n;
  const meanY = samples.reduce((sum, { residentBytes }) => sum + residentBytes, 0) / n;
  const covariance = samples.reduce(
    (sum, { residentBytes }, i) => sum + ((minutes[i] ?? 0) - meanX) * (residentBytes - meanY),
    0,
  );
  const variance = minutes.reduce((sum, x) => sum + (x - meanX) ** 2, 0);
  return variance === 0 ? 0 : covariance / variance;
}
