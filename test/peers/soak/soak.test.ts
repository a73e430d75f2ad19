/** Two minutes of `npm run soak`: copies that followers of streams keep equal the service's lists at the end. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");
/** The run itself, the time until all is quiet at the end, and a slow machine. */
const TIMEOUT_MS = 15 * 60_000;

/** What failed comes first. The service's audit lines, one for each guess, would bury it. */
function failureText(status: number, stdout: string, stderr: string): string {
  const failed = stdout.match(/^FAILED: .*$/gm) ?? [`exit status ${status}`];
  const messages = stderr.split("\n").filter((line) => !/^\S+ audit /.test(line));
  return `${failed.join("; ")}\n${messages.join("\n")}\n${stdout}`;
}

test(
  "followers, handles and memory are as they should be after two minutes of changes and bad clients",
  async () => {
    const command = [process.execPath, join(ROOT, "bench/soak/soak.ts"), "--minutes", "2"];
    const child = Bun.spawn(command, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr, status] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (status !== 0) throw new Error(failureText(status, stdout, stderr));
    expect(stdout).toEndWith("soak passed\n");
    // It did what it is for: events came, streams were resumed, the file and the configuration were read again.
    expect(stdout).toMatch(/^changes: [1-9]\d* files, [1-9]\d* reloads; [1-9]\d* events/m);
    expect(stdout).toMatch(/ [1-9]\d* resumes,/);
  },
  TIMEOUT_MS,
);
