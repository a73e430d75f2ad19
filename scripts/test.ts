/**
 * `npm test`: types, lint, then every test, one group after the other (the real peers in test/ share ports, network
 * namespaces and two cores). Words given as arguments pick what matches: `npm test -- view lint`.
 * The last line is always `N passed, N failed`; the type check and the lint count as one test each.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installPeers } from "./peers.ts";

const root = join(import.meta.dir, "..");
const strict = process.env.CI === "true";
const wanted = process.argv.slice(2);
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
}

const matches = (name: string) => wanted.length === 0 || wanted.some((word) => name.includes(word));

function checks(): Group[] {
  const all: Group[] = [
    { name: "types", command: [join(root, "node_modules/.bin/tsc"), "--noEmit", "-p", "."] },
    { name: "lint", command: [join(root, "node_modules/.bin/biome"), "check", "--error-on-warnings"] },
  ];
  return all.filter((group) => matches(group.name));
}

/**
 * All unit tests together; under test/ one process a file or folder and a fresh world a file, so that no suite
 * inherits another's leftovers and each cleans up its own.
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
  if (!group.report) return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
  const count = readReport(group.report);
  // A file that fails before its first test is an exit status, but no line in the report.
  if (!ok && count.failed === 0) count.failed = 1;
  if (strict) count.failed += count.skipped;
  return count;
}

function readReport(path: string): Count {
  let head: string;
  try {
    head = /<testsuites [^>]*>/.exec(readFileSync(path, "utf8"))?.[0] ?? "";
  } catch {
    head = ""; // it died before it could write one
  }
  const figure = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const [failed, skipped] = [figure("failures"), figure("skipped")];
  return { passed: figure("tests") - failed - skipped, failed, skipped };
}

async function main(): Promise<boolean> {
  // Network tools live in the sbin folders, which are not on every user's path.
  process.env.PATH = `${process.env.PATH ?? ""}:/usr/sbin:/sbin`;
  await installPeers();
  const total: Count = { passed: 0, failed: 0, skipped: 0 };
  const failing: string[] = [];
  const groups = [...checks(), ...suites()];
  for (const group of groups) {
    const count = await run(group);
    total.passed += count.passed;
    total.failed += count.failed;
    total.skipped += count.skipped;
    if (count.failed > 0) failing.push(group.name);
  }
  if (groups.length === 0) {
    console.log(`no test matches ${wanted.join(" ")}`);
    total.failed = 1;
  }
  console.log();
  if (failing.length > 0) console.log(`failed in: ${failing.join(", ")}`);
  if (total.skipped > 0) console.log(`SKIPPED: ${total.skipped} tests did not run; see the SKIP lines above`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  rmSync(reports, { recursive: true, force: true });
}
