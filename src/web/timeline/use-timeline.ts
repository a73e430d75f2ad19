/**
 * The number of changes over time, loaded again every few seconds. The range starts where the history starts, because
 * the time before it is empty, but is never shorter than two minutes.
 */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useStore } from "../data/page-store.ts";
import { SPAN_MS, type TimeSpan } from "../data/view-state.ts";

export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
  /** The start of the history. */
  readonly oldestMs: number;
}

export interface TimelineData extends TimeRange {
  /** The changes in each of BUCKETS equal parts of the range. */
  readonly counts: readonly number[];
}

export const BUCKETS = 180;
const REFRESH_MS = 5000;
const MIN_RANGE_MS = 2 * 60_000;

export function rangeOf(data: TimelineData | undefined): TimeRange {
  const toMs = Date.now();
  const fromMs = toMs - SPAN_MS["1h"];
  return data ?? { fromMs, toMs, oldestMs: fromMs };
}

/** The position of a moment in the range, from 0 to 1. */
export const positionOf = (ms: number, { fromMs, toMs }: TimeRange): number =>
  Math.min(1, Math.max(0, (ms - fromMs) / (toMs - fromMs)));

/** The nearest moment of which there is history. */
export const clampToHistory = (ms: number, { oldestMs, toMs }: TimeRange): number =>
  // A moment in an address has whole seconds: the first one in the history.
  Math.min(toMs, Math.max(Math.ceil(oldestMs / 1000) * 1000, ms));

/** Undefined until it is loaded. */
export function useTimeline(span: TimeSpan): ReadonlySignal<TimelineData | undefined> {
  const { client, network } = useStore();
  const data = useSignal<TimelineData | undefined>(undefined);
  const hasNetwork = network.value !== undefined;
  useEffect(() => {
    const effect = new AbortController();
    const refresh = async (): Promise<void> => {
      if (document.hidden) return;
      const toMs = Date.now();
      const spanStartMs = toMs - SPAN_MS[span];
      const historyStartMs = data.peek()?.oldestMs ?? spanStartMs;
      const fromMs = Math.max(spanStartMs, Math.min(historyStartMs, toMs - MIN_RANGE_MS));
      const query = { from: new Date(fromMs), to: new Date(toMs) };
      const { oldest, counts } = await client.timeline(BUCKETS, query, effect);
      if (effect.signal.aborted) return;
      data.value = { fromMs, toMs, oldestMs: oldest.time, counts };
      const isMostlyEmpty = oldest.time > fromMs + (toMs - fromMs) / 2;
      if (isMostlyEmpty && toMs - fromMs > MIN_RANGE_MS) await refresh();
    };
    // A failure is not shown here: the status in the bar shows that the connection is lost.
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
