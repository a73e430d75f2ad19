/**
 * `npm start`: npm runs the script in a shell, the shell runs Node, and Node runs the service. A signal to npm must reach
 * the service, and npm must not end before it.
 */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../support/until.ts";

const ROOT = join(import.meta.dir, "..", "..");

/** Processes of a group that still run; a zombie has ended. */
function runningInGroup(group: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const [state, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return state !== "Z" && Number(pgrp) === group;
      } catch {
        return false; // ended meanwhile
      }
    });
}

async function startWithNpm(): Promise<{ child: Bun.Subprocess; url: string }> {
  // In a process group of its own, so that everything that it starts can be found.
  const args = ["npm", "start", "--", "--port", "0", "--data", ":memory:"];
  const child = Bun.spawn(["setsid", ...args], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  let output = "";
  void (async () => {
    for await (const chunk of child.stdout) output += new TextDecoder().decode(chunk);
  })();
  const url = await until(() => /^listening on (\S+)$/m.exec(output)?.[1], { what: "the listening line" });
  return { child, url };
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test.skipIf(process.platform !== "linux")(
    `${signal} to npm stops the service and leaves no process behind`,
    async () => {
      const { child, url } = await startWithNpm();
      expect(runningInGroup(child.pid).length).toBeGreaterThan(1);
      try {
        process.kill(child.pid, signal);
        await until(() => child.exitCode !== null || child.signalCode !== null, { what: "the end of npm" });
        expect(runningInGroup(child.pid)).toEqual([]);
        await expect(fetch(url)).rejects.toThrow();
      } finally {
        for (const pid of runningInGroup(child.pid)) process.kill(pid, "SIGKILL");
      }
    },
  );
}
