/**
 * Runs one source, outside of a service, until its standard input ends: `run-once.ts ENTRY threaded|unthreaded`. Prints
 * `synced` after the first set and `ended` after the stop. Then the process must end by itself: whatever the source has
 * left running (a timer, a socket, a process, a thread) keeps it alive.
 */
import { systemClock } from "../../../src/lib/clock.ts";
import { silentLogger } from "../../../src/lib/logger.ts";
import { createSource, createUnthreadedSource } from "../../../src/sources/registry.ts";
import { MemorySink } from "../../support/memory-sink.ts";

const [entry = "", mode] = process.argv.slice(2);
const create = mode === "threaded" ? createSource : createUnthreadedSource;
const created = create(JSON.parse(entry), { clock: systemClock, log: silentLogger });
if (!created.ok) throw new Error(JSON.stringify(created.faults));

class PrintingSink extends MemorySink {
  override async replace(...[all]: Parameters<MemorySink["replace"]>): Promise<void> {
    await super.replace(all);
    console.log("synced");
  }
}

const abort = new AbortController();
const ended = created.source.run(new PrintingSink(), abort.signal);
await Bun.stdin.text();
abort.abort();
await ended;
console.log("ended");
