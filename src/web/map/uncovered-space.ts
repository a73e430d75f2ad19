/**
 * The parts of the map that no element covers, in pixels of the map. Tools, boxes and notes that cover the map have the
 * attribute `data-covers-map` and are measured here, so that no other file depends on their positions.
 *
 * Fitted content is in the middle of the whole map unless one of these elements would cover it there.
 */
import type { Size } from "../../layout/adjacency.ts";

/** A rectangle in pixels; y points downwards. */
export interface PixelArea {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The area in whose middle content is shown, and the scale in pixels per map unit. */
export interface Fit {
  readonly area: PixelArea;
  readonly scale: number;
}

/** The space between fitted content and the edge of its area. */
const PADDING_PX = 24;
/** The minimum side of an area. If all uncovered areas are smaller, the whole map is used. */
const MIN_SIDE_PX = 96;

export class UncoveredSpace {
  readonly width: number;
  readonly height: number;
  /** The middle of the map in pixels of the page, and the size of the page. */
  readonly middle: { readonly x: number; readonly y: number };
  readonly page: Size;
  readonly #covered: readonly PixelArea[];
  /** The areas that no element covers. */
  readonly #areas: readonly PixelArea[];

  constructor(
    { width, height }: Size,
    covered: readonly PixelArea[],
    place = { left: 0, top: 0, page: { width: 0, height: 0 } },
  ) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.middle = { x: place.left + this.width / 2, y: place.top + this.height / 2 };
    this.page = place.page;
    this.#covered = covered;
    this.#areas = covered.length === 0 ? [] : freeAreas(this.whole, covered);
  }

  /** Whether the map has the same place and size on the page. */
  isSameAs({ width, height, middle }: UncoveredSpace): boolean {
    const isSameSize = width === this.width && height === this.height;
    return isSameSize && middle.x === this.middle.x && middle.y === this.middle.y;
  }

  get whole(): PixelArea {
    return { left: 0, top: 0, right: this.width, bottom: this.height };
  }

  /** The area and the largest scale, at most `maxScale`, at which content of a size in map units fits. */
  fit(size: Size, maxScale: number): Fit {
    const fitIn = (area: PixelArea): Fit => ({
      area,
      scale: Math.min(
        Math.max(1, area.right - area.left - 2 * PADDING_PX) / Math.max(size.width, 1e-6),
        Math.max(1, area.bottom - area.top - 2 * PADDING_PX) / Math.max(size.height, 1e-6),
        maxScale,
      ),
    });
    const whole = fitIn(this.whole);
    const shown = shownArea(whole, size);
    if (!this.#covered.some((area) => overlap(area, shown))) return whole;
    const isBetter = (p: Fit, q: Fit) =>
      p.scale > q.scale || (p.scale === q.scale && sizeOf(p.area) > sizeOf(q.area));
    const [first = whole, ...others] = this.#areas.map(fitIn);
    return others.reduce((best, next) => (isBetter(next, best) ? next : best), first);
  }
}

/**
 * Measures the uncovered space of the map. Undefined while the map is not shown. `whole` leaves out what disappears when
 * the whole network is in view.
 */
export function measureUncovered(element: HTMLElement, whole = false): UncoveredSpace | undefined {
  const { clientWidth: width, clientHeight: height } = element;
  if (width === 0 || height === 0) return undefined;
  const map = element.getBoundingClientRect();
  const covered = [
    ...document.querySelectorAll(`[data-covers-map]${whole ? ':not([data-covers-map="part"])' : ""}`),
  ].flatMap((cover) => {
    const { left, top, right, bottom } = cover.getBoundingClientRect();
    const area = {
      left: Math.max(0, left - map.left),
      top: Math.max(0, top - map.top),
      right: Math.min(width, right - map.left),
      bottom: Math.min(height, bottom - map.top),
    };
    return area.left < area.right && area.top < area.bottom ? [area] : [];
  });
  const page = { width: innerWidth, height: innerHeight };
  return new UncoveredSpace({ width, height }, covered, { left: map.left, top: map.top, page });
}

/**
 * The uncovered areas. Each side of a maximal free area is an edge of the map or of a covering element. There are few of
 * these, so all combinations are tried.
 */
function freeAreas(whole: PixelArea, covered: readonly PixelArea[]): PixelArea[] {
  const areas: PixelArea[] = [];
  for (const left of [whole.left, ...covered.map((area) => area.right)])
    for (const right of [whole.right, ...covered.map((area) => area.left)])
      for (const top of [whole.top, ...covered.map((area) => area.bottom)])
        for (const bottom of [whole.bottom, ...covered.map((area) => area.top)]) {
          const area = { left, top, right, bottom };
          if (right - left < MIN_SIDE_PX || bottom - top < MIN_SIDE_PX) continue;
          if (!covered.some((other) => overlap(area, other))) areas.push(area);
        }
  return areas;
}

function shownArea({ area, scale }: Fit, { width, height }: Size): PixelArea {
  const [x, y] = [(area.left + area.right) / 2, (area.top + area.bottom) / 2];
  const [dx, dy] = [(width * scale) / 2, (height * scale) / 2];
  return { left: x - dx, right: x + dx, top: y - dy, bottom: y + dy };
}

const sizeOf = ({ left, top, right, bottom }: PixelArea): number => (right - left) * (bottom - top);

const overlap = (p: PixelArea, q: PixelArea): boolean =>
  p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom;
