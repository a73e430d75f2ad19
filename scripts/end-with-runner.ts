/**
 * Ends a child process when the process that has started it ends, also by SIGKILL: a shell waits at the end of a pipe whose
 * other end only the runner has. A line through it says that the child has ended by itself.
 */
const WAIT = 'read -r _ || kill -KILL "$1"';

export function endWithRunner(child: Bun.Subprocess): void {
  // Not of the terminal's process group: Ctrl-C must not end it before the child.
  const guard = Bun.spawn(["sh", "-c", WAIT, "sh", String(child.pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.unref();
  void child.exited.then(() => {
    guard.stdin.write("\n");
    void guard.stdin.end();
  });
}

/** How a script is started from the command line: npm, its shell, and `run.mjs`. */
const LAUNCHER = /\bnpm\b|run\.mjs/;
const CHECK_MS = 1_000;

/**
 * Resolves when whoever has started this script is gone: the processes of npm between them, which pass no signal on when they
 * are killed, or the process before npm. Never resolves where that one was gone before the call.
 */
export async function starterEnded(): Promise<void> {
  const chain = [process.pid];
  for (;;) {
    const child = chain.at(-1) ?? 0;
    const parent = parentsOf([child]).get(child);
    if (parent === undefined || parent <= 1) break;
    chain.push(parent);
    if (!LAUNCHER.test(ps(["-o", "args=", "-p", String(parent)]))) break;
  }
  const links = chain.slice(0, -1).map((child, i) => ({ child, parent: chain[i + 1] }));
  if (links.length === 0) return new Promise(() => {});
  for (;;) {
    const parents = parentsOf(chain.slice(0, -1));
    if (!links.every(({ child, parent }) => parents.get(child) === parent)) return;
    await Bun.sleep(CHECK_MS);
  }
}

/** By process; those that are gone are absent. */
function parentsOf(pids: readonly number[]): ReadonlyMap<number, number> {
  const lines = ps(["-o", "pid=,ppid=", "-p", pids.join(",")])
    .trim()
    .split("\n");
  return new Map(
    lines.map((line) => {
      const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
      return [pid, parent];
    }),
  );
}

const ps = (args: readonly string[]): string => Bun.spawnSync(["ps", ...args]).stdout.toString();
