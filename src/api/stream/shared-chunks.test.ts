import { expect, test } from "bun:test";
import { runToEnd } from "../../lib/steps.ts";
import { type ChunkOrOverflow, type ChunkPosition, SharedChunks, STATE_BYTES } from "./shared-chunks.ts";

/** A topic of two chunks, of which the first is at a position that holds a state. */
function topic(name: string, opened: string[]): ChunkPosition {
  function* chunks(from: number): Generator<ChunkOrOverflow | undefined, void, void> {
    if (from === 0) yield { bytes: new Uint8Array(10), next: position(1) };
    yield { bytes: new Uint8Array(10), next: position(2) };
  }
  const position = (from: number): ChunkPosition => ({
    key: `${name} ${from}`,
    revision: from,
    isPartial: false,
    bytes: from === 0 ? STATE_BYTES : 0,
    open: () => {
      opened.push(`${name} ${from}`);
      return chunks(from);
    },
  });
  return position(0);
}

const nextOf = (chunks: SharedChunks, position: ChunkPosition) => {
  const chunk = runToEnd(chunks.next(position));
  if (typeof chunk !== "object") throw new Error(`no chunk at ${position.key}`);
  return chunk;
};

test("the next chunk is rendered from where the last one ended, once for all streams", () => {
  const [chunks, opened]: [SharedChunks, string[]] = [new SharedChunks(), []];
  const start = topic("a", opened);
  const first = nextOf(chunks, start);
  expect(chunks.ready(start)).toBe(first);
  nextOf(chunks, first.next);
  nextOf(chunks, topic("a", opened));
  expect(opened).toEqual(["a 0"]);
  expect(chunks.rendered).toBe(2);
});

test("streams that nobody reads on are evicted by the size of the states that they hold", () => {
  const [chunks, opened]: [SharedChunks, string[]] = [new SharedChunks(), []];
  const abandoned = nextOf(chunks, topic("abandoned", opened)).next;
  for (let n = 0; n < 32; n++) nextOf(chunks, topic(`topic ${n}`, opened));
  opened.length = 0;
  nextOf(chunks, abandoned);
  expect(opened).toEqual(["abandoned 1"]);
});
