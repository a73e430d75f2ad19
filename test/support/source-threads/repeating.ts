/** The thread of a source that reports its last claims again, as a source does whose peer is silent after a restart. */
import type { BatchReport, ThreadReport, ThreadRequest } from "../../../src/sources/thread/protocol.ts";

declare const self: Worker;

const batches: BatchReport[] = [];
self.onmessage = ({ data }: MessageEvent<ThreadRequest>) => {
  if (data.op === "run") send(data.hasLastClaims ? { op: "lastClaims" } : { op: "ended" });
  else if (data.op === "set") batches.push(data);
  else if (data.op === "lastClaims") {
    if (data.error) return send({ op: "ended", error: data.error });
    batches.forEach(send);
    send({ op: "commit", mode: "replace" });
  } else if (data.op === "committed") send({ op: "ended" });
};

const send = (report: ThreadReport): void => self.postMessage(report);
