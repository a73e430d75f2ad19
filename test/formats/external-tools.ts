/** Programs of other people that read our formats: each gets a text on standard input and answers on standard output. */
import { needs } from "../support/needs.ts";

export interface Answer {
  readonly ok: boolean;
  readonly out: string;
  readonly errors: string;
}

export function ask(command: string[], input: string): Answer {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdin: Buffer.from(input), timeout: 60_000 });
  return { ok: exitCode === 0, out: stdout.toString(), errors: stderr.toString() };
}

/** Debian's Python, which has Debian's packages, before whichever other is on the path. */
const PYTHONS = ["/usr/bin/python3", "python3"];

/** A Python that has the module; where there is none, as loud as `needs`. */
export function pythonWith(module: string): string | undefined {
  const found = PYTHONS.find((python) => Bun.which(python) && ask([python, "-c", `import ${module}`], "").ok);
  if (found === undefined) needs(`python3 with ${module}`);
  return found;
}

/** Runs a script that reads our text from `sys.stdin.buffer` and prints JSON. */
export function askPython<T>(python: string, script: string, input: string): T {
  const { ok, out, errors } = ask([python, "-c", script], input);
  if (!ok) throw new Error(errors);
  return JSON.parse(out);
}

export const text = (chunks: Iterable<string>): string => [...chunks].join("");
