/** Input of names and passwords: one line of standard input, or lines typed on a terminal. */
import { CommandFailure, type Context, type Input, usageFailure } from "./command.ts";
import { escapeControlCharacters } from "./table.ts";

const MAX_LINE_CHARACTERS = 4096;

/** The first line of standard input, without its line end. */
export async function readLine(stdin: Input): Promise<string> {
  let text = "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const chunk of stdin.stream()) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes("\n") || text.length > MAX_LINE_CHARACTERS) break;
    }
  } catch {
    throw usageFailure("standard input is not UTF-8");
  }
  const [line = ""] = text.split("\n");
  if (line.length > MAX_LINE_CHARACTERS) throw usageFailure(`longer than ${MAX_LINE_CHARACTERS} characters`);
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

export interface Prompt {
  readonly text: string;
  /** Whether the typed text is shown; default false. */
  readonly echo?: boolean;
}

/** The typed characters, shared by all prompts of the process: a second reader would miss what the first read ahead. */
let typed: AsyncGenerator<string, void, void> | undefined;

/**
 * Reads one line for each prompt. Backspace and Ctrl-U edit a line; Ctrl-C, Ctrl-D and the end of the input cancel.
 * The terminal is in raw mode from before the first prompt until after the last line: in any gap it would echo the
 * input, and Ctrl-C would end the process with a signal.
 */
export async function promptLines(
  prompts: readonly Prompt[],
  { err: write }: Pick<Context, "err">,
): Promise<string[]> {
  const { stdin } = process;
  stdin.setRawMode(true);
  typed ??= characters(stdin);
  try {
    const lines: string[] = [];
    for (const { text, echo = false } of prompts) {
      await write(text);
      const show = (line: string) => write(`\r\u001b[K${text}${escapeControlCharacters(line)}`);
      const line = await editLine(typed, echo ? show : async () => {});
      await write("\n"); // the Enter key was not echoed either
      if (line === undefined) throw new CommandFailure("nothing was changed");
      lines.push(line);
    }
    return lines;
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
  }
}

async function* characters(stdin: typeof process.stdin): AsyncGenerator<string, void, void> {
  stdin.setEncoding("utf8");
  for await (const chunk of stdin) yield* String(chunk);
}

/** Returns undefined when the input is cancelled. Characters after the line stay in `typed`. `show` shows each edit. */
async function editLine(
  typed: AsyncGenerator<string, void, void>,
  show: (line: string) => Promise<void>,
): Promise<string | undefined> {
  let line: string[] = [];
  for (;;) {
    const { value: character } = await typed.next();
    if (character === undefined || character === "\u0003" || character === "\u0004") return undefined;
    if (character === "\r" || character === "\n") return line.join("");
    if (character === "\u007f" || character === "\b") line.pop();
    else if (character === "\u0015") line = [];
    else if (line.length < MAX_LINE_CHARACTERS) line.push(character);
    await show(line.join(""));
  }
}
