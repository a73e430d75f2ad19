/** The legend of the values on links: the colours and the smallest value of each. */
import type { LinkOverlay } from "../data/link-overlay.ts";
import { overlaySteps } from "../data/link-overlay.ts";

export function OverlayLegend({ overlay }: { readonly overlay: LinkOverlay }) {
  return (
    <ul class="overlay-legend" aria-label={`Colours of ${overlay.name}`}>
      {overlaySteps(overlay).map(({ color, from }) => (
        <li key={from}>
          <svg viewBox="0 0 16 4" width={16} height={4} aria-hidden="true">
            <rect width={16} height={4} fill={color} />
          </svg>
          {`from ${from}`}
        </li>
      ))}
    </ul>
  );
}
