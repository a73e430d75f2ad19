/** JSON lines: one JSON value per line, the format of messages between processes over a pipe. */

/** Length in UTF-16 units. The limit prevents an endless line from using all memory. */
const MAX_LINE_LENGTH = 64 * 1024 * 1024;

/** Yields each value when its line is complete and ignores an incomplete last line. Throws on a line that is not JSON. */
export async function* jsonLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void, void> {
  for await (const line of completeLines(bytes)) yield JSON.parse(line);
}

/** Yields each line when it is complete, without its end, and ignores an incomplete last line. Throws on an endless one. */
export async function* completeLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let line = "";
  for await (const chunk of bytes) {
    line += decoder.decode(chunk, { stream: true });
    const lines = line.split("\n");
    line = lines.pop() ?? "";
    yield* lines;
    if (line.length > MAX_LINE_LENGTH) throw new Error(`a line is longer than ${MAX_LINE_LENGTH} characters`);
  }
}

export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`;
