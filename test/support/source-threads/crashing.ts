/** The thread of a source that logs a line, reports one device, then fails outside of its `run`. */
import type { ThreadReport, ThreadRequest } from "../../../src/sources/thread/protocol.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<ThreadRequest>) => {
  if (data.op === "committed") {
    queueMicrotask(() => {
      throw new Error("out of range");
    });
  }
  if (data.op !== "run") return;
  send({ op: "log", level: "warn", event: "peer-slow", fields: { peer: "10.0.0.1" } });
  send({ op: "set", kind: "devices", json: new TextEncoder().encode('[{"id":"of:1"}]') });
  send({ op: "commit", mode: "replace" });
};

const send = (report: ThreadReport): void => self.postMessage(report);
