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
