/**
 * `npm test`: types, lint, then every test, one group after the other (the real peers in test/ share ports, network
 * namespaces and two cores). Words given as arguments pick what matches: `npm test -- view lint`.
 * The last line is always `N passed, N failed`; the type check and the lint count as one test each. `--repeat N` runs
 * the selection N times, to find tests that fail only sometimes; the last line then sums all runs.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installPeers } from "./peers.ts";

const root = join(import.meta.dir, "..");
const strict = process.env.CI === "true";
const { values: options, positionals: wanted } = parseArgs({
  args: process.argv.slice(2),
  options: { repeat: { type: "string", default: "1" } },
  allowPositionals: true,
});
const runs = Number(options.repeat);
if (!Number.isInteger(runs) || runs < 1)
  throw new Error(`--repeat ${options.repeat}: must be a count from 1 on`);
const reports = mkdtempSync(join(tmpdir(), "gazetteer-test-"));

/** A group that runs longer than this hangs. */
const GROUP_DEADLINE_MS = 30 * 60_000;
const TEST_DEADLINE_MS = { src: 30_000, test: 180_000 };

interface Group {
  readonly name: string;
  readonly command: readonly string[];
  /** Where `bun test` leaves its counts; without it the group counts as one. */
  readonly report?: string;
}
interface Count {
  passed: number;
  failed: number;
  skipped: number;
  /** Of the failed, as far as they have names: `test/cli/get.test.ts: get > -o json`. */
  failures: string[];
}

const noCount = (): Count => ({ passed: 0, failed: 0, skipped: 0, failures: [] });

const matches = (name: string) => wanted.length === 0 || wanted.some((word) => name.includes(word));

function checks(): Group[] {
  const all: Group[] = [
    { name: "types", command: [join(root, "node_modules/.bin/tsc"), "--noEmit", "-p", "."] },
    { name: "lint", command: [join(root, "node_modules/.bin/biome"), "check", "--error-on-warnings"] },
  ];
  return all.filter((group) => matches(group.name));
}

/**
 * All unit tests in one process. Under test/ one process for each folder, with isolated files, so that no suite
 * depends on what another one left behind.
 */
function suites(): Group[] {
  const found = [...new Bun.Glob("{src,test}/**/*.test.ts").scanSync(root)].filter(matches).sort();
  const groups = Map.groupBy(found, (path) => {
    const [area = "", first = ""] = path.split("/");
    return area === "src" ? area : `${area}/${first}`;
  });
  return [...groups].map(([name, files]) => {
    const report = join(reports, `${name.replaceAll("/", "-")}.xml`);
    const deadlineMs = name === "src" ? TEST_DEADLINE_MS.src : TEST_DEADLINE_MS.test;
    const isolation = name === "src" ? [] : ["--isolate"];
    const options = [
      ...isolation,
      `--timeout=${deadlineMs}`,
      "--reporter=junit",
      `--reporter-outfile=${report}`,
    ];
    const paths = files.map((path) => `./${path}`);
    return { name, report, command: [process.execPath, "test", ...options, ...paths] };
  });
}

async function run(group: Group): Promise<Count> {
  console.log(`\n── ${group.name}`);
  const child = Bun.spawn([...group.command], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    timeout: GROUP_DEADLINE_MS,
    killSignal: "SIGKILL",
  });
  const ok = (await child.exited) === 0;
  if (child.signalCode) console.log(`${group.name}: ended by ${child.signalCode}`);
  if (!group.report) {
    return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, failures: ok ? [] : [group.name] };
  }
  const count = readReport(group.report);
  // A file that fails before its first test is an exit status, but no line in the report.
  if (!ok && count.failed === 0) {
    count.failed = 1;
    count.failures.push(`${group.name}: no single test`);
  }
  if (strict) count.failed += count.skipped;
  return count;
}

function readReport(path: string): Count {
  let report: string;
  try {
    report = readFileSync(path, "utf8");
  } catch {
    report = ""; // the process ended before it could write one
  }
  rmSync(path, { force: true }); // so that the next run cannot count it again
  const head = /<testsuites [^>]*>/.exec(report)?.[0] ?? "";
  const figure = (name: string) => Number(attribute(head, name) ?? 0);
  const [failed, skipped] = [figure("failures"), figure("skipped")];
  const failures = [...report.matchAll(/<testcase ([^>]*[^/>])>\s*<failure/g)].map(([, attributes = ""]) => {
    const [file, suite, name] = ["file", "classname", "name"].map((one) => attribute(` ${attributes}`, one));
    return `${file}: ${suite ? `${suite} > ` : ""}${name}`;
  });
  return { passed: figure("tests") - failed - skipped, failed, skipped, failures };
}

/** The text of an attribute of an XML element. */
function attribute(element: string, name: string): string | undefined {
  const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  const text = new RegExp(` ${name}="([^"]*)"`).exec(element)?.[1];
  return text?.replace(/&(\w+);/g, (entity, key: string) => entities[key] ?? entity);
}

function add(total: Count, count: Count): void {
  total.passed += count.passed;
  total.failed += count.failed;
  total.skipped += count.skipped;
  total.failures.push(...count.failures);
}

async function runAll(groups: readonly Group[]): Promise<Count> {
  const total = noCount();
  for (const group of groups) add(total, await run(group));
  console.log();
  for (const failure of total.failures) console.log(`failed: ${failure}`);
  if (total.skipped > 0) console.log(`SKIPPED: ${total.skipped} tests did not run; see the SKIP lines above`);
  return total;
}

async function main(): Promise<boolean> {
  // Network tools live in the sbin folders, which are not on every user's path.
  process.env.PATH = `${process.env.PATH ?? ""}:/usr/sbin:/sbin`;
  await installPeers();
  const total = noCount();
  const groups = [...checks(), ...suites()];
  for (let number = 1; number <= runs; number++) {
    const beganMs = performance.now();
    const count = await runAll(groups);
    add(total, count);
    const seconds = Math.round((performance.now() - beganMs) / 1000);
    const counts = `${count.passed} passed, ${count.failed} failed`;
    if (runs > 1) console.log(`run ${number} of ${runs}: ${counts} (${seconds} s)`);
  }
  if (groups.length === 0) {
    console.log(`no test matches ${wanted.join(" ")}`);
    total.failed = 1;
  }
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  rmSync(reports, { recursive: true, force: true });
}
