/** The legend: the shapes and lines of the map and what they mean. */

import { type LinkOverlay, overlaySteps } from "../data/link-overlay.ts";
import { useStore } from "../data/page-store.ts";
import type { MarkLayer } from "../data/view-state.ts";

const SQUARE = "M6 8a2 2 0 0 1 2-2h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2z";
const LINE = "M1 12h22";

export type Signs = readonly (readonly [title: string, path: string, kind: string])[];
const SIGNS: Signs = [
  ["Router", "M12 6a6 6 0 1 0 .01 0z", "node"],
  ["Switch and others", SQUARE, "node"],
  ["Firewall, balancer, IPS, IDS", "M12 5l6 3.5v7L12 19l-6-3.5v-7z", "node"],
  ["Server, controller, virtual", "M12 5l7 7-7 7-7-7z", "node"],
  ["Optical, access, microwave", "M12 18L5 6h14z", "node"],
  ["Device down", `${SQUARE}M9.5 9.5l5 5M14.5 9.5l-5 5`, "node down"],
  [
    "Device down, the cause of a fault",
    `M12 1.5a10.5 10.5 0 1 0 .01 0z${SQUARE}M9.5 9.5l5 5M14.5 9.5l-5 5`,
    "node down halo",
  ],
  ["Device cut off by a fault elsewhere", `${SQUARE}M9.5 12h5`, "node cut-off dashed"],
  ["Contradictory reports", `${SQUARE}M12 8.5v4M12 15v.01`, "node doubt"],
  ["Cable", LINE, "line"],
  ["Cable down", LINE, "line down dashed"],
  ["Cable lost", "M1 12h2.5M5.5 12h2.5M9.5 9.5l5 5M14.5 9.5l-5 5M16 12h2.5M20.5 12H23", "line down"],
  ["Some cables of a line down", LINE, "line down long-dashed"],
  ["Cable not verified", LINE, "line dotted"],
  ["Cable one-way", `${LINE}M9 8l7 4-7 4z`, "line arrow"],
  ["Cable with contradictory reports", "M1 10h22M1 14h22", "line doubt"],
];

const DRIFT_SIGNS: Signs = [
  ["Device missing", `${SQUARE}M9.5 12h5`, "node missing dashed"],
  ["Device not planned", `${SQUARE}M9.5 12h5M12 9.5v5`, "node unplanned"],
  ["Device differs, or a port or host of it", `${SQUARE}M9 11h6M9 13h6M13.5 9l-3 6`, "node differs"],
  ["Cable missing", LINE, "line missing dashed"],
  ["Cable not planned", LINE, "line unplanned thick"],
  ["Cable differs", LINE, "line differs dash-dotted"],
];

/** The signs of the map for a picture of it, with the scale of the values on links. */
export const signsOf = (layer: MarkLayer | undefined, overlay: LinkOverlay | undefined): Signs => [
  ...SIGNS,
  ...(layer === "drift" ? DRIFT_SIGNS : []),
  ...(overlay ? scaleSigns(overlay) : []),
];

const scaleSigns = (overlay: LinkOverlay): Signs =>
  overlaySteps(overlay).map(({ step, from }) => [`${overlay.name} from ${from}`, LINE, `line thick ${step}`]);

export function Legend() {
  const { layer } = useStore().state.value;
  if (layer !== "drift") return <SignList signs={SIGNS} />;
  return (
    <>
      <h2>Not as planned</h2>
      <SignList signs={DRIFT_SIGNS} />
      <h2>Types and states</h2>
      <SignList signs={SIGNS} />
    </>
  );
}

function SignList({ signs }: { readonly signs: Signs }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the list may be longer than the screen, and keys must scroll it
    <ul class="legend" tabIndex={0}>
      {signs.map(([title, path, kind]) => (
        <li key={title}>
          <svg viewBox="0 0 24 24" width={22} height={22} class={`legend-sign ${kind}`} aria-hidden="true">
            <path d={path} />
          </svg>
          {title}
        </li>
      ))}
    </ul>
  );
}
