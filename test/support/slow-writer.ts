/**
 * A writer thread of the log whose every write blocks the thread for half a second, as a very slow disk does, and for as
 * long as the file exists that SLOW_WRITER_HOLD names.
 */
import "../../src/log/writer-worker.ts";
import { existsSync } from "node:fs";
import { LogWriter, type WriteRequest } from "../../src/log/writer.ts";

const WRITE_MS = 500;
const hold = process.env.SLOW_WRITER_HOLD ?? "";

const write = LogWriter.prototype.write;
LogWriter.prototype.write = async function (this: LogWriter, request: WriteRequest): Promise<void> {
  Bun.sleepSync(WRITE_MS);
  while (existsSync(hold)) Bun.sleepSync(10);
  await write.call(this, request);
};
