/**
 * Bends the earth so that places lie where the map has them. The layout narrows wide gaps, stretches the axes and moves
 * overlapping sites apart, so no projection fits. Here each axis has one scale, and what remains of each control point is
 * spread around it by a spline whose kernel is the distance: it meets every control point and bends little elsewhere. Two
 * others lost: a scale for each gap of an axis turns coasts into rectangles, and a thin plate folds beside crowded sites.
 *
 * Where the layout has changed the order of sites, a sheet that meets all of them is folded, and its coasts cannot be
 * recognised. Then the spline is smoothed, no more than needed, and passes such sites at a distance.
 */
import type { Point } from "../../layout/adjacency.ts";
import { solveLinear } from "./solve-linear.ts";

export interface ControlPoint {
  /** Degrees of longitude and projected latitude, y downwards. */
  readonly location: Point;
  /** On the map, y downwards. */
  readonly position: Point;
}

export interface RubberSheet {
  at(location: Point): Point;
}

/** The largest ratio between the scales of the axes. That of the layout is 2, before it moves sites apart. */
const MAX_STRETCH = 2.5;
/** Of the spline, relative to the width of the map, in the order in which they are tried. */
const SMOOTHINGS = [0, 0.01, 0.03, 0.1, 0.3, 1, 3];
/** The share of the area between the sites that may be folded. A few cells beside a crowded site are not noticed. */
const MAX_FOLDED = 0.01;
const GRID = 64;

/** Undefined for fewer than two control points, or when all are at one place. The same points give the same sheet. */
export function createRubberSheet(controls: readonly ControlPoint[]): RubberSheet | undefined {
  const base = createBase(controls);
  if (!base) return undefined;
  const system = splineSystem(controls, base);
  let sheet: RubberSheet | undefined;
  for (const smoothing of SMOOTHINGS) {
    sheet = fitSpline(system, base, smoothing) ?? sheet;
    if (sheet && foldedShare(sheet, controls) <= MAX_FOLDED) return sheet;
  }
  return sheet;
}

/** Each axis with one scale: by least squares, with the axis of the larger spread as the measure for the other. */
function createBase(controls: readonly ControlPoint[]): ((location: Point) => Point) | undefined {
  const x = fitAxis(controls.map(({ location, position }) => [location.x, position.x]));
  const y = fitAxis(controls.map(({ location, position }) => [location.y, position.y]));
  const [wider, narrower] = x.spread >= y.spread ? [x, y] : [y, x];
  if (wider.spread === 0 || !(wider.scale > 0)) return undefined;
  const limited = Math.min(Math.max(narrower.scale, wider.scale / MAX_STRETCH), wider.scale * MAX_STRETCH);
  const narrowerScale = narrower.spread > 0 ? limited : wider.scale;
  const [scaleX, scaleY] = wider === x ? [wider.scale, narrowerScale] : [narrowerScale, wider.scale];
  return (location) => ({
    x: x.position + (location.x - x.location) * scaleX,
    y: y.position + (location.y - y.location) * scaleY,
  });
}

/** The means, the sum of squares of the locations, and the slope of the line through the pairs. */
function fitAxis(pairs: readonly (readonly [location: number, position: number])[]) {
  const location = pairs.reduce((sum, [value]) => sum + value, 0) / pairs.length;
  const position = pairs.reduce((sum, [, value]) => sum + value, 0) / pairs.length;
  let [spread, product] = [0, 0];
  for (const [from, to] of pairs) {
    spread += (from - location) ** 2;
    product += (from - location) * (to - position);
  }
  return { location, position, spread, scale: spread > 0 ? product / spread : 0 };
}

interface SplineSystem {
  /** The control points after the scales: x and y, flat. */
  readonly points: Float64Array;
  /** What the spline adds at each. */
  readonly offsets: Float64Array;
  /** The extent of the points; distances are relative to it. */
  readonly unit: number;
}

function splineSystem(controls: readonly ControlPoint[], base: (location: Point) => Point): SplineSystem {
  const points = new Float64Array(controls.length * 2);
  const offsets = new Float64Array(controls.length * 2);
  let unit = 1e-9;
  for (const [i, { location, position }] of controls.entries()) {
    const { x, y } = base(location);
    points.set([x, y], i * 2);
    offsets.set([position.x - x, position.y - y], i * 2);
    unit = Math.max(unit, Math.hypot(x - (points[0] ?? 0), y - (points[1] ?? 0)));
  }
  return { points, offsets, unit };
}

/** A constant and a weight for each control point; the weights sum to zero, so that the earth far away is not bent. */
function fitSpline(
  { points, offsets, unit }: SplineSystem,
  base: (location: Point) => Point,
  smoothing: number,
): RubberSheet | undefined {
  const count = points.length / 2;
  const rows = Array.from({ length: count + 1 }, () => new Float64Array(count + 3));
  for (let i = 0; i < count; i++) {
    const row = rows[i];
    for (let j = 0; j < count && row; j++)
      row[j] = i === j ? -smoothing : distance(points, i, points, j) / unit;
    row?.set([1, offsets[i * 2] ?? 0, offsets[i * 2 + 1] ?? 0], count);
    rows[count]?.fill(1, i, i + 1);
  }
  const weights = solveLinear({ rows });
  if (!weights) return undefined;
  return {
    at(location) {
      const from = base(location);
      let x = from.x + (weights[count * 2] ?? 0);
      let y = from.y + (weights[count * 2 + 1] ?? 0);
      for (let i = 0; i < count; i++) {
        const [dx, dy] = [from.x - (points[i * 2] ?? 0), from.y - (points[i * 2 + 1] ?? 0)];
        const kernel = Math.sqrt(dx * dx + dy * dy) / unit;
        x += kernel * (weights[i * 2] ?? 0);
        y += kernel * (weights[i * 2 + 1] ?? 0);
      }
      return { x, y };
    },
  };
}

const distance = (a: Float64Array, i: number, b: Float64Array, j: number): number =>
  Math.hypot((a[i * 2] ?? 0) - (b[j * 2] ?? 0), (a[i * 2 + 1] ?? 0) - (b[j * 2 + 1] ?? 0));

/** The share of the cells of a grid over the control points that the sheet shows from behind. */
export function foldedShare(sheet: RubberSheet, controls: readonly ControlPoint[]): number {
  const xs = controls.map(({ location }) => location.x);
  const ys = controls.map(({ location }) => location.y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - top];
  if (width === 0 || height === 0) return 0;
  const rowAt = (j: number) =>
    Array.from({ length: GRID + 1 }, (_, i) =>
      sheet.at({ x: left + (width * i) / GRID, y: top + (height * j) / GRID }),
    );
  let folded = 0;
  let upper = rowAt(0);
  for (let j = 1; j <= GRID; j++) {
    const lower = rowAt(j);
    for (let i = 0; i < GRID; i++) {
      const [a, b, c] = [upper[i], upper[i + 1], lower[i]];
      if (a && b && c && (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) <= 0) folded++;
    }
    upper = lower;
  }
  return folded / GRID ** 2;
}
