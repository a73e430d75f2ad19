/** Processes to measure: started pinned to a core, awaited by what they print, ended by their own id. */
import { readFileSync } from "node:fs";

export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

export interface Running {
  readonly pid: number;
  /** Resolves with the first line of standard output that matches. */
  line(pattern: RegExp): Promise<RegExpMatchArray>;
  send(text: string): void;
  rssBytes(): number;
  /** The highest value of `rssBytes` so far. */
  peakRssBytes(): number;
  cpuSeconds(): number;
  stop(): Promise<void>;
}

export function start(command: readonly string[], core: number, env: Record<string, string> = {}): Running {
  return startAnywhere(["taskset", "-c", String(core), ...command], env);
}

/** The same, on any core. */
export function startAnywhere(command: readonly string[], env: Record<string, string> = {}): Running {
  const child = Bun.spawn([...command], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    env: { ...process.env, ...env },
  });
  const lines: string[] = [];
  let wake = () => {};
  let ended = false;
  (async () => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of child.stdout) {
      rest += decoder.decode(chunk, { stream: true });
      const parts = rest.split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
      wake();
    }
    ended = true;
    wake();
  })();
  return {
    pid: child.pid,
    async line(pattern) {
      for (;;) {
        for (const [i, line] of lines.entries()) {
          const match = line.match(pattern);
          if (match) {
            lines.splice(i, 1);
            return match;
          }
        }
        if (ended) throw new Error(`${command.join(" ")} ended without printing ${pattern}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    send: (text) => {
      child.stdin.write(text);
      child.stdin.flush();
    },
    rssBytes: () => memoryOf(child.pid, "VmRSS"),
    peakRssBytes: () => memoryOf(child.pid, "VmHWM"),
    cpuSeconds: () => cpuOf(child.pid),
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

/** `taskset` replaces itself with the command, so the child's id is the command's. */
function memoryOf(pid: number, field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(status.match(new RegExp(`${field}:\\s+(\\d+) kB`))?.[1] ?? 0) * 1024;
}

const TICKS_PER_SECOND = 100;

/** Of all threads, since its start. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}

/** The output of a command that ends, pinned to the core of the load. */
export async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn(["taskset", "-c", String(LOAD_CORE), ...command], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (status !== 0) throw new Error(`${command.join(" ")}: ${err || out}`);
  return out;
}
