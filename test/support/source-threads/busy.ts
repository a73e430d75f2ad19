/** The thread of a source that reports an empty set, then computes without end and never receives the stop. */
import type { ThreadReport } from "../../../src/sources/thread/protocol.ts";

declare const self: Worker;

self.onmessage = () => {
  send({ op: "stale", reason: "busy" });
  send({ op: "commit", mode: "replace" });
  while (true);
};

const send = (report: ThreadReport): void => self.postMessage(report);
