/**
 * What the page says on paper and in pictures: a title, the counts and the time of the network. On the screen it is hidden.
 * Before the browser prints, the time is set, and rows that only exist in view are rendered (`isPrinting`).
 */
import { signal } from "@preact/signals";
import { MetricScale } from "../bar/metric-menu.tsx";
import { type PageStore, useStore } from "../data/page-store.ts";
import { formatFullTime, formatMoment } from "../elements/format-time.ts";
import { Legend } from "./legend.tsx";
import { summarize } from "./map-view.tsx";
import { currentPalette, PALETTES } from "./palette.ts";

/** Whether the browser prints. Signals are rendered before it reads the page, because microtasks run first. */
export const isPrinting = signal(false);
/** Set by the button that prints, until all rows of the table are loaded. */
export const isPrintRequested = signal(false);
const printedMs = signal(Date.now());

/** To be called once. */
export function watchPrinting(): void {
  addEventListener("beforeprint", () => {
    printedMs.value = Date.now();
    isPrinting.value = true;
    // A map in dark colours is inverted on paper, where the background is white.
    document.documentElement.toggleAttribute("data-dark-map", currentPalette() === PALETTES.dark);
  });
  addEventListener("afterprint", () => {
    isPrinting.value = false;
  });
}

export const paperTitle = (): string => `Network of ${location.host}`;

/** The counts, and the time of the network. That is of the moment that is shown, which the address may be ahead of. */
export function paperLines({ network, shownMoments, timeOf }: PageStore, nowMs: number): string[] {
  const shown = network.peek();
  const { at } = shownMoments.peek();
  const time = at === undefined ? formatFullTime(nowMs) : formatMoment(at, timeOf(at));
  return [...(shown ? [summarize(shown)] : []), time];
}

export function PaperHead() {
  const store = useStore();
  // The numbers are those at the time of printing.
  const lines = isPrinting.value ? paperLines(store, printedMs.value) : [];
  return (
    <header class="paper-head">
      <h1>{isPrinting.value && paperTitle()}</h1>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </header>
  );
}

/** The legend below the map on paper, with the scale of the values on links in the colours in which the map is drawn. */
export function PaperLegend() {
  const { state, overlay } = useStore();
  if (!isPrinting.value || state.value.view !== "map") return null;
  return (
    <footer class="paper-legend">
      <Legend />
      {overlay.value && (
        <div class="paper-scale">
          {`${overlay.value.name} on links, each colour from:`}
          <MetricScale palette={currentPalette()} />
        </div>
      )}
    </footer>
  );
}
