/** The signs and titles of severities and kinds. Each has a different shape, so that none is distinguished by colour alone. */
import type { ProblemKind, ProblemSeverity } from "../../model/problem-kinds.ts";

interface Sign {
  readonly title: string;
  /** A path on a grid of 16. */
  readonly path: string;
}

const BOX = "M3 3h10v10H3z";

export const SEVERITY_SIGNS: Readonly<Record<ProblemSeverity, Sign>> = {
  critical: { title: "Critical", path: "M5 1.5h6L14.5 5v6L11 14.5H5L1.5 11V5zM5.5 5.5l5 5M10.5 5.5l-5 5" },
  major: { title: "Major", path: "M8 2 15 14H1ZM8 6.5v3.5M8 12v.01" },
  minor: { title: "Minor", path: "M8 1.5 14.5 8 8 14.5 1.5 8ZM8 5v3.5M8 10.8v.01" },
  warning: { title: "Warning", path: "M8 2a6 6 0 1 0 .01 0ZM8 5v3.5M8 10.8v.01" },
  notice: { title: "Notice", path: "M8 2a6 6 0 1 0 .01 0ZM8 7.5V11M8 5.2v.01" },
};

export const KIND_SIGNS: Readonly<Record<ProblemKind, Sign>> = {
  "device-unavailable": { title: "Device down", path: `${BOX}M5.5 5.5l5 5M10.5 5.5l-5 5` },
  "link-inactive": { title: "Cable down", path: "M1 8h3M6.5 8h3M12 8h3" },
  "link-one-sided": { title: "Cable one-way", path: "M1 8h13M9.5 3.5 14 8l-4.5 4.5" },
  "link-lost": { title: "Cable lost", path: "M1 8h4M11 8h4M6.5 5.5l3 5M9.5 5.5l-3 5" },
  "source-failed": { title: "Source failed", path: "M8 2a6 6 0 1 0 .01 0ZM5.5 5.5l5 5M10.5 5.5l-5 5" },
  "host-moved": { title: "Host moved", path: "M4 6a2 2 0 1 0 .01 0ZM7.5 8h6M11 5.5 13.5 8 11 10.5" },
  "host-duplicated": { title: "Host duplicated", path: "M5.5 5a3 3 0 1 0 .01 0ZM10.5 5a3 3 0 1 0 .01 0Z" },
  conflict: { title: "Contradictory reports", path: "M2 5h9M8 2l3 3-3 3M14 11H5M8 8l-3 3 3 3" },
  "device-unknown": { title: "Device unknown", path: `${BOX}M6 6.5a2 2 0 1 1 2 2v1M8 11.5v.5` },
  drift: { title: "Not as planned", path: "M2 5.5h12M2 10.5h12M11 2 5 14" },
  "source-stale": { title: "Source stale", path: "M8 2a6 6 0 1 0 .01 0ZM8 4.5V8l2.5 2" },
};

interface SignProps {
  readonly sign: Sign;
  readonly severity: ProblemSeverity;
}

/** A sign. It is always next to its title, which a screen reader reads instead. */
export function ProblemSign({ sign, severity }: SignProps) {
  return (
    <svg viewBox="0 0 16 16" width={16} height={16} class={`icon sign-${severity}`} aria-hidden="true">
      <path d={sign.path} />
    </svg>
  );
}
