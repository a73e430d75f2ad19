/**
 * Pushes rectangles off each other while keeping their arrangement: each overlapping pair gives way along the axis
 * that needs less for its size. Bounded rounds; what still overlaps then overlaps a little.
 */
export interface Box {
  /** The middle. */
  x: number;
  y: number;
  readonly width: number;
  readonly height: number;
}

const ROUNDS = 400;
/** Pushed a hair further than needed, or rounding would bring the pair back. */
const SLACK = 1.001;

export function separateBoxes(boxes: readonly Box[]): void {
  // Only boxes whose x ranges touch can overlap: sorted by their left edges, those follow each other.
  for (let round = 0; round < ROUNDS; round++) {
    const order = boxes.toSorted((p, q) => p.x - p.width / 2 - (q.x - q.width / 2));
    let moved = false;
    for (const [i, box] of order.entries()) {
      for (let j = i + 1; j < order.length; j++) {
        const other = order[j];
        if (other === undefined || other.x - other.width / 2 >= box.x + box.width / 2) break;
        if (push(box, other)) moved = true;
      }
    }
    if (!moved) return;
  }
}

function push(a: Box, b: Box): boolean {
  const missingX = (a.width + b.width) / 2 - Math.abs(b.x - a.x);
  const missingY = (a.height + b.height) / 2 - Math.abs(b.y - a.y);
  if (missingX <= 1e-6 || missingY <= 1e-6) return false;
  // Measured in box sizes: in units, flat boxes would all end up in columns.
  if (missingX * (a.height + b.height) < missingY * (a.width + b.width)) {
    const by = ((missingX * SLACK) / 2) * (b.x < a.x ? -1 : 1);
    a.x -= by;
    b.x += by;
  } else {
    const by = ((missingY * SLACK) / 2) * (b.y < a.y ? -1 : 1);
    a.y -= by;
    b.y += by;
  }
  return true;
}
