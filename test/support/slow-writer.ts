/** A writer thread of the log whose every write blocks the thread for half a second, as a very slow disk does. */
import "../../src/log/writer-worker.ts";
import { LogWriter, type WriteRequest } from "../../src/log/writer.ts";

const WRITE_MS = 500;

const write = LogWriter.prototype.write;
LogWriter.prototype.write = async function (this: LogWriter, request: WriteRequest): Promise<void> {
  Bun.sleepSync(WRITE_MS);
  await write.call(this, request);
};
