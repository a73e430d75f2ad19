/**
 * Nodes and engine servers are killed, paused and cut off at random, under changes and readers: at the end all views are equal
 * and nothing that was shown is lost. Two minutes in `npm test`; `npm run chaos -- --minutes N --seed S` sets both; with
 * `--routes` the ways between engine servers are disturbed too, and what the engine then loses is no fault: but the views are
 * equal at the end.
 */
import { test } from "bun:test";
import { needs } from "../support/needs.ts";
import { makePlan } from "./plan.ts";
import { runChaos } from "./run.ts";

const { GAZETTEER_CHAOS_MINUTES, GAZETTEER_CHAOS_SEED, GAZETTEER_CHAOS_ROUTES } = process.env;
const minutes = Number(GAZETTEER_CHAOS_MINUTES ?? 2);
const seed = Number(GAZETTEER_CHAOS_SEED ?? Math.floor(Math.random() * 1e9));
/** The start, the end, and a slow machine. */
const SLACK_MS = 15 * 60_000;

test.skipIf(!needs("nats-server"))(
  "all views and consumers are equal after chaos, and nothing shown is lost",
  async () => {
    console.log(`chaos: seed ${seed}, ${minutes} minutes`);
    await runChaos(makePlan(seed, minutes * 60_000, GAZETTEER_CHAOS_ROUTES !== undefined));
  },
  minutes * 60_000 + SLACK_MS,
);
