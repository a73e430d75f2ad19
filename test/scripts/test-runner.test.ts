/**
 * `npm test` itself: the scripts of the runner run in a temporary folder that is laid out like a clone, with tests that
 * pass, fail and are skipped.
 */
import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { dirname, join } from "node:path";
import { PEERS } from "../../scripts/peers.ts";
import { DEBIAN, findSuites, PLACEMENTS } from "../../scripts/test/suites.ts";
import { temporaryFolder } from "../support/folder.ts";
import { until } from "../support/until.ts";

const root = join(import.meta.dir, "..", "..");

const USE = `import { expect, test } from "bun:test";\n`;
const PASSES = `${USE}test("passes", () => {});\n`;
const FAILS = `${USE}import { describe } from "bun:test";
describe("outer", () => describe("inner", () => test('<a> & "b"', () => expect(1).toBe(2))));\n`;
const SKIPS = `${USE}test.skip("is skipped", () => {});\n`;
const THROWS = `${USE}throw new Error("while loading");\n`;
const READS_SCHEMA = `${USE}import { readFileSync } from "node:fs";
import { describeWithShared } from "../support/shared.ts";
describeWithShared("a schema", "schemas/a.json", (path) => {
  test("is JSON", () => expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({}));
});\n`;

interface Clone {
  readonly folder: string;
  readonly run: (args?: readonly string[], env?: Record<string, string>) => Promise<Outcome>;
}
interface Outcome {
  readonly status: number;
  readonly lines: readonly string[];
  readonly text: string;
  readonly lastLine: string;
}

/** A clone with these files, and a type check and a lint that succeed. Beside it there is no `shared`. */
function makeClone(files: Readonly<Record<string, string>>): Clone {
  const folder = join(temporaryFolder(), "clone");
  const write = (path: string, text: string, mode?: number) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, mode === undefined ? {} : { mode });
  };
  for (const path of ["scripts/test.ts", "scripts/test", "test/support/needs.ts", "test/support/shared.ts"])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  write("scripts/peers.ts", "export async function installPeers(): Promise<void> {}\n");
  for (const tool of ["tsc", "biome"]) write(`node_modules/.bin/${tool}`, "#!/bin/sh\nexit 0\n", 0o755);
  for (const [path, text] of Object.entries(files)) write(path, text);
  const run: Clone["run"] = async (args = [], env = {}) => {
    const child = start(folder, args, env);
    const [text, status] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    const lines = text.trimEnd().split("\n");
    return { status, text, lines, lastLine: lines.at(-1) ?? "" };
  };
  return { folder, run };
}

function start(folder: string, args: readonly string[], env: Record<string, string>) {
  const command = [process.execPath, join(folder, "scripts/test.ts"), ...args];
  // One stream for both, as a terminal shows them. The shell becomes the runner, so that signals reach it.
  return Bun.spawn(["sh", "-c", 'exec "$@" 2>&1', "sh", ...command], {
    cwd: folder,
    env: { ...process.env, CI: "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

test("all passed: the last line has the counts, the exit status is 0, and progress is printed", async () => {
  const { run } = makeClone({
    "src/a/a.test.ts": PASSES,
    "test/api/b.test.ts": PASSES,
    "test/api/c.test.ts": PASSES,
    "test/cli/d.test.ts": PASSES,
    "test/formats/e.test.ts": PASSES,
    "test/web/f.test.ts": PASSES,
    "test/web/node_modules/other/g.test.ts": FAILS,
  });
  const { status, lines, lastLine } = await run();
  expect(lastLine).toBe("8 passed, 0 failed");
  expect(status).toBe(0);
  const progress = lines.filter((line) => line.startsWith("── suite "));
  expect(progress.map((line) => /suite \d+ of \d+/.exec(line)?.[0])).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((number) => `suite ${number} of 7`),
  );
  expect(progress.find((line) => line.includes("test/api"))).toMatch(
    /: 2 passed, 0 failed in \d+ s \(CPU \d+ s\); \d+ s elapsed$/,
  );
  const slowest = lines.find((line) => line.startsWith("slowest suites: "));
  expect(slowest?.split(", ")).toHaveLength(5);
  expect(lines.filter((line) => /^slow: +\d+\.\d s {2}\S+\.test\.ts: passes$/.test(line))).toHaveLength(6);
});

test("the file of times has the suites that ran whole, and keeps those of earlier runs", async () => {
  const { folder, run } = makeClone({
    "src/a/a.test.ts": PASSES,
    "test/api/b.test.ts": PASSES,
    "test/api/c.test.ts": PASSES,
  });
  const times = () => JSON.parse(readFileSync(join(folder, "test-times.json"), "utf8"));
  await run(["src", "c.test"]);
  const src = { elapsedSeconds: expect.any(Number), cpuSeconds: expect.any(Number) };
  expect(times()).toEqual({ src });
  await run(["test/api"]);
  expect(Object.keys(times()).toSorted()).toEqual(["src", "test/api"]);
});

test("--peers runs the folders of test/peers and nothing else; what is on request runs when it is named", async () => {
  const { run } = makeClone({
    "src/a/a.test.ts": FAILS,
    "test/peers/chaos/b.test.ts": PASSES,
    "test/peers/generators/c.test.ts": FAILS,
  });
  const peers = await run(["--peers"]);
  expect([peers.status, peers.lastLine]).toEqual([0, "1 passed, 0 failed"]);
  expect((await run(["--peers", "generators"])).lastLine).toBe("0 passed, 1 failed");
  expect((await run(["types", "test/peers"])).lastLine).toBe("1 passed, 0 failed");
});

test("failures are listed at the end, with their blocks, and files that do not load", async () => {
  const { run } = makeClone({
    "src/a/a.test.ts": FAILS,
    "test/api/b.test.ts": PASSES,
    "test/api/c.test.ts": THROWS,
    "test/cli/d.test.ts": FAILS,
    "test/cli/e.test.ts": THROWS,
  });
  const { status, lines, lastLine } = await run();
  expect(status).toBe(1);
  expect(lastLine).toBe("3 passed, 4 failed");
  expect(lines.slice(-5, -1).toSorted()).toEqual([
    'failed: src/a/a.test.ts: outer > inner > <a> & "b"',
    "failed: test/api/c.test.ts: did not run",
    'failed: test/cli/d.test.ts: outer > inner > <a> & "b"',
    "failed: test/cli/e.test.ts: did not run",
  ]);
  const end = lines.slice(lines.findIndex((line) => line.startsWith("slowest suites: ")));
  const failed = end.findIndex((line) => line.startsWith("(fail) outer > inner > "));
  expect(end[failed + 1]).toStartWith("error: expect(received)");
});

test("a check that fails is a failure with its name", async () => {
  const { folder, run } = makeClone({ "src/a/a.test.ts": PASSES });
  writeFileSync(join(folder, "node_modules/.bin/tsc"), "#!/bin/sh\necho wrong type\nexit 2\n");
  const { status, lines, lastLine } = await run();
  expect(lines).toContain("wrong type");
  expect(lines).toContain("failed: types");
  expect([status, lastLine]).toEqual([1, "2 passed, 1 failed"]);
});

test("a skipped test is no failure, unless CI=true", async () => {
  const { run } = makeClone({ "src/a/a.test.ts": SKIPS, "test/api/b.test.ts": PASSES });
  const here = await run();
  expect([here.status, here.lastLine]).toEqual([0, "3 passed, 0 failed"]);
  expect(here.text).toContain("SKIPPED: 1 did not run");
  const onCi = await run([], { CI: "true" });
  expect([onCi.status, onCi.lastLine]).toEqual([1, "3 passed, 1 failed"]);
  expect(onCi.lines).toContain("failed: src/a/a.test.ts: is skipped: skipped, and CI=true");
});

test.each(["", "true"])(
  "without ../shared its tests are skipped loudly and do not fail, CI=%p",
  async (CI) => {
    const { run } = makeClone({ "test/formats/a.test.ts": READS_SCHEMA });
    const { status, text, lines, lastLine } = await run([], { CI });
    expect([status, lastLine]).toEqual([0, "2 passed, 0 failed"]);
    expect(text).toContain("SKIP: a schema: ../shared/schemas/a.json does not exist");
    expect(lines).toContain(
      "skipped: test/formats/a.test.ts: a schema (needs ../shared) > reads schemas/a.json",
    );
  },
);

test("where ../shared exists, a file that is missing in it fails with CI=true", async () => {
  const { folder, run } = makeClone({ "test/formats/a.test.ts": READS_SCHEMA });
  const schemas = join(folder, "../shared/schemas");
  mkdirSync(schemas, { recursive: true });
  expect((await run()).lastLine).toBe("2 passed, 0 failed");
  expect((await run([], { CI: "true" })).lastLine).toBe("2 passed, 1 failed");
  writeFileSync(join(schemas, "a.json"), "{}");
  expect((await run([], { CI: "true" })).lastLine).toBe("3 passed, 0 failed");
});

test("with ../shared, another skip in such a block fails with CI=true", async () => {
  const skips = READS_SCHEMA.replace('test("is JSON"', 'test.skip("is JSON"');
  const { folder, run } = makeClone({ "test/formats/a.test.ts": skips });
  mkdirSync(join(folder, "../shared/schemas"), { recursive: true });
  writeFileSync(join(folder, "../shared/schemas/a.json"), "{}");
  expect((await run([], { CI: "true" })).lastLine).toBe("2 passed, 1 failed");
});

test("words select: a suite by its name, test files by a part of their path", async () => {
  const { run } = makeClone({
    "src/api/a.test.ts": PASSES,
    "test/api/b.test.ts": PASSES,
    "test/api/c.test.ts": PASSES,
    "test/cli/api.test.ts": PASSES,
  });
  const suites = async (...words: string[]) => {
    const { lines } = await run(words);
    return lines
      .flatMap((line) => /^── suite .*?: (\S+): (\d+) passed/.exec(line)?.slice(1).join(" ") ?? [])
      .sort();
  };
  expect(await suites("test/api")).toEqual(["test/api 2"]);
  expect(await suites("src", "lint")).toEqual(["lint 1", "src 1"]);
  expect(await suites("api")).toEqual(["src 1", "test/api 2", "test/cli 1"]);
  const nothing = await run(["nothing-like-this"]);
  expect([nothing.status, nothing.lastLine]).toEqual([1, "0 passed, 1 failed"]);
  expect(nothing.text).toMatch(/no test matches nothing-like-this; the suites are:[\s\S]*test\/cli/);
});

test("--repeat runs the selection again and sums", async () => {
  const { run } = makeClone({ "src/a/a.test.ts": PASSES, "test/api/b.test.ts": FAILS });
  const { status, lines, lastLine } = await run(["--repeat", "2", "src", "test/api"]);
  expect(lines.filter((line) => /^run \d of 2: 1 passed, 1 failed/.test(line))).toHaveLength(2);
  expect([status, lastLine]).toEqual([1, "2 passed, 2 failed"]);
});

/** Prints, waits until `other` exists, and prints again. Ends only when the other test runs at the same time. */
const meets = (own: string, other: string) => `${USE}import { existsSync, writeFileSync } from "node:fs";
test("meets ${other}", async () => {
  console.log("${own} begins");
  writeFileSync("${own}", "");
  while (!existsSync("${other}")) await Bun.sleep(5);
  console.log("${own} ends");
}, 20_000);\n`;

test("suites of the table run side by side, and their output does not mix", async () => {
  const { run } = makeClone({
    "test/api/a.test.ts": meets("first", "second"),
    "test/cli/b.test.ts": meets("second", "first"),
  });
  const { lines, lastLine } = await run(["--jobs", "2", "test/api", "test/cli"]);
  expect(lastLine).toBe("2 passed, 0 failed");
  for (const name of ["first", "second"])
    expect(lines.indexOf(`${name} ends`)).toBe(lines.indexOf(`${name} begins`) + 1);
});

test("suites that mostly wait are more than there are processors", async () => {
  const { run } = makeClone({
    "test/sources/contract/a.test.ts": meets("first", "second"),
    "test/sources/snmp/b.test.ts": meets("second", "third"),
    "test/cli/c.test.ts": meets("third", "first"),
  });
  expect((await run(["--jobs", "2", "test/"])).lastLine).toBe("3 passed, 0 failed");
});

test("a suite starts when what it needs is installed; others run meanwhile", async () => {
  const { folder, run } = makeClone({
    // The installation ends only while another suite runs, which has created the file before it writes the first line.
    "test/peers/onos/prepare.ts": `import { appendFileSync, existsSync, readFileSync } from "node:fs";
      while (!existsSync("journal") || !readFileSync("journal", "utf8").includes("\\n")) await Bun.sleep(5);
      appendFileSync("journal", "installed\\n");\n`,
    "test/peers/onos/a.test.ts": records("onos"),
    "test/peers/soak/b.test.ts": records("soak"),
  });
  expect((await run(["--peers", "--jobs", "2", "test/"])).lastLine).toBe("2 passed, 0 failed");
  const lines = readFileSync(join(folder, "journal"), "utf8").split("\n");
  expect(lines[0]).toBe("soak begins");
  expect(lines.indexOf("onos begins")).toBeGreaterThan(lines.indexOf("installed"));
});

/** Records the times from its first to its last line. The runtime is started in between, so that it takes a while. */
const records = (name: string) => `${USE}import { appendFileSync } from "node:fs";
test("records", () => {
  appendFileSync("journal", "${name} begins\\n");
  expect(Bun.spawnSync([process.execPath, "--version"]).success).toBe(true);
  appendFileSync("journal", "${name} ends\\n");
});\n`;

test("a suite that is not in the table runs after the others and alone", async () => {
  const { folder, run } = makeClone({
    "test/api/a.test.ts": records("api"),
    "test/not-in-table/b.test.ts": records("new"),
    "test/neither/c.test.ts": records("newer"),
  });
  expect((await run(["--jobs", "4", "test/"])).lastLine).toBe("3 passed, 0 failed");
  const expected = ["api", "newer", "new"].map((name) => `${name} begins\n${name} ends\n`);
  expect(readFileSync(join(folder, "journal"), "utf8")).toBe(expected.join(""));
});

test("a line shows life while suites run; SIGTERM ends them, prints the counts and the output so far", async () => {
  const waits = `${USE}import { writeFileSync } from "node:fs";
test("waits", async () => {
  console.log("waiting");
  writeFileSync("waiting-" + process.pid, String(process.pid));
  await new Promise((resolve) => setTimeout(resolve, 100_000));
}, 120_000);\n`;
  const { folder } = makeClone({
    "test/api/a.test.ts": waits,
    "test/cli/b.test.ts": waits,
    "test/cli/c.test.ts": PASSES,
  });
  const child = start(folder, ["--jobs", "2", "--heartbeat", "0.1", "test/api", "test/cli", "test/web"], {});
  const marks = () => [...new Bun.Glob("waiting-*").scanSync(folder)];
  await until(() => marks().length === 2, { what: "both tests" });
  const alive = /elapsed, 0 of 2 suites done, running: test\/api \(\d+ s\), test\/cli/;
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    // A terminal sends the signal to npm and to the runner, which so receives it twice.
    if (alive.test(text)) child.kill("SIGTERM");
  }
  expect(await child.exited).toBe(128 + 15);
  expect(text.match(/^waiting$/gm)).toHaveLength(2);
  expect(text).toContain("test/api: ended by SIGKILL");
  expect(text).toContain("failed: test/cli: ended without a report");
  expect(text.trimEnd().split("\n").at(-1)).toBe("0 passed, 2 failed");
  const left = marks().filter((name) => existsSync(`/proc/${name.slice("waiting-".length)}/exe`));
  expect(left).toEqual([]);
});

const isRoot = process.getuid?.() === 0;
test.skipIf(!isRoot)("suites with browsers see no interface of the machine that could change", async () => {
  const interfaces = (names: string) =>
    `${USE}import { networkInterfaces } from "node:os";
test("interfaces", () => expect(Object.keys(networkInterfaces())).toEqual(${names}));\n`;
  const { run } = makeClone({
    "test/api/all.test.ts": interfaces(JSON.stringify(Object.keys(networkInterfaces()))),
    "test/web/loopback.test.ts": interfaces('["lo"]'),
  });
  expect((await run(["test/api", "test/web"])).lastLine).toBe("2 passed, 0 failed");
});

test("the table names suites and scripts that exist", () => {
  const paths = Object.keys(PLACEMENTS).filter((name) => name !== "types" && name !== "lint");
  const scripts = Object.values(PLACEMENTS).flatMap(({ peers = [] }) =>
    peers.filter((name) => name !== DEBIAN),
  );
  expect([...paths, ...scripts].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("a suite that starts a program of Debian waits for its installation", () => {
  const programs = Object.values(PEERS).flatMap(([probe, name]) => (probe === "which" ? [name] : []));
  const starts = new RegExp(`(\\bspawn(Sync)?\\(\\[|\\brun\\(|\\bneeds\\()\\s*"(${programs.join("|")})"`);
  const starting = [...findSuites(root, "test"), ...findSuites(root, "peers")].filter(({ files }) =>
    files.some((path) => starts.test(readFileSync(join(root, path), "utf8"))),
  );
  expect(starting.length).toBeGreaterThan(3);
  expect(starting.filter(({ peers }) => !peers.includes(DEBIAN)).map(({ name }) => name)).toEqual([]);
});
