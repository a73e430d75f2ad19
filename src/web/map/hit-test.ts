/**
 * What is under the pointer. Worked out from positions, which costs microseconds: the renderer's own way is to draw
 * everything a second time in colours that stand for things and to wait for a pixel of that.
 */
import type { Name } from "./label-draw.ts";
import type { Projection } from "./projection.ts";
import { type Drawing, isHostNode } from "./render-graph.ts";

/** A little beside it is still meant. */
const NODE_SLACK_PX = 4;
const LINE_SLACK_PX = 5;
/** Cards are wider than high. */
const CARD_STRETCH = 1.4;

export interface Pointer {
  readonly x: number;
  readonly y: number;
}

/** The nearest node whose shape the pointer touches; every node drawn has a name. */
export function nodeAt(
  names: readonly Name[],
  projection: Projection,
  { x, y }: Pointer,
): string | undefined {
  let [found, nearest]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const name of names) {
    const [dx, dy] = [Math.abs(projection.x(name.x) - x), Math.abs(projection.y(name.y) - y)];
    const reach = projection.radius * name.size + NODE_SLACK_PX;
    const across = name.inside ? reach * CARD_STRETCH : reach;
    const away = Math.hypot(dx, dy);
    if (dx > across || dy > reach || away >= nearest) continue;
    [found, nearest] = [name.node, away];
  }
  return found;
}

export function lineAt(drawing: Drawing, projection: Projection, pointer: Pointer): string | undefined {
  let [found, nearest]: [string | undefined, number] = [undefined, LINE_SLACK_PX];
  drawing.forEachEdge((line, { offset }, _from, _to, from, to) => {
    if (isHostNode(line)) return;
    const a = { x: projection.x(from.x), y: projection.y(from.y) };
    const b = { x: projection.x(to.x), y: projection.y(to.y) };
    const away = distanceToSegment(pointer, a, b, offset);
    if (away >= nearest) return;
    [found, nearest] = [line, away];
  });
  return found;
}

/** `offset` pixels beside the straight line, as parallel cables are drawn. */
function distanceToSegment(p: Pointer, a: Pointer, b: Pointer, offset: number): number {
  const [wayX, wayY] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(wayX, wayY) || 1;
  // The screen's y runs downwards, the renderer's upwards: the normal is the other way round.
  const [sideX, sideY] = [(wayY / length) * offset, (-wayX / length) * offset];
  const [dx, dy] = [p.x - a.x - sideX, p.y - a.y - sideY];
  const along = Math.min(1, Math.max(0, (dx * wayX + dy * wayY) / (length * length)));
  return Math.hypot(dx - along * wayX, dy - along * wayY);
}
