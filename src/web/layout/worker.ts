/** Lays out the map away from the page's own thread, so that the page never waits for a picture. */
import { rearrange, type Spot } from "./incremental-layout.ts";
import type { LayoutAnswer, LayoutRequest } from "./messages.ts";

const kept = new Map<string, Spot>();

addEventListener("message", (event: MessageEvent<LayoutRequest>) => {
  const { sequence, nodes, edges } = event.data;
  const neighbours: number[][] = nodes.map(() => []);
  for (let i = 0; i < edges.length; i += 2) {
    const [a, b] = [edges[i] ?? 0, edges[i + 1] ?? 0];
    neighbours[a]?.push(b);
    neighbours[b]?.push(a);
  }
  const { positions, blockOf } = rearrange({ nodes, neighbours }, kept);
  const answer: LayoutAnswer = { sequence, positions, blockOf };
  postMessage(answer);
});
