/**
 * Moves overlapping rectangles apart and keeps their relative order. Each overlapping pair moves along the axis on which
 * the overlap is smaller relative to the size of the boxes. The number of rounds is limited, so a small overlap may
 * remain.
 */
export interface Box {
  /** The centre. */
  x: number;
  y: number;
  readonly width: number;
  readonly height: number;
}

const MAX_ROUNDS = 400;
/** Moves a pair slightly more than needed, so that a rounding error does not make it overlap again. */
const MOVE_FACTOR = 1.001;

export function separateBoxes(boxes: readonly Box[]): void {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // Sorted by the left edge: the boxes that can overlap a box are those directly after it.
    const order = boxes.toSorted((p, q) => p.x - p.width / 2 - (q.x - q.width / 2));
    let moved = false;
    for (const [i, box] of order.entries()) {
      for (let j = i + 1; j < order.length; j++) {
        const other = order[j];
        if (other === undefined || other.x - other.width / 2 >= box.x + box.width / 2) break;
        if (separatePair(box, other)) moved = true;
      }
    }
    if (!moved) return;
  }
}

function separatePair(a: Box, b: Box): boolean {
  const overlapX = (a.width + b.width) / 2 - Math.abs(b.x - a.x);
  const overlapY = (a.height + b.height) / 2 - Math.abs(b.y - a.y);
  if (overlapX <= 1e-6 || overlapY <= 1e-6) return false;
  // Compares relative overlaps. With absolute ones, wide boxes would always move vertically and form columns.
  if (overlapX * (a.height + b.height) < overlapY * (a.width + b.width)) {
    const distance = ((overlapX * MOVE_FACTOR) / 2) * (b.x < a.x ? -1 : 1);
    a.x -= distance;
    b.x += distance;
  } else {
    const distance = ((overlapY * MOVE_FACTOR) / 2) * (b.y < a.y ? -1 : 1);
    a.y -= distance;
    b.y += distance;
  }
  return true;
}
