import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../../test/support/folder.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { silentLogger } from "../../../lib/logger.ts";
import { EngineFile, type UsmEngine } from "../protocol/usm-engine.ts";
import type { Agent } from "./agent.ts";

const ENGINE: UsmEngine = { id: "8000000001", boots: 2, time: 100, receivedAt: 1_000_000 };

const polledAgent = (text: string): Pick<Agent, "target" | "engine"> => ({
  target: { text, host: text, port: 161, listed: true },
  engine: undefined,
});

function setUp() {
  const stateDir = temporaryFolder();
  const clock = new ManualClock();
  const context = { clock, log: silentLogger, stateDir };
  const agent = polledAgent("a:161");
  const agents = [agent, polledAgent("silent:161")];
  const written = (): unknown => JSON.parse(readFileSync(join(stateDir, "core.json"), "utf8")).engines;
  return { clock, agent, agents, written, open: () => new EngineFile("core", context) };
}

test("a change of boots or id is written at once, of the time alone after some minutes or at the end", async () => {
  const { clock, agent, agents, written, open } = setUp();
  const file = open();
  await file.restore(agents);
  await file.save(agents);
  expect(written).toThrow();
  agent.engine = ENGINE;
  await file.save(agents);
  expect(written()).toEqual([{ target: "a:161", ...ENGINE }]);
  agent.engine = { ...ENGINE, time: 160 };
  await file.save(agents);
  expect(written()).toMatchObject([{ time: 100 }]);
  await clock.advance(5 * 60_000);
  await file.save(agents);
  expect(written()).toMatchObject([{ time: 160 }]);
  agent.engine = { ...ENGINE, boots: 3, time: 5 };
  await file.save(agents);
  expect(written()).toMatchObject([{ boots: 3, time: 5 }]);
  agent.engine = { ...ENGINE, boots: 3, time: 6 };
  await file.save(agents, { isLast: true });
  expect(written()).toMatchObject([{ time: 6 }]);
  agent.engine = undefined;
  await file.save(agents);
  expect(written()).toEqual([]);
});

test("the engines of before are restored, of targets that still exist", async () => {
  const { agent, agents, open } = setUp();
  agent.engine = ENGINE;
  await open().save(agents);
  const again = [polledAgent("a:161"), polledAgent("new:161")];
  await open().restore(again);
  expect(again.map(({ engine }) => engine)).toEqual([ENGINE, undefined]);
});
