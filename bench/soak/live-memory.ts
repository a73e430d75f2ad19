/**
 * Loaded into the service before its own code (`--preload`): on SIGUSR2 it collects garbage completely and prints how much
 * is left. What is resident depends on when the runtime happens to collect and to return memory; this does not.
 */
import { heapStats } from "bun:jsc";

process.on("SIGUSR2", () => {
  Bun.gc(true);
  // With the buffers, which are outside of the heap.
  console.log(`live ${heapStats().heapSize}`);
});
