/**
 * The writer thread of the log: the other end of `writer-thread.ts`. Requests are handled in the order they arrive. A
 * request that fails is reported; a fault outside of a request ends the thread.
 */
import type { Database } from "bun:sqlite";
import { errorMessage } from "../lib/error-message.ts";
import { openWriterConnection } from "./log-file.ts";
import { LogWriter } from "./writer.ts";
import type { WriterMessage, WriterReply } from "./writer-thread.ts";

declare const self: Worker;

const reply = (message: WriterReply): void => self.postMessage(message);

/** The error of the open is reported by each request: the thread that starts it does not wait for the open. */
let opened: { readonly db: Database; readonly writer: LogWriter } | { readonly error: unknown };
const inFlight = new Set<Promise<void>>();

function open(path: string, stats: (WriterMessage & { op: "open" })["stats"]): typeof opened {
  try {
    const db = openWriterConnection(path);
    return { db, writer: new LogWriter(db, (changed) => reply({ type: "stats", stats: changed }), stats) };
  } catch (error) {
    return { error };
  }
}

async function write({ n, request }: WriterMessage & { op: "write" }): Promise<void> {
  try {
    if ("error" in opened) throw opened.error;
    await opened.writer.write(request);
    reply({ type: "done", n });
  } catch (error) {
    reply({ type: "failed", n, reason: errorMessage(error) });
  }
}

async function close(): Promise<void> {
  await Promise.all(inFlight);
  // The last connection to close writes the WAL to the file and deletes it.
  if ("db" in opened) opened.db.close();
  reply({ type: "closed" });
  self.onmessage = null;
}

self.onmessage = ({ data }: MessageEvent<WriterMessage>) => {
  switch (data.op) {
    case "open":
      opened = open(data.path, data.stats);
      break;
    case "write": {
      const writing = write(data);
      inFlight.add(writing);
      writing.finally(() => inFlight.delete(writing));
      break;
    }
    case "close":
      close();
  }
};
