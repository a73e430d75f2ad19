/**
 * Which rows of a long list are in view. Only these exist as elements, so that 100,000 rows scroll as fast as ten. All
 * rows have the same height, so that positions follow from indexes.
 */
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export const ROW_PX = 30;
const HEAD_PX = 31;
/** Rows rendered above and below the view. */
const SPARE_ROWS = 8;

export interface RowWindow {
  /** The element that scrolls. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** The first row to render, and the row after the last. */
  readonly first: number;
  readonly end: number;
  /** How many rows Page Down moves. */
  pageRows(): number;
  /** Scrolls as little as needed. */
  scrollTo(index: number): void;
  onScroll(): void;
}

export function useRowWindow(): RowWindow {
  const scroller = useRef<HTMLDivElement>(null);
  const scrollTop = useSignal(0);
  const viewHeight = useSignal(ROW_PX);
  useLayoutEffect(() => {
    if (!scroller.current) return;
    const observer = new ResizeObserver(([entry]) => {
      // The head of the table covers the top of the view.
      viewHeight.value = Math.max(ROW_PX, (entry?.target.clientHeight ?? 0) - HEAD_PX);
    });
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(scrollTop.value / ROW_PX) - SPARE_ROWS);
  const onScroll = () => {
    scrollTop.value = scroller.current?.scrollTop ?? 0;
  };
  return {
    scroller,
    first,
    end: first + Math.ceil(viewHeight.value / ROW_PX) + SPARE_ROWS * 2,
    pageRows: () => Math.max(1, Math.floor(viewHeight.peek() / ROW_PX) - 1),
    scrollTo(index) {
      if (!scroller.current) return;
      const top = index * ROW_PX;
      const bottom = top + ROW_PX - viewHeight.peek();
      scroller.current.scrollTop = Math.max(bottom, Math.min(top, scroller.current.scrollTop));
      onScroll();
    },
    onScroll,
  };
}
