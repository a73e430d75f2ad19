/**
 * The time line: the number of changes over time, and a handle at the moment that is shown. Its right end is now. With a
 * second handle the page compares two moments. Beside it are the buttons that play the past and jump between incidents.
 */

import { useStore } from "../data/page-store.ts";
import type { TimeSpan } from "../data/view-state.ts";
import { Button, Select } from "../elements/controls.tsx";
import { toTimestamp } from "../elements/format-time.ts";
import { handlePlayKey, PlayControls, usePlayActions } from "./play-controls.tsx";
import { rangeOf, Track, useTimeline } from "./track.tsx";

const SPANS: readonly (readonly [TimeSpan, string])[] = [
  ["15min", "15 min"],
  ["1h", "1 hour"],
  ["6h", "6 hours"],
  ["1d", "1 day"],
  ["7d", "7 days"],
  ["30d", "30 days"],
];

export function Timeline() {
  const { state, go } = useStore();
  const { at, compare, span } = state.value;
  const data = useTimeline(span);
  const toggleCompare = () => {
    if (compare !== undefined) return go({ compare: undefined });
    if (at !== undefined) return go({ compare: at, at: undefined, play: false });
    const { fromMs, toMs, oldestMs } = rangeOf(data.peek());
    go({ compare: toTimestamp(Math.max(oldestMs, toMs - (toMs - fromMs) / 6)) });
  };
  const actions = usePlayActions(data);
  const isPast = at !== undefined || compare !== undefined;
  return (
    <footer
      class={isPast ? "timeline in-past" : "timeline"}
      role="contentinfo"
      aria-label="Time line"
      onKeyDown={(event) => handlePlayKey(event, actions)}
    >
      <PlayControls actions={actions} />
      <Select
        class="span"
        aria-label="How much of the past to show"
        value={span}
        options={SPANS}
        onChoose={(next) => go({ span: next })}
      />
      <Track data={data} />
      <Button
        label={compare === undefined && at !== undefined ? "Compare with now" : "Compare"}
        pressed={compare !== undefined}
        onClick={toggleCompare}
      />
      <Button
        label="Now"
        class="text-button now"
        disabled={!isPast}
        onClick={() => go({ at: undefined, compare: undefined, play: false })}
      />
    </footer>
  );
}
