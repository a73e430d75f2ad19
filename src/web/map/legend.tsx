/** What the signs on the map mean, drawn with the same forms. */
import { h, s } from "../dom.ts";
import { formatCount } from "../names.ts";

function shape(d: string, kind = ""): SVGSVGElement {
  return s(
    "svg",
    { viewBox: "0 0 24 24", width: 22, height: 22, class: `legend-sign ${kind}`, "aria-hidden": "true" },
    s("path", { d }),
  );
}

const SQUARE = "M6 8a2 2 0 0 1 2-2h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2z";
const LINE = "M1 12h22";

const SIGNS: readonly (readonly [words: string, d: string, kind: string])[] = [
  ["Router", "M12 6a6 6 0 1 0 .01 0z", "node"],
  ["Switch and others", SQUARE, "node"],
  ["Firewall, balancer, IPS, IDS", "M12 5l6 3.5v7L12 19l-6-3.5v-7z", "node"],
  ["Server, controller, virtual", "M12 5l7 7-7 7-7-7z", "node"],
  ["Optical, access, microwave", "M12 18L5 6h14z", "node"],
  ["Device down", `${SQUARE}M9.5 9.5l5 5M14.5 9.5l-5 5`, "node down"],
  ["Conflicting claims", `${SQUARE}M12 8.5v4M12 15v.01`, "node doubt"],
  ["Link", LINE, "line"],
  ["Link inactive", LINE, "line down dashed"],
  ["Link not verified", LINE, "line dotted"],
  ["Link one-way", `${LINE}M9 8l7 4-7 4z`, "line arrow"],
  ["Link in conflict", "M1 10h22M1 14h22", "line doubt"],
];

export function legend(): HTMLElement {
  return h(
    "ul",
    { class: "legend" },
    SIGNS.map(([words, d, kind]) => h("li", {}, shape(d, kind), words)),
  );
}

export const mapSummary = (
  devices: number,
  down: number,
  cables: number,
  inactive: number,
  /** Undefined while they are loaded. */
  hosts: number | undefined,
): string =>
  [
    formatCount(devices, "device") + (down > 0 ? ` (${down} down)` : ""),
    formatCount(cables, "cable") + (inactive > 0 ? ` (${inactive} inactive)` : ""),
    hosts === undefined ? "loading hosts…" : formatCount(hosts, "host"),
  ].join(", ");
