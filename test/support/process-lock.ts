/** A lock between processes, which ends with its process: for what suites that run side by side must not do at once. */

export async function lockProcesses(name: string): Promise<AsyncDisposable> {
  // Not in TMPDIR, which is another folder for each suite.
  const file = `/tmp/gazetteer-test-${name}.lock`;
  const holder = Bun.spawn(["flock", file, "sh", "-c", "echo locked; cat"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { done } = await holder.stdout.getReader().read();
  if (done) throw new Error(`cannot lock ${file}`);
  return {
    async [Symbol.asyncDispose]() {
      await holder.stdin.end();
      await holder.exited;
    },
  };
}
