/**
 * A server in a process that takes all file descriptors for something else: HTTP, or with the argument `openflow` an
 * OpenFlow controller. Prints the port, then each change of the state of the descriptors. On standard input: `take` opens
 * files until none can be opened, `give back` closes them, `stop` stops the controller and prints `stopped`.
 */
import { closeSync, openSync } from "node:fs";
import { HttpListener } from "../../src/http1/listener.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { createOpenflowSource } from "../../src/sources/openflow/openflow.ts";

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
const stop = new AbortController();

function startHttp(): void {
  const listener = new HttpListener(handler, LIMITS, systemClock, {
    onDescriptors: (state) => console.log(state),
  });
  console.log(listener.listen({ hostname: "127.0.0.1", port: 0, reusePort: false }).port);
  void listener.runTimeouts(stop.signal);
}

function startOpenflow(): void {
  const log = createLogger((line) => {
    const port = /openflow listening on \S+:(\d+)/.exec(line)?.[1];
    if (port !== undefined) console.log(port);
    else if (line.includes("too few file descriptors")) console.log("exhausted");
    else if (line.includes("enough file descriptors again")) console.log("enough");
  });
  const options = { name: "switches", listen: "127.0.0.1:0", forwarding: "bridge" as const };
  const source = createOpenflowSource(options, { clock: systemClock, log });
  const ignore = async () => {};
  void source
    .run({ replace: ignore, apply: ignore, markStale() {}, reject() {} }, stop.signal)
    .then(() => console.log("stopped"));
}

if (process.argv[2] === "openflow") startOpenflow();
else startHttp();

const taken: number[] = [];
function take(): void {
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {}
}

for await (const line of console) {
  if (line === "take") take();
  else if (line === "stop") stop.abort();
  else for (const descriptor of taken.splice(0)) closeSync(descriptor);
}
