/**
 * Nodes and engine servers are killed, paused and cut off at random, under changes and readers: at the end all views are equal
 * and nothing that was shown is lost. Two minutes in `npm run test:peers`; `npm run chaos -- --minutes N --seed S` sets both; with
 * `--routes` the ways between engine servers are disturbed too.
 *
 * Runs with a current nats-server. NATS_SERVER names another one: of a release that is known to lose messages in such a run
 * (docs/cluster.md), what it loses is printed and no fault; but the views are equal at the end.
 */
import { test } from "bun:test";
import { losesMessages } from "../../../src/cluster/nats/nats-client.ts";
import { NATS_SERVER } from "../../support/nats-servers.ts";
import { needs } from "../../support/needs.ts";
import { newerServer } from "../../support/newer-nats-server.ts";
import { makePlan } from "./plan.ts";
import { type ChaosEngine, runChaos } from "./run.ts";

const { GAZETTEER_CHAOS_MINUTES, GAZETTEER_CHAOS_SEED, GAZETTEER_CHAOS_ROUTES } = process.env;
const minutes = Number(GAZETTEER_CHAOS_MINUTES ?? 2);
const seed = Number(GAZETTEER_CHAOS_SEED ?? Math.floor(Math.random() * 1e9));
/** The start, the end, and a slow machine. */
const SLACK_MS = 15 * 60_000;

async function chooseEngine(): Promise<ChaosEngine> {
  const program = process.env.NATS_SERVER ?? (await newerServer()) ?? NATS_SERVER;
  const version = /v[\d.]+/.exec(Bun.spawnSync([program, "--version"]).stdout.toString())?.[0] ?? "";
  console.log(`chaos: seed ${seed}, ${minutes} minutes, nats-server ${version}`);
  return { program, isLossy: losesMessages(version) };
}

test.skipIf(!needs("nats-server"))(
  "all views and consumers are equal after chaos, and nothing shown is lost",
  async () => {
    await runChaos(
      makePlan(seed, minutes * 60_000, GAZETTEER_CHAOS_ROUTES !== undefined),
      await chooseEngine(),
    );
  },
  minutes * 60_000 + SLACK_MS,
);
