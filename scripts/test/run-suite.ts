/**
 * Runs one suite as a child process and counts its tests. The output of a suite that runs beside others goes to a file,
 * standard output and standard error in the order in which they were written, so that the runner can print it in one
 * piece. A suite that runs alone writes to the terminal itself.
 */
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseReport, type TimedTest } from "./report.ts";
import { hasSharedFolder, SHARED_MARK } from "./shared.ts";
import type { Suite } from "./suites.ts";

export interface SuiteResult {
  readonly name: string;
  readonly passed: number;
  readonly failures: readonly string[];
  /** Tests that did not run and are no failure. */
  readonly skipped: readonly string[];
  /** Empty for a check. */
  readonly tests: readonly TimedTest[];
  readonly elapsedMs: number;
  /** Processor time of the suite and of the processes that it started and waited for. */
  readonly cpuMs: number;
  /** Empty when the suite wrote to the terminal. */
  readonly output: string;
}

export interface RunContext {
  readonly root: string;
  /** For reports and output. */
  readonly folder: string;
  /** Ends the running suites. */
  readonly stop: AbortSignal;
  /** CI=true: a skipped test is a failure. */
  readonly strict: boolean;
}

/** A suite that runs longer than this hangs. */
const SUITE_TIMEOUT_MS = 30 * 60_000;
const TEST_TIMEOUT_MS = { src: 30_000, test: 180_000 };

export async function runSuite(suite: Suite, context: RunContext, toTerminal: boolean): Promise<SuiteResult> {
  const beganMs = performance.now();
  const file = join(context.folder, suite.name.replaceAll("/", "-"));
  const report = `${file}.xml`;
  const output = toTerminal ? undefined : openSync(`${file}.txt`, "a");
  // Its temporary files are removed with the folder, because files that share a process do not end one by one. Daemons that
  // the tests start read theirs as users of their own.
  const temporary = mkdtempSync(join(tmpdir(), "gazetteer-suite-"));
  chmodSync(temporary, 0o755);
  const child = Bun.spawn([...(suite.check ?? testCommand(suite, report))], {
    cwd: context.root,
    env: { ...process.env, TMPDIR: temporary, TEST_EXECUTABLE: join(context.root, "dist", "gazetteer") },
    stdio: ["ignore", output ?? "inherit", output ?? "inherit"],
    timeout: SUITE_TIMEOUT_MS,
    killSignal: "SIGKILL",
    signal: context.stop,
  });
  const ok = (await child.exited) === 0;
  if (output !== undefined) closeSync(output);
  rmSync(temporary, { recursive: true, force: true });
  const counts = suite.check
    ? { passed: ok ? 1 : 0, failures: ok ? [] : [suite.name], skipped: [], tests: [] }
    : countTests(suite, takeText(report), ok, context.strict);
  const end = child.signalCode ? `${suite.name}: ended by ${child.signalCode}\n` : "";
  return {
    name: suite.name,
    ...counts,
    elapsedMs: performance.now() - beganMs,
    cpuMs: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000,
    output: (toTerminal ? "" : takeText(`${file}.txt`)) + end,
  };
}

/** Runs the rest of the command line in a network namespace with a loopback interface only. */
const IN_OWN_NETWORK = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];

/** Whether this machine allows it: root, and not in a container without the right to. */
const canHaveOwnNetwork = (): boolean =>
  Bun.which("unshare") !== null && Bun.spawnSync([...IN_OWN_NETWORK, "true"]).success;

function testCommand(suite: Suite, report: string): string[] {
  const { name, files, workers, sharesProcess, ownLoopback } = suite;
  return [
    ...(ownLoopback && canHaveOwnNetwork() ? IN_OWN_NETWORK : []),
    process.execPath,
    "test",
    ...(sharesProcess ? [] : ["--isolate"]),
    ...(workers === undefined ? [] : [`--parallel=${workers}`]),
    `--timeout=${name === "src" ? TEST_TIMEOUT_MS.src : TEST_TIMEOUT_MS.test}`,
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    ...files.map((path) => `./${path}`),
  ];
}

function countTests(
  suite: Suite,
  xml: string,
  ok: boolean,
  strict: boolean,
): Pick<SuiteResult, "passed" | "failures" | "skipped" | "tests"> {
  if (xml === "")
    return { passed: 0, failures: [`${suite.name}: ended without a report`], skipped: [], tests: [] };
  const { passed, failures, skipped, tests, files } = parseReport(xml);
  const notLoaded = ok ? [] : suite.files.filter((path) => !files.has(path));
  const failed = [...failures, ...notLoaded.map((path) => `${path}: did not run`)];
  // An error outside of all tests, such as one in a hook, is an exit status only.
  if (!ok && failed.length === 0) failed.push(`${suite.name}: an error outside of its tests`);
  const isAllowed = (name: string) => !strict || (name.includes(SHARED_MARK) && !hasSharedFolder());
  const rejected = skipped.filter((name) => !isAllowed(name)).map((name) => `${name}: skipped, and CI=true`);
  return { passed, failures: [...failed, ...rejected], skipped: skipped.filter(isAllowed), tests };
}

/** Reads a file and deletes it, so that the next run cannot read it again. */
function takeText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // the process ended before it wrote one
  } finally {
    rmSync(path, { force: true });
  }
}
