/** The track of the time line: bars for the number of changes over time, marks for faults and recoveries, times, and handles. */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useStore } from "../data/page-store.ts";
import { formatCount } from "../data/shown-names.ts";
import { SPAN_MS, type TimeSpan, type ViewState } from "../data/view-state.ts";
import { formatFullTime, formatMoment, formatShortTime, toTimestamp } from "../elements/format-time.ts";

/** A handle this close to the right end, as a fraction of the range, counts as now. */
const NOW_SHARE = 0.004;
const TICKS = [0, 0.25, 0.5, 0.75, 1];

type HandleName = "at" | "compare";

export function Track({ data }: { readonly data: ReadonlySignal<TimelineData | undefined> }) {
  const { state, go, adjust, timeOf } = useStore();
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
  const times = { at: timeOf(at), compare: timeOf(compare) };
  const handle = (name: HandleName, moment: string | undefined) => ({
    handle: handles[name],
    range,
    valueMs: times[name] ?? range.toMs,
    valueText: moment === undefined ? "now" : formatMoment(moment, times[name]),
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
      {data.value && (
        <>
          <Marks words={["fault", "faults"]} numbers={data.value.faults} range={range} />
          <Marks words={["recovery", "recoveries"]} numbers={data.value.recoveries} range={range} />
        </>
      )}
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

const changesTitle = ({ counts, faults, recoveries, fromMs }: TimelineData): string => {
  const total = (numbers: readonly number[], one: string, many?: string) =>
    formatCount(
      numbers.reduce((sum, count) => sum + count, 0),
      one,
      many,
    );
  const changes = [
    total(counts, "change"),
    total(faults, "fault"),
    total(recoveries, "recovery", "recoveries"),
  ];
  return `${changes.join(", ")} since ${formatFullTime(fromMs)}`;
};

/** The bars of the track. Their height is logarithmic, so that one change is visible beside a thousand. */
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

interface MarksProps {
  /** The noun in singular and plural. The plural is the class of the marks. */
  readonly words: readonly [string, string];
  readonly numbers: readonly number[];
  readonly range: TimeRange;
}

/** A mark for each part of the range that has faults, or recoveries. It is at the end of the part, where they have all happened. */
function Marks({ words, numbers, range: { fromMs, toMs } }: MarksProps) {
  const name = words[1];
  return numbers.flatMap((n, i) => {
    if (n === 0) return [];
    const share = (i + 1) / numbers.length;
    const title = `${formatCount(n, ...words)} until ${formatShortTime(fromMs + share * (toMs - fromMs))}`;
    return (
      <span key={`${name}${i}`} class={`mark ${name}`} title={title} style={{ left: `${share * 100}%` }} />
    );
  });
}

function Tick({ share, range: { fromMs, toMs } }: { readonly share: number; readonly range: TimeRange }) {
  return (
    <span style={{ left: `${share * 100}%` }}>
      {share === 1 ? "now" : formatShortTime(fromMs + share * (toMs - fromMs))}
    </span>
  );
}

interface HandleProps {
  readonly label: string;
  readonly class: string;
  readonly range: TimeRange;
  readonly valueMs: number;
  readonly valueText: string;
  /** The moment to which the pointer drags the handle, before it becomes the value. */
  readonly draggedMs: number | undefined;
  readonly hidden?: boolean;
  readonly handle: RefObject<HTMLDivElement | null>;
  readonly onGrab: (event: PointerEvent) => void;
  readonly onMove: (ms: number) => void;
}

/** A handle of the time line: a slider for the pointer, the keyboard and screen readers. */
function Handle(props: HandleProps) {
  const { range, valueMs } = props;
  const onKeyDown = (event: KeyboardEvent) => {
    // A moment in an address has whole seconds.
    const step = Math.max(1000, (range.toMs - range.fromMs) / 60);
    const next = {
      ArrowLeft: valueMs - step,
      ArrowRight: valueMs + step,
      PageUp: valueMs + step * 5,
      PageDown: valueMs - step * 5,
      Home: range.oldestMs,
      End: range.toMs,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    props.onMove(clampToHistory(next, range));
  };
  return (
    <div
      class={props.class}
      ref={props.handle}
      role="slider"
      tabIndex={0}
      hidden={props.hidden ?? false}
      aria-label={props.label}
      aria-valuemin={Math.round(range.fromMs)}
      aria-valuemax={Math.round(range.toMs)}
      aria-valuenow={Math.round(valueMs)}
      aria-valuetext={props.valueText}
      style={{ left: `${positionOf(props.draggedMs ?? valueMs, range) * 100}%` }}
      onPointerDown={props.onGrab}
      onKeyDown={onKeyDown}
    />
  );
}

/** The minimum time between two moves of the view during a drag. */
const DRAG_INTERVAL_MS = 120;

interface DragHandlers {
  msAt(event: PointerEvent): number;
  /** Called with the moment of each position of the handle, and with undefined at the end of the drag. */
  onPosition(ms: number | undefined): void;
  /** `isStep` is false when the move belongs to the step in the browser's history that the drag already added. */
  onMove(ms: number, isStep: boolean): void;
}

/** Starts a drag of a handle. It reports each position, but moves the view at most once in `DRAG_INTERVAL_MS`. */
function startDrag(event: PointerEvent, { msAt, onPosition, onMove }: DragHandlers): void {
  event.preventDefault();
  event.stopPropagation();
  let lastMoveMs = 0;
  let isFirst = true;
  const onPointerMove = (moved: PointerEvent) => {
    onPosition(msAt(moved));
    if (performance.now() - lastMoveMs < DRAG_INTERVAL_MS) return;
    lastMoveMs = performance.now();
    onMove(msAt(moved), isFirst);
    isFirst = false;
  };
  const onPointerUp = (moved: PointerEvent) => {
    removeEventListener("pointermove", onPointerMove);
    removeEventListener("pointerup", onPointerUp);
    onMove(msAt(moved), isFirst);
    onPosition(undefined);
  };
  addEventListener("pointermove", onPointerMove);
  addEventListener("pointerup", onPointerUp);
  onPointerMove(event);
}

interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
  /** The start of the history. */
  readonly oldestMs: number;
}

export interface TimelineData extends TimeRange {
  /** The number of changes in each of `BUCKETS` equal parts of the range. */
  readonly counts: readonly number[];
  readonly faults: readonly number[];
  readonly recoveries: readonly number[];
}

const BUCKETS = 180;
const REFRESH_MS = 5000;
const MIN_RANGE_MS = 10_000;

export function rangeOf(data: TimelineData | undefined): TimeRange {
  const toMs = Date.now();
  const fromMs = toMs - SPAN_MS["1h"];
  return data ?? { fromMs, toMs, oldestMs: fromMs };
}

/** The position of a moment in the range, from 0 to 1. */
const positionOf = (ms: number, { fromMs, toMs }: TimeRange): number =>
  Math.min(1, Math.max(0, (ms - fromMs) / (toMs - fromMs)));

/** The nearest moment for which there is history. */
const clampToHistory = (ms: number, { oldestMs, toMs }: TimeRange): number =>
  // The start is rounded up, because a moment in an address has whole seconds and must be within the history.
  Math.min(toMs, Math.max(Math.ceil(oldestMs / 1000) * 1000, ms));

/**
 * The number of changes over time, loaded after the network and again every few seconds; undefined until it is loaded. The
 * range starts where the history starts, because the time before it is empty, but is never shorter than ten seconds.
 */
export function useTimeline(span: TimeSpan): ReadonlySignal<TimelineData | undefined> {
  const { client, network } = useStore();
  const data = useSignal<TimelineData | undefined>(undefined);
  const hasNetwork = network.value !== undefined;
  useEffect(() => {
    // The network comes first, because the map needs it.
    if (!hasNetwork) return;
    const effect = new AbortController();
    const refresh = async (): Promise<void> => {
      if (document.hidden) return;
      const toMs = Date.now();
      const spanStartMs = toMs - SPAN_MS[span];
      const historyStartMs = data.peek()?.oldestMs ?? spanStartMs;
      const fromMs = Math.max(spanStartMs, Math.min(historyStartMs, toMs - MIN_RANGE_MS));
      const query = { from: new Date(fromMs), to: new Date(toMs) };
      const { oldest, counts, faults, recoveries } = await client.timeline(BUCKETS, query, effect);
      if (effect.signal.aborted) return;
      const isFirst = data.peek() === undefined;
      data.value = { fromMs, toMs, oldestMs: oldest.time, counts, faults, recoveries };
      // The first response says where the history starts.
      if (isFirst && oldest.time > fromMs) await refresh();
    };
    // Failures are ignored, because the status in the bar shows that the connection is lost.
    const tryRefresh = () => void refresh().catch(() => {});
    tryRefresh();
    const timer = setInterval(tryRefresh, REFRESH_MS);
    return () => {
      effect.abort();
      clearInterval(timer);
    };
  }, [span, hasNetwork]);
  return data;
}
