/**
 * `npm run chaos -- --minutes N --seed S [--routes]`: the chaos test of a cluster for N minutes; a seed repeats the plan of a run.
 * `--routes`: the ways between engine servers are disturbed too. NATS_SERVER names another nats-server than a current one.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { endWithRunner } from "./end-with-runner.ts";
import { installPeers } from "./peers.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    minutes: { type: "string", default: "2" },
    seed: { type: "string" },
    routes: { type: "boolean" },
  },
});
if (!(Number(values.minutes) > 0)) throw new Error(`--minutes ${values.minutes}: must be a number above 0`);
if (values.seed !== undefined && !/^\d{1,9}$/.test(values.seed))
  throw new Error(`--seed ${values.seed}: must be a number of at most 9 digits`);

await installPeers();
const child = Bun.spawn(
  [process.execPath, "test", "--isolate", "--timeout=180000", "./test/peers/chaos/chaos.test.ts"],
  {
    cwd: join(import.meta.dir, ".."),
    env: {
      ...process.env,
      CI: "true",
      GAZETTEER_CHAOS_MINUTES: values.minutes,
      ...(values.routes && { GAZETTEER_CHAOS_ROUTES: "1" }),
      ...(values.seed !== undefined && { GAZETTEER_CHAOS_SEED: values.seed }),
    },
    stdio: ["ignore", "inherit", "inherit"],
  },
);
endWithRunner(child);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
process.exit(await child.exited);
