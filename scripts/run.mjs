// Runs Bun from node_modules with the given arguments, and installs first when that is needed, so that a fresh clone
// needs nothing but Node and npm. `--install-only` stops after the first half: bin/gazetteer uses it and then becomes
// Bun itself. The service needs the dependencies of production only; tests, measurements and tools need all of them.
// No script of a dependency runs while it is installed: what would run as this user is not what the lockfile names. Bun is
// a package of the lockfile that has only the binary, and is linked to node_modules/.bin here.
// Plain JavaScript without dependencies, because it runs before there are any.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bunPackage, findBun } from "../bin/find-bun.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "node_modules");
const bun = join(modules, ".bin", "bun");
/** Newer than the lockfile once everything has been checked; bin/gazetteer looks at nothing else. */
const ready = join(modules, ".gazetteer-ready");

/** Holds the id of the process that installs. Outside of node_modules, which `npm ci` empties. */
const lock = join(root, ".installing");
const LOCK_CHECK_MS = 200;
const REMOVING_MS = 10_000;

/** The folder it is started in may not configure the runtime, set its environment or make it install things. */
const options = ["--no-env-file", "--config=/dev/null", "--no-install"];

const changedMs = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

function fail(message) {
  console.error(`gazetteer: ${message}`);
  process.exit(1);
}

/** npm says what is wrong first and then all it knows. */
const beginning = (text) => text.trim().split("\n").slice(0, 15).join("\n");

/** Whether the packages that only development needs are installed. */
function hasDevelopment() {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.keys(devDependencies).every((name) => existsSync(join(modules, name)));
}

function npmCi(development) {
  console.error("gazetteer: installing dependencies (npm ci), once …");
  const dev = development ? "--include=dev" : "--omit=dev";
  const flags = [
    dev,
    "--include=optional",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  const run = spawnSync("npm", ["ci", ...flags], { cwd: root, encoding: "utf8" });
  if (run.error) fail(`npm could not be started (${run.error.message}); Node 20 or newer with npm is needed`);
  if (run.status !== 0) fail(`npm ci failed:\n${beginning(`${run.stdout}${run.stderr}`)}`);
}

/** Links the binary for this machine to where people and bin/gazetteer look for it. */
function placeBun() {
  const machine = `${process.platform} ${process.arch}`;
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const version = optionalDependencies[bunPackage()];
  const binary = findBun(import.meta.url);
  if (version === undefined || binary === undefined) fail(`there is no Bun for this machine (${machine})`);
  chmodSync(binary, 0o755);
  const run = spawnSync(binary, ["--version"], { encoding: "utf8" });
  if (run.status !== 0 || run.stdout.trim() !== version) {
    const why = run.error?.message ?? run.signal ?? (run.stderr.trim() || `it prints ${run.stdout.trim()}`);
    const needed = "on x64 it needs a processor with AVX2";
    fail(`Bun ${version} does not run on this machine (${machine}); ${needed}:\n${binary}: ${why}`);
  }
  mkdirSync(join(modules, ".bin"), { recursive: true });
  linkOrCopy(binary, bun);
}

function linkOrCopy(from, to) {
  rmSync(to, { force: true });
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** npm empties what a link leads to, which may be the packages of another checkout. */
function refuseLink() {
  if (!lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  fail(
    `node_modules is a symbolic link to ${readlinkSync(modules)}: to install through it would change that folder. ` +
      "Remove the link (rm node_modules) and start again",
  );
}

/** Whether anything has to be installed: the lockfile is newer than the last check, or packages are missing. */
function isIncomplete(needsDevelopment) {
  const isCurrent = changedMs(ready) > changedMs(join(root, "package-lock.json")) && existsSync(bun);
  return !isCurrent || (needsDevelopment && !hasDevelopment());
}

/** A checkout that has the packages of development keeps them, also when the service is what installs. */
function install(needsDevelopment) {
  refuseLink();
  const isOutdated =
    changedMs(join(modules, ".package-lock.json")) < changedMs(join(root, "package-lock.json"));
  const hasBun = findBun(import.meta.url) !== undefined;
  if (isOutdated || !hasBun || (needsDevelopment && !hasDevelopment()))
    npmCi(needsDevelopment || hasDevelopment());
  placeBun();
  writeFileSync(ready, "");
}

/** Two installations at once would empty node_modules under each other. Returns whether this process has the lock. */
function takeLock() {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") fail(`cannot install: ${error.message}`);
  }
  const holder = Number(existsSync(lock) ? readFileSync(lock, "utf8") : 0);
  // An empty file is one whose process is about to write its id.
  if (holder > 0 && !isRunning(holder)) removeLockOf(holder);
  else pause();
  return false;
}

/** One process at a time, which looks again: the lock of a process that runs is never touched. */
function removeLockOf(holder) {
  const removing = `${lock}.removing`;
  try {
    writeFileSync(removing, "", { flag: "wx" });
  } catch {
    // Removing takes no time: who left this behind was killed.
    if (Date.now() - changedMs(removing) > REMOVING_MS) rmSync(removing, { force: true });
    pause();
    return;
  }
  if (existsSync(lock) && Number(readFileSync(lock, "utf8")) === holder) rmSync(lock, { force: true });
  rmSync(removing, { force: true });
}

const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_CHECK_MS);

function isRunning(id) {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

function installOnce(needsDevelopment) {
  while (isIncomplete(needsDevelopment)) {
    if (!takeLock()) continue;
    const release = () => rmSync(lock, { force: true });
    // An installation that fails ends the process.
    process.once("exit", release);
    // Another process may have installed meanwhile.
    if (isIncomplete(needsDevelopment)) install(needsDevelopment);
    process.off("exit", release);
    release();
    return;
  }
}

const [program] = process.argv.slice(2);
installOnce(program !== "--install-only" && program !== "src/main.ts");
if (program !== "--install-only") {
  const child = spawn(bun, [...options, ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`Bun could not be started: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
