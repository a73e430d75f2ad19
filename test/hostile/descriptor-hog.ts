/**
 * A server in a process that takes all file descriptors for something else. Prints the port, then each change of the state
 * of the descriptors. On standard input: `take` opens files until none can be opened, `give back` closes them.
 */
import { closeSync, openSync } from "node:fs";
import { HttpListener } from "../../src/http1/listener.ts";
import { systemClock } from "../../src/lib/clock.ts";

const RESPONSE = { status: 200, headers: { Connection: "close" }, body: "here" };
const LIMITS = {
  maxUrlBytes: 100,
  maxHeadBytes: 1000,
  maxConnections: 1000,
  maxAnonymousConnections: 500,
  minReadBytesPerSecond: 0,
  idleTimeoutMs: 60_000,
  headTimeoutMs: 1000,
  lingerTimeoutMs: 1000,
};
const handler = { handle: () => RESPONSE, onParseError: () => RESPONSE, onError: () => RESPONSE };
const listener = new HttpListener(handler, LIMITS, systemClock, {
  onDescriptors: (state) => console.log(state),
});
console.log(listener.listen({ hostname: "127.0.0.1", port: 0, reusePort: false }).port);
void listener.runTimeouts(new AbortController().signal);

const taken: number[] = [];
function take(): void {
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {}
}

for await (const line of console) {
  if (line === "take") take();
  else for (const descriptor of taken.splice(0)) closeSync(descriptor);
}
