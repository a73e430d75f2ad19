/**
 * Reads `text/event-stream` as the HTML standard defines it, from bytes cut anywhere. `EventSource` itself lost: it
 * cannot send credentials, hides status codes and error bodies, and reads ahead without bound.
 *
 * Lines and records are capped, because the peer may be anything that answered on that port.
 */
import { localError } from "./client-error.ts";

export interface EventRecord {
  /** "message" where the stream names none. */
  readonly event: string;
  readonly data: string;
  /** The id in force when the record ended: its own, or that of the last record that had one. */
  readonly lastEventId: string;
}

/** In UTF-16 units. The largest entity that the service takes in, every character escaped, fits. */
const MAX_RECORD = 64 * 1024 * 1024;
const LINE_END = /[\r\n]/g;

export class EventStreamParser {
  readonly #decoder = new TextDecoder();
  readonly #mostRecord: number;
  /** Pieces of the line that has not ended yet: joined once, however many chunks it comes in. */
  #line: string[] = [];
  #lineLength = 0;
  #afterCarriageReturn = false;
  #data: string[] = [];
  #dataLength = 0;
  #event = "";
  /** The id of the record being read: in force when that ends, and lost when the connection is cut before. */
  #id = "";
  #lastEventId = "";
  #retryMs: number | undefined;

  constructor(mostRecord = MAX_RECORD) {
    this.#mostRecord = mostRecord;
  }

  /** Also moved by records without data, which are not given out. */
  get lastEventId(): string {
    return this.#lastEventId;
  }

  /** What the stream last asked for with `retry`. */
  get retryMs(): number | undefined {
    return this.#retryMs;
  }

  /** The records that end in this chunk. Nothing marks the end of a stream: a record cut short is void. */
  push(chunk: Uint8Array): EventRecord[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    const records: EventRecord[] = [];
    let from = 0;
    if (this.#afterCarriageReturn && text !== "") {
      this.#afterCarriageReturn = false;
      if (text.startsWith("\n")) from = 1;
    }
    while (from < text.length) {
      const end = lineEnd(text, from);
      if (end < 0) break;
      this.#hold(text.slice(from, end));
      const record = this.#endLine();
      if (record) records.push(record);
      from = end + 1;
      if (text[end] !== "\r") continue;
      if (from === text.length) this.#afterCarriageReturn = true;
      else if (text[from] === "\n") from++;
    }
    if (from < text.length) this.#hold(text.slice(from));
    return records;
  }

  #hold(piece: string): void {
    this.#line.push(piece);
    this.#lineLength += piece.length;
    if (this.#lineLength + this.#dataLength > this.#mostRecord) {
      throw localError("protocol", `the stream has a record of more than ${this.#mostRecord} characters`);
    }
  }

  #endLine(): EventRecord | undefined {
    const line = this.#line.length === 1 ? (this.#line[0] ?? "") : this.#line.join("");
    this.#line = [];
    this.#lineLength = 0;
    if (line === "") return this.#endRecord();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined; // a comment
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    this.#field(name, value);
    return undefined;
  }

  #field(name: string, value: string): void {
    switch (name) {
      case "data":
        this.#data.push(value);
        this.#dataLength += value.length + 1;
        return;
      case "event":
        this.#event = value;
        return;
      case "id":
        if (!value.includes("\0")) this.#id = value;
        return;
      case "retry":
        if (/^\d+$/.test(value)) this.#retryMs = Number(value);
    }
  }

  #endRecord(): EventRecord | undefined {
    this.#lastEventId = this.#id;
    const [event, data] = [this.#event || "message", this.#data];
    this.#event = "";
    this.#data = [];
    this.#dataLength = 0;
    return data.length === 0 ? undefined : { event, data: data.join("\n"), lastEventId: this.#lastEventId };
  }
}

/** The next CR or LF at or after `from`, or -1: one pass, where two `indexOf` would each run on to the chunk's end. */
function lineEnd(text: string, from: number): number {
  LINE_END.lastIndex = from;
  return LINE_END.exec(text)?.index ?? -1;
}
