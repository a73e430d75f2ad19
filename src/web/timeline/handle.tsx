/** A handle of the time line: a slider for the pointer, the keyboard and screen readers. */
import type { RefObject } from "preact";
import { clampToHistory, positionOf, type TimeRange } from "./use-timeline.ts";

interface HandleProps {
  readonly label: string;
  readonly class: string;
  readonly range: TimeRange;
  readonly valueMs: number;
  readonly valueText: string;
  /** Where the pointer drags the handle to, ahead of the value. */
  readonly draggedMs: number | undefined;
  readonly hidden?: boolean;
  readonly handle: RefObject<HTMLDivElement | null>;
  readonly onGrab: (event: PointerEvent) => void;
  readonly onMove: (ms: number) => void;
}

export function Handle(props: HandleProps) {
  const { range, valueMs } = props;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = (range.toMs - range.fromMs) / 60;
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
