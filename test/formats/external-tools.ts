/** Runs other programs that read our formats. Each gets a text on standard input and prints a result. */
import { needs } from "../support/needs.ts";

export interface ToolResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

export function runTool(command: string[], input: string): ToolResult {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdin: Buffer.from(input), timeout: 60_000 });
  return { ok: exitCode === 0, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** Debian's Python first, because it has Debian's packages; another one may be on the path. */
const PYTHONS = ["/usr/bin/python3", "python3"];

/** A Python that has the module. Reports a missing one like `needs`. */
export function pythonWith(module: string): string | undefined {
  const found = PYTHONS.find(
    (python) => Bun.which(python) && runTool([python, "-c", `import ${module}`], "").ok,
  );
  if (found === undefined) needs(`python3 with ${module}`);
  return found;
}

/** Runs a script that reads the input from `sys.stdin.buffer` and prints JSON. */
export function runPython<T>(python: string, script: string, input: string): T {
  const { ok, stdout, stderr } = runTool([python, "-c", script], input);
  if (!ok) throw new Error(stderr);
  return JSON.parse(stdout);
}

export const joinChunks = (chunks: Iterable<string | undefined>): string => [...chunks].join("");
