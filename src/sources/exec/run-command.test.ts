import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../../lib/clock.ts";
import { type CommandOptions, findProgramFault, runCommand } from "./run-command.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gazetteer-exec-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (script: string, options: Partial<CommandOptions> = {}) =>
  runCommand({
    command: ["sh", "-c", script],
    directory: ".",
    environment: { FOLDER: folder },
    timeoutMs: 20_000,
    maxOutputBytes: 1_000_000,
    clock: systemClock,
    signal: new AbortController().signal,
    ...options,
  });

const outputOf = async (script: string, options: Partial<CommandOptions> = {}) => {
  const result = await run(script, options);
  return result.ok ? new TextDecoder().decode(result.output) : `! ${result.message}`;
};

/** The process ids that scripts wrote to the file. */
const pidsIn = (file: string): number[] =>
  readFileSync(join(folder, file), "utf8").split("\n").filter(Boolean).map(Number);

/** A process that nobody has waited for is a zombie, which has ended as well. */
function isRunning(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^\d+ \(.*\) [ZX]/s.test(status);
  } catch {
    return false;
  }
}

/** Children of this process that it has not waited for. */
const zombies = (): string[] =>
  Bun.spawnSync(["ps", "-o", "stat=,pid=", "--ppid", String(process.pid)])
    .stdout.toString()
    .split("\n")
    .filter((line) => line.startsWith("Z"));

describe("a program that ends", () => {
  const cases: [name: string, script: string, expected: string][] = [
    ["prints its output", "echo '{}'", "{}\n"],
    ["gets no input", "cat; echo end", "end\n"],
    [
      "has an exit status and a reason",
      "echo first >&2; echo 'no route' >&2; exit 3",
      "! sh: exit status 3: no route",
    ],
    ["has an exit status without a reason", "exit 4", "! sh: exit status 4"],
    [
      "has a reason with control characters",
      "printf 'a\\033[31mb\\n\\n' >&2; exit 1",
      "! sh: exit status 1: a [31mb",
    ],
    ["has a long reason", `printf '%0300d' 0 >&2; exit 1`, `! sh: exit status 1: ${"0".repeat(200)}…`],
    ["was ended by a signal", "kill -SEGV $$", "! sh: was ended by SIGSEGV"],
    ["printed a reason, and was successful", "echo note >&2; echo '{}'", "{}\n"],
  ];
  for (const [name, script, expected] of cases) {
    test(name, async () => expect(await outputOf(script)).toBe(expected));
  }
});

test("a program that does not exist, or cannot be run", async () => {
  expect(await outputOf("", { command: ["/no/such/program"] })).toBe("! program: does not exist");
  expect(await outputOf("", { command: ["/etc/passwd"] })).toBe("! passwd: cannot be run: permission denied");
});

test("the environment has PATH, HOME, LANG and the configured variables only", async () => {
  process.env.GAZETTEER_CREDENTIALS = "ann:secret";
  const text = await outputOf("exec env", {
    command: ["/usr/bin/env"],
    environment: { TOKEN: "x", LANG: "C" },
  });
  delete process.env.GAZETTEER_CREDENTIALS;
  const names = text
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split("=", 1)[0] ?? "");
  expect(names.filter((name) => !["PATH", "HOME", "LANG"].includes(name))).toEqual(["TOKEN"]);
  expect(text).toContain("LANG=C\n");
});

test("a program runs in its folder, and one with a folder in its name is relative to it", async () => {
  writeFileSync(join(folder, "list-network"), "#!/bin/sh\npwd\n", { mode: 0o755 });
  const inFolder = { command: ["./list-network"], directory: folder };
  expect(await outputOf("", inFolder)).toBe(`${folder}\n`);
  expect(findProgramFault({ ...inFolder, environment: {} })).toBeUndefined();
  const command = [relative(process.cwd(), join(folder, "list-network"))];
  expect(await outputOf("", { command })).toBe(`${process.cwd()}\n`);
  const missing = { command: ["sh"], directory: join(folder, "missing") };
  const fault = "sh: the folder of the option directory does not exist";
  expect(await outputOf("", missing)).toBe(`! ${fault}`);
  expect(findProgramFault({ ...missing, environment: {} })).toBe(fault);
});

test("arguments are passed as they are, without a shell", async () => {
  const text = await outputOf("", { command: ["printf", "%s|", "$HOME; echo x", "*", ""] });
  expect(text).toBe("$HOME; echo x|*||");
});

test("output without end is cut, and the program is ended", async () => {
  const script = "echo $$ > $FOLDER/pids; exec yes";
  expect(await outputOf(script)).toBe("! sh: printed more than 1000000 bytes");
  expect(pidsIn("pids").filter(isRunning)).toEqual([]);
  expect(await outputOf("yes >&2 & sleep 0.2; echo '{}'")).toBe("{}\n");
  expect(await outputOf("printf 12345678; exit 0", { maxOutputBytes: 7 })).toBe(
    "! sh: printed more than 7 bytes",
  );
  expect(await outputOf("printf 12345678; exit 0", { maxOutputBytes: 8 })).toBe("12345678");
});

test("a program that takes too long is ended with all that it has started, also those that ignore SIGTERM", async () => {
  const script = `trap '' TERM; echo $$ >> $FOLDER/pids
    sh -c "trap '' TERM; echo \\$\\$ >> $FOLDER/pids; while :; do sleep 1; done" &
    while :; do sleep 1; done`;
  const abort = new AbortController();
  const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => sleepUnless(ms, signal) };
  const sleepUnless = async (ms: number, signal?: AbortSignal) => {
    // The time-out is over once both have started.
    if (ms !== 20_000) return systemClock.sleep(ms, signal);
    await until(() => pidsIn("pids").length === 2, { what: "both processes" });
  };
  expect(await outputOf(script, { clock, signal: abort.signal })).toBe("! sh: did not end within 20 seconds");
  expect(pidsIn("pids").length).toBe(2);
  await until(() => pidsIn("pids").filter(isRunning).length === 0, { what: "the end of the group" });
  expect(zombies()).toEqual([]);
});

test("a process that stays behind does not hold the output open, and is ended", async () => {
  const script = "sleep 1000 & echo $! > $FOLDER/pids; echo '{}'";
  expect(await outputOf(script)).toBe("{}\n");
  await until(() => pidsIn("pids").filter(isRunning).length === 0, { what: "the end of the process" });
});

test("a process that took the output into another group is not waited for", async () => {
  const script =
    "setsid sh -c 'echo $$ > $FOLDER/pids; exec sleep 1000' & while [ ! -s $FOLDER/pids ]; do sleep 0.01; done; echo '{}'";
  expect(await outputOf(script)).toBe("{}\n");
  const [pid] = pidsIn("pids");
  expect(pid !== undefined && isRunning(pid)).toBe(true);
  if (pid !== undefined) process.kill(pid, "SIGKILL");
});

test("a stop ends the program", async () => {
  const abort = new AbortController();
  const result = outputOf("echo $$ > $FOLDER/pids; exec sleep 1000", { signal: abort.signal });
  await until(() => pidsIn("pids").length === 1, { what: "the program" });
  abort.abort();
  expect(await result).toBe("! sh: was stopped");
  expect(pidsIn("pids").filter(isRunning)).toEqual([]);
  expect(zombies()).toEqual([]);
});
