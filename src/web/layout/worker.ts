/** The layout worker: computes positions outside the main thread, so that a large layout does not block the page. */
import { type LayoutPosition, updateLayout } from "./incremental-layout.ts";
import type { LayoutRequest, LayoutResponse } from "./messages.ts";

const previous = new Map<string, LayoutPosition>();

addEventListener("message", (event: MessageEvent<LayoutRequest>) => {
  const { sequence, nodes, edges } = event.data;
  const neighbours: number[][] = nodes.map(() => []);
  for (let i = 0; i < edges.length; i += 2) {
    const [a, b] = [edges[i] ?? 0, edges[i + 1] ?? 0];
    neighbours[a]?.push(b);
    neighbours[b]?.push(a);
  }
  const { positions, clusterOf } = updateLayout({ nodes, neighbours }, previous);
  const response: LayoutResponse = { sequence, positions, clusterOf };
  postMessage(response);
});
