/** One JSON value a line, as processes tell each other things over a pipe. */

/** In UTF-16 units: a line that goes on for ever must not take all memory with it. */
const MAX_LINE_LENGTH = 64 * 1024 * 1024;

/** Each value as its line ends; what comes after the last line's end is void. Throws for a line that is no JSON. */
export async function* jsonLines(bytes: ReadableStream<Uint8Array>): AsyncGenerator<unknown, void, void> {
  const decoder = new TextDecoder();
  let line = "";
  for await (const chunk of bytes) {
    line += decoder.decode(chunk, { stream: true });
    const lines = line.split("\n");
    line = lines.pop() ?? "";
    for (const whole of lines) yield JSON.parse(whole);
    if (line.length > MAX_LINE_LENGTH) throw new Error(`a line is longer than ${MAX_LINE_LENGTH} characters`);
  }
}

export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`;
