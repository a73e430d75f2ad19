/** Dragging a handle: reports each position, but moves the view at most once in DRAG_INTERVAL_MS. */
const DRAG_INTERVAL_MS = 120;

interface DragHandlers {
  msAt(event: PointerEvent): number;
  /** The handle is at this moment; undefined at the end of the drag. */
  onPosition(ms: number | undefined): void;
  /** `isStep` is false when the move belongs to the step in the browser's history that the drag already added. */
  onMove(ms: number, isStep: boolean): void;
}

export function startDrag(event: PointerEvent, { msAt, onPosition, onMove }: DragHandlers): void {
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
