/**
 * What a first start installs: the packages of production for the service, all of them for the tests, without running their
 * scripts, and never through a link. npm is a script that records its arguments and makes what `npm ci` would make.
 */
import { expect, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json";
import { temporaryFolder } from "../support/folder.ts";

const root = join(import.meta.dir, "..", "..");
const BUN_VERSION = manifest.optionalDependencies["@oven/bun-linux-x64"];
const PRINT_BUN = 'import("./bin/find-bun.mjs").then(({ bunPackage }) => process.stdout.write(bunPackage()))';
const BUN = `node_modules/${Bun.spawnSync(["node", "-e", PRINT_BUN], { cwd: root }).stdout}/bin/bun`;

/**
 * A checkout without node_modules, and an `npm` that fills it. Its Bun is a script that only prints its arguments, or
 * `bunVersion`.
 */
function createCheckout(bunVersion = BUN_VERSION) {
  const folder = temporaryFolder();
  for (const path of ["scripts/run.mjs", "bin", "package.json", "package-lock.json"])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  mkdirSync(join(folder, "path"));
  const log = join(folder, "npm.log");
  const dev = Object.keys(manifest.devDependencies).map((name) => `node_modules/${name}`);
  const npm = `#!/bin/sh
echo "$*" >> "${log}"
mkdir -p "$(dirname ${BUN})"
case "$*" in *--include=dev*) mkdir -p ${dev.join(" ")} ;; esac
{ echo '#!/bin/sh'; echo '[ "$*" = --version ] && echo ${bunVersion} || echo "$*"'; echo 'exit 0'; } > ${BUN}
touch node_modules/.package-lock.json
`;
  writeFileSync(join(folder, "path", "npm"), npm);
  chmodSync(join(folder, "path", "npm"), 0o755);
  const env = { ...process.env, PATH: `${join(folder, "path")}:${process.env.PATH}` };
  return {
    folder,
    env,
    run(...command: string[]): string {
      const { success, stdout, stderr } = Bun.spawnSync(command, {
        cwd: folder,
        env,
        stdout: "pipe",
        stderr: "pipe",
      });
      expect([command, success, stderr.toString()]).toEqual([command, true, expect.any(String)]);
      return stdout.toString();
    },
    /** What a start that fails prints. */
    failure(...command: string[]): string {
      const { exitCode, stderr } = Bun.spawnSync(command, {
        cwd: folder,
        env,
        stdout: "ignore",
        stderr: "pipe",
      });
      expect(exitCode).toBe(1);
      return stderr.toString();
    },
    log,
    /** The `--omit` and `--include` of dev in each call of npm. */
    installs: () =>
      existsSync(log) ? [...readFileSync(log, "utf8").matchAll(/^ci (\S+)/gm)].map(([, flag]) => flag) : [],
  };
}

const START = ["node", "scripts/run.mjs", "src/main.ts", "serve"];
const TEST = ["node", "scripts/run.mjs", "scripts/test.ts"];

test("the service installs the packages of production only, and once", () => {
  const { run, installs } = createCheckout();
  expect(run(...START)).toContain("src/main.ts serve");
  run(...START);
  expect(run("bin/gazetteer", "--version")).toContain("--version");
  expect(installs()).toEqual(["--omit=dev"]);
});

test("no script of a dependency runs: the binary of the lockfile is linked to where bin/gazetteer finds it", () => {
  const { folder, run, log } = createCheckout();
  run(...START);
  expect(readFileSync(log, "utf8")).toMatch(/^ci .*--ignore-scripts/);
  const inode = (path: string) => statSync(join(folder, path)).ino;
  expect(inode("node_modules/.bin/bun")).toBe(inode(BUN));
  expect(manifest).not.toHaveProperty("allowScripts");
});

test("a Bun that does not run on this machine is named, with the reason", () => {
  const { failure, folder } = createCheckout("illegal instruction");
  const printed = failure(...START);
  expect(printed).toContain(`gazetteer: Bun ${BUN_VERSION} does not run on this machine (`);
  expect(printed).toContain(`${join(folder, BUN)}: it prints illegal instruction`);
});

test("nothing is installed through a symbolic link, and what it leads to stays", () => {
  const { failure, folder, installs } = createCheckout();
  const original = temporaryFolder();
  writeFileSync(join(original, "package"), "");
  symlinkSync(original, join(folder, "node_modules"));
  for (const command of [START, TEST, ["bin/gazetteer", "--version"]])
    expect(failure(...command)).toContain(`node_modules is a symbolic link to ${original}: `);
  expect(installs()).toEqual([]);
  expect(readdirSync(original)).toEqual(["package"]);
});

test("bin/gazetteer installs the packages of production only", () => {
  const { run, installs } = createCheckout();
  run("bin/gazetteer", "--version");
  expect(installs()).toEqual(["--omit=dev"]);
});

test("the tests install what the service left out, and a start keeps it", () => {
  const { folder, run, installs } = createCheckout();
  run(...START);
  run(...TEST);
  run(...TEST);
  run(...START);
  expect(installs()).toEqual(["--omit=dev", "--include=dev"]);
  // A new lockfile.
  const future = new Date(Date.now() + 60_000);
  Bun.spawnSync(["touch", "-d", future.toISOString(), join(folder, "package-lock.json")]);
  run(...START);
  expect(installs()).toEqual(["--omit=dev", "--include=dev", "--include=dev"]);
});

test("npm start and npm test run what the tests above run", () => {
  expect(manifest.scripts.start).toContain("node scripts/run.mjs src/main.ts serve");
  expect(manifest.scripts.test).toContain("node scripts/run.mjs scripts/test.ts");
});

test("the service imports packages of production only, those of the page included", () => {
  const files = [...new Bun.Glob("src/**/*.{ts,tsx}").scanSync(root)].filter(
    (path) => !/\.test\.tsx?$/.test(path),
  );
  const imports = files.flatMap((path) =>
    [
      ...readFileSync(join(root, path), "utf8").matchAll(
        /^(?:import|export|\}).*\bfrom "(?!\.|node:|bun)((?:@[^/"]+\/)?[^/"]+)/gm,
      ),
    ].map(([, name]) => name),
  );
  expect([...new Set(imports)].sort()).toEqual(
    Object.keys(manifest.dependencies)
      .filter((name) => imports.includes(name))
      .sort(),
  );
});

test("processes that start at the same time install once, and one that was killed leaves no lock", async () => {
  const { folder, env, installs } = createCheckout();
  // The id of a process that has ended.
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  writeFileSync(join(folder, ".installing"), String(ended.pid));
  const starts = Array.from({ length: 6 }, () =>
    Bun.spawn(START, { cwd: folder, env, stdout: "ignore", stderr: "ignore" }),
  );
  expect(await Promise.all(starts.map(({ exited }) => exited))).toEqual([0, 0, 0, 0, 0, 0]);
  expect(installs()).toEqual(["--omit=dev"]);
  expect(existsSync(join(folder, ".installing"))).toBe(false);
});
