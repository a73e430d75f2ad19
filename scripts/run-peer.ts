/**
 * `npm run peers -- NAME`: tests with programs of others that are too large for `npm test`. Each is a file of tests; the exit
 * status is 0 when all of them passed.
 */
import { join } from "node:path";
import { installPeers } from "./peers.ts";

const root = join(import.meta.dir, "..");
const RUNS: Readonly<Record<string, string>> = {
  generators: "test/peers/generators/generators.test.ts",
  opendaylight: "test/peers/opendaylight/opendaylight.test.ts",
};

const [name = ""] = process.argv.slice(2);
const file = Object.hasOwn(RUNS, name) ? RUNS[name] : undefined;
if (file === undefined) {
  console.error(`usage: npm run peers -- ${Object.keys(RUNS).join("|")}`);
  process.exit(2);
}
await installPeers();
const child = Bun.spawn([process.execPath, "test", "--isolate", "--timeout=600000", `./${file}`], {
  cwd: root,
  env: { ...process.env, CI: "true" },
  stdio: ["ignore", "inherit", "inherit"],
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
process.exit(await child.exited);
