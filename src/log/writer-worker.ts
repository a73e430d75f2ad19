/** The writer thread of the log: the other end of `writer-thread.ts`. */
import type { Database } from "bun:sqlite";
import { serveRequests } from "../lib/request-worker.ts";
import type { LogStats } from "./log.ts";
import { openWriterConnection } from "./log-file.ts";
import { LogWriter } from "./writer.ts";
import type { OpenRequest, WriterOperations } from "./writer-thread.ts";

let toOpen: OpenRequest;
let opened: { readonly db: Database; readonly writer: LogWriter } | undefined;
const inFlight = new Set<Promise<void>>();

const sendStats = serveRequests<WriterOperations, LogStats>({
  open(request) {
    toOpen = request;
  },
  async write(request) {
    // When opening fails, the next request tries again.
    opened ??= open();
    const writing = opened.writer.write(request);
    inFlight.add(writing);
    try {
      await writing;
    } finally {
      inFlight.delete(writing);
    }
  },
  async close() {
    await Promise.allSettled(inFlight);
    // The last connection to close writes the WAL to the file and deletes it.
    opened?.db.close();
  },
});

function open(): NonNullable<typeof opened> {
  const db = openWriterConnection(toOpen.path);
  return { db, writer: new LogWriter(db, sendStats, toOpen.stats) };
}
