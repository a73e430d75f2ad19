/**
 * Counts the `data` lines of `text/event-stream` in chunks cut anywhere, without keeping any text: a snapshot of a large
 * network is one line. Comments such as `: ping` are not counted.
 */
const LF = 0x0a;
const CR = 0x0d;
const FIELD = new TextEncoder().encode("data:");

export class EventScanner {
  /** How much of `FIELD` the line has matched so far; negative when it is another line. */
  #matched = 0;

  /** The number of `data` lines that begin in this chunk. */
  push(chunk: Uint8Array): number {
    let lines = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === LF || byte === CR) {
        this.#matched = 0;
        continue;
      }
      if (this.#matched < 0) {
        at = endOfLine(chunk, at) - 1;
        continue;
      }
      this.#matched = byte === FIELD[this.#matched] ? this.#matched + 1 : -1;
      if (this.#matched === FIELD.length) {
        lines++;
        this.#matched = -1;
      }
    }
    return lines;
  }
}

function endOfLine(chunk: Uint8Array, from: number): number {
  const lf = chunk.indexOf(LF, from);
  const end = lf < 0 ? chunk.length : lf;
  const cr = chunk.subarray(from, end).indexOf(CR);
  return cr < 0 ? end : from + cr;
}
