/** The track of the time line: bars for the changes, ticks with times, and the handles. */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { formatCount } from "../data/entity-names.ts";
import { useStore } from "../data/page-store.ts";
import { isRevision, type ViewState } from "../data/view-state.ts";
import { formatFullTime, formatShortTime, toTimestamp } from "../elements/format-time.ts";
import { startDrag } from "./drag.ts";
import { Handle } from "./handle.tsx";
import { useMomentMs } from "./use-moment.ts";
import {
  BUCKETS,
  clampToHistory,
  positionOf,
  rangeOf,
  type TimelineData,
  type TimeRange,
} from "./use-timeline.ts";

/** A handle this close to the right end, as a share of the range, is at now. */
const NOW_SHARE = 0.004;
const TICKS = [0, 0.25, 0.5, 0.75, 1];

type HandleName = "at" | "compare";

export function Track({ data }: { readonly data: ReadonlySignal<TimelineData | undefined> }) {
  const { state, go, adjust } = useStore();
  const { at, compare } = state.value;
  const track = useRef<HTMLDivElement>(null);
  const handles = { at: useRef<HTMLDivElement>(null), compare: useRef<HTMLDivElement>(null) };
  const dragged = useSignal<{ readonly name: HandleName; readonly ms: number } | undefined>(undefined);
  const range = rangeOf(data.value);

  const msAt = (event: PointerEvent): number => {
    const now = rangeOf(data.peek());
    const box = track.current?.getBoundingClientRect();
    const share = box ? (event.clientX - box.left) / box.width : 1;
    return clampToHistory(now.fromMs + share * (now.toMs - now.fromMs), now);
  };
  const move = (name: HandleName, ms: number, isStep: boolean) => {
    const { fromMs, toMs } = rangeOf(data.peek());
    const isNow = name === "at" && toMs - ms < (toMs - fromMs) * NOW_SHARE;
    const patch: Partial<ViewState> = {
      [name]: isNow ? undefined : toTimestamp(ms),
      ...(isNow && { play: false }),
    };
    if (isStep) go(patch);
    else adjust(patch);
  };
  const grab = (name: HandleName, event: PointerEvent) => {
    if (event.button !== 0) return;
    handles[name].current?.focus();
    startDrag(event, {
      msAt,
      onPosition(ms) {
        dragged.value = ms === undefined ? undefined : { name, ms };
      },
      onMove: (ms, isStep) => move(name, ms, isStep),
    });
  };
  const times = { at: useMomentMs(at), compare: useMomentMs(compare) };
  const handle = (name: HandleName, moment: string | undefined) => ({
    handle: handles[name],
    range,
    valueMs: times[name] ?? range.toMs,
    valueText: moment === undefined ? "now" : momentText(moment, times[name]),
    draggedMs: dragged.value?.name === name ? dragged.value.ms : undefined,
    onGrab: (event: PointerEvent) => grab(name, event),
    onMove: (ms: number) => move(name, ms, true),
  });
  return (
    <div
      class="track"
      ref={track}
      title={data.value && changesTitle(data.value)}
      onPointerDown={(event) => grab("at", event)}
    >
      <Bars counts={data.value?.counts ?? []} />
      <div
        class="before-history"
        title="Before the history starts"
        style={{ width: data.value && `${positionOf(range.oldestMs, range) * 100}%` }}
      />
      <div class="ticks" aria-hidden="true">
        {data.value && TICKS.map((share) => <Tick key={share} share={share} range={range} />)}
      </div>
      <Handle
        label="Moment compared with"
        class="handle earlier"
        hidden={compare === undefined}
        {...handle("compare", compare)}
      />
      <Handle label="Moment shown" class="handle" {...handle("at", at)} />
    </div>
  );
}

/** Of a revision both its number and its time. */
function momentText(moment: string, ms: number | undefined): string {
  const time = ms === undefined ? [] : [formatFullTime(ms)];
  return [...(isRevision(moment) ? [`revision ${moment}`] : []), ...time].join(", ");
}

const changesTitle = ({ counts, fromMs }: TimelineData): string => {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return `${formatCount(total, "change")} since ${formatFullTime(fromMs)}`;
};

/** The height of a bar is logarithmic, so that one change is visible beside a thousand. */
function Bars({ counts }: { readonly counts: readonly number[] }) {
  const max = Math.max(4, ...counts);
  const heightOf = (count: number) => 10 + (Math.log1p(count) / Math.log1p(max)) * 88;
  return (
    <svg class="bars" preserveAspectRatio="none" viewBox={`0 0 ${BUCKETS} 100`} aria-hidden="true">
      {counts.flatMap((count, i) => {
        if (count === 0) return [];
        const height = heightOf(count);
        return <rect key={i} x={i + 0.12} width={0.76} y={100 - height} height={height} />;
      })}
    </svg>
  );
}

function Tick({ share, range: { fromMs, toMs } }: { readonly share: number; readonly range: TimeRange }) {
  return (
    <span style={{ left: `${share * 100}%` }}>
      {share === 1 ? "now" : formatShortTime(fromMs + share * (toMs - fromMs))}
    </span>
  );
}
