/** A writer thread of the log that ends before or after it has written a batch, as the time of the batch says. */
import "../../src/log/writer-worker.ts";
import { LogWriter, type WriteRequest } from "../../src/log/writer.ts";

const CRASH_BEFORE_WRITE = 1;
const CRASH_AFTER_WRITE = 2;

const write = LogWriter.prototype.write;
LogWriter.prototype.write = async function (this: LogWriter, request: WriteRequest): Promise<void> {
  const time = request.op === "append" ? request.batches.at(-1)?.time : undefined;
  if (time !== CRASH_BEFORE_WRITE) await write.call(this, request);
  if (time === CRASH_BEFORE_WRITE || time === CRASH_AFTER_WRITE) {
    setImmediate(() => {
      throw new Error("the writer crashed");
    });
    // Never answered.
    await new Promise(() => {});
  }
};
