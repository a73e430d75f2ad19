/** The speed of a link as the Internet Topology Zoo writes it: in bit/s, or a number and a unit. */
import type { Properties } from "./import-graph.ts";

const BITS_PER_UNIT: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, G: 1e9, T: 1e12 };

/** In Mb/s; undefined when there is none, or none that can be read. */
export function linkSpeedMbps({ LinkSpeedRaw, LinkSpeed, LinkSpeedUnits }: Properties): number | undefined {
  const raw = positive(LinkSpeedRaw);
  if (raw !== undefined) return raw / 1e6;
  const speed = positive(LinkSpeed);
  const unit =
    BITS_PER_UNIT[
      String(LinkSpeedUnits ?? "")
        .toUpperCase()
        .slice(0, 1)
    ];
  return speed === undefined || unit === undefined ? undefined : (speed * unit) / 1e6;
}

function positive(value: unknown): number | undefined {
  const number = typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
  return Number.isFinite(number) && number > 0 ? number : undefined;
}
