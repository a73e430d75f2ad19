/** Where devices are, and the nearest places where another one fits without overlapping any of them. */
import { cellKey, type Point, type Size } from "../../layout/adjacency.ts";

const MAX_RINGS = 80;

export class FreeSpace {
  readonly #spacing: Size;
  readonly #cells = new Map<number, Point[]>();

  constructor(spacing: Size) {
    this.#spacing = spacing;
  }

  occupy(point: Point): void {
    const key = cellKey(this.#column(point.x), this.#row(point.y));
    const cell = this.#cells.get(key);
    if (cell) cell.push(point);
    else this.#cells.set(key, [point]);
  }

  /** At the same height, to the left or right. */
  findInRow({ x, y }: Point): Point {
    for (let step = 0; ; step++) {
      for (const side of step === 0 ? [0] : [1, -1]) {
        const point = { x: x + (side * step * this.#spacing.width) / 2, y };
        if (this.#isFree(point)) return point;
      }
    }
  }

  /** At or below the point, searched in growing rings. */
  findNear({ x, y }: Point): Point {
    for (let ring = 0; ring <= MAX_RINGS; ring++) {
      for (let down = 0; down <= ring; down++) {
        for (const across of down === ring ? columnsOf(ring) : [-ring, ring]) {
          const point = { x: x + across * this.#spacing.width, y: y + down * this.#spacing.height };
          if (this.#isFree(point)) return point;
        }
      }
    }
    return this.findInRow({ x, y });
  }

  #isFree({ x, y }: Point): boolean {
    const { width, height } = this.#spacing;
    for (let c = this.#column(x) - 1; c <= this.#column(x) + 1; c++) {
      for (let r = this.#row(y) - 1; r <= this.#row(y) + 1; r++) {
        for (const other of this.#cells.get(cellKey(c, r)) ?? []) {
          if (Math.abs(other.x - x) < width && Math.abs(other.y - y) < height) return false;
        }
      }
    }
    return true;
  }

  #column(x: number): number {
    return Math.floor(x / this.#spacing.width);
  }

  #row(y: number): number {
    return Math.floor(y / this.#spacing.height);
  }
}

const columnsOf = (ring: number): number[] => Array.from({ length: ring * 2 + 1 }, (_, i) => i - ring);
