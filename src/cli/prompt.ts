/** Reading what a person or a script says on standard input: one line, shown or not. */
import { CommandFailure, usageFailure } from "./failure.ts";

const MOST_LINE_CHARACTERS = 4096;

/** The first line of standard input, without its end. */
export async function readLine(): Promise<string> {
  let text = "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const chunk of Bun.stdin.stream()) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes("\n") || text.length > MOST_LINE_CHARACTERS) break;
    }
  } catch {
    throw usageFailure("standard input is not UTF-8");
  }
  const [line = ""] = text.split("\n");
  if (line.length > MOST_LINE_CHARACTERS)
    throw usageFailure(`longer than ${MOST_LINE_CHARACTERS} characters`);
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** A line typed on a terminal without appearing there. Backspace and Ctrl-U mend it, Ctrl-C and Ctrl-D end it all. */
export async function readHidden(): Promise<string> {
  const { stdin } = process;
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.resume();
  try {
    return await new Promise((resolve, reject) => {
      let typed: string[] = [];
      const listen = (chunk: string) => {
        for (const letter of chunk) {
          if (letter === "\r" || letter === "\n") return settle(() => resolve(typed.join("")));
          if (letter === "\u0003" || letter === "\u0004") {
            return settle(() => reject(new CommandFailure("nothing was changed")));
          }
          if (letter === "\u007f" || letter === "\b") typed.pop();
          else if (letter === "\u0015") typed = [];
          else if (typed.length < MOST_LINE_CHARACTERS) typed.push(letter);
        }
      };
      const settle = (how: () => void) => {
        stdin.off("data", listen);
        how();
      };
      stdin.on("data", listen);
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
  }
}
