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

let toOpen: WriterMessage & { op: "open" };
let opened: { readonly db: Database; readonly writer: LogWriter } | undefined;
const inFlight = new Set<Promise<void>>();

function open(): NonNullable<typeof opened> {
  const db = openWriterConnection(toOpen.path);
  return { db, writer: new LogWriter(db, (stats) => reply({ type: "stats", stats }), toOpen.stats) };
}

async function write({ n, request }: WriterMessage & { op: "write" }): Promise<void> {
  try {
    // Tried again by the next request when it fails.
    opened ??= open();
    await opened.writer.write(request);
    reply({ type: "done", n });
  } catch (error) {
    reply({ type: "failed", n, reason: errorMessage(error) });
  }
}

async function close(): Promise<void> {
  await Promise.all(inFlight);
  // The last connection to close writes the WAL to the file and deletes it.
  opened?.db.close();
  reply({ type: "closed" });
}

self.onmessage = ({ data }: MessageEvent<WriterMessage>) => {
  if (data.op === "open") toOpen = data;
  else if (data.op === "close") close();
  else {
    const writing = write(data);
    inFlight.add(writing);
    writing.finally(() => inFlight.delete(writing));
  }
};
