#!/usr/bin/env node
// The command of the installed package: runs the service's sources with the Bun of its optional dependencies, which works
// where npm runs no install scripts (`npx --ignore-scripts`). Becomes Bun where Node can (22.15), and otherwise passes
// signals and the exit status on. In a checkout, bin/gazetteer does this without Node.
import { spawn } from "node:child_process";
import { accessSync, chmodSync, constants as files } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { bunPackage, findBun } from "./find-bun.mjs";

const PARENT_CHECK_MS = 500;

const fail = (message) => {
  console.error(`gazetteer: ${message}`);
  process.exit(1);
};

const bun = findBun(import.meta.url);
if (bun === undefined)
  fail(
    `its runtime ${bunPackage()} is not installed: either there is none for this machine, or npm left out optional ` +
      "dependencies (--omit=optional)",
  );
try {
  accessSync(bun, files.X_OK);
} catch {
  chmodSync(bun, 0o755);
}

// The first argument is the command that the program's output tells people to type.
const isNpx = process.env.npm_command === "exec";
const command = isNpx ? "npx netgazetteer" : process.argv[1];
const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
// The folder it is started in may not configure the runtime, set its environment or make it install things.
const args = ["--no-env-file", "--config=/dev/null", "--no-install", main, ...process.argv.slice(2)];
if (process.execve && !isNpx) process.execve(bun, [command, ...args], process.env);
const child = spawn(bun, args, { argv0: command, stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
// npx passes a signal to a shell that ends without passing it on: what is left without its parent ends too.
const parent = process.ppid;
if (isNpx) setInterval(() => process.ppid === parent || child.kill("SIGTERM"), PARENT_CHECK_MS).unref();
child.on("error", (error) => fail(`its runtime could not be started: ${error.message}`));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
