/**
 * The positions that the browser keeps between visits, as one text: JSON with id, x, y and cluster of each device, flat.
 * The text may be from another version or damaged; then it counts as empty.
 */
import type { LayoutPosition } from "./incremental-layout.ts";

/** About 1 MB of text. The positions of a larger network are computed at each visit. */
const MAX_SAVED_DEVICES = 20_000;
const FIELDS = 4;

type SavedPosition = readonly [id: string, position: LayoutPosition | undefined];

export function savePositions(positions: readonly SavedPosition[]): string {
  if (positions.length > MAX_SAVED_DEVICES) return "";
  const flat = positions.flatMap(([id, position]) =>
    position ? [id, position.x, position.y, position.cluster] : [],
  );
  return JSON.stringify(flat);
}

export function parsePositions(text: string): Map<string, LayoutPosition> {
  const positions = new Map<string, LayoutPosition>();
  const flat = parseList(text);
  for (let i = 0; i + FIELDS <= flat.length; i += FIELDS) {
    const [id, x, y, cluster] = flat.slice(i, i + FIELDS);
    const isValid =
      typeof id === "string" && isNumber(x) && isNumber(y) && isNumber(cluster) && isIndex(cluster);
    if (!isValid || positions.size >= MAX_SAVED_DEVICES) return new Map();
    positions.set(id, { x, y, cluster });
  }
  return positions;
}

function parseList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

const isIndex = (value: number): boolean =>
  Number.isInteger(value) && value >= 0 && value < MAX_SAVED_DEVICES;
