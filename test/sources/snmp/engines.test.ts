/**
 * What is known of SNMPv3 engines survives a restart: boots and times that go back are refused also then, and an agent
 * whose engine is known is not discovered again.
 */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { startService } from "../../support/service.ts";
import { SnmpV3Engine, V3_USER } from "../../support/snmp-v3-engine.ts";
import { SnmpAgent } from "../../support/udp-snmp-agent.ts";
import { until } from "../../support/until.ts";
import { RunningSource, switchObjects } from "./running-source.ts";

/** An agent, and a source whose file is in `stateDir`, stopped after its first report. */
async function afterOneRun() {
  const agent = await SnmpAgent.start(switchObjects("one"));
  const engine = new SnmpV3Engine(agent);
  const stateDir = temporaryFolder();
  const run = (dir: string | undefined = stateDir) =>
    new RunningSource([agent.target], { v3: V3_USER }, undefined, dir);
  await using source = run();
  await source.reach("polls_total", 1);
  expect(engine.discoveries).toBe(1);
  return {
    engine,
    run,
    file: join(stateDir, "test.json"),
    [Symbol.dispose]: () => agent.stop(),
  };
}

test("after a restart an agent is not discovered again; without the file it is", async () => {
  using before = await afterOneRun();
  const { engine, run, file } = before;
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    engines: [{ id: engine.id, boots: 7, time: 5000 }],
  });
  expect(readFileSync(file, "utf8")).not.toContain(V3_USER.authPassword);
  const again = run();
  await again.reach("polls_total", 1);
  await again.stop();
  expect(engine.discoveries).toBe(1);
  await using without = run(temporaryFolder());
  await without.reach("polls_total", 1);
  expect(engine.discoveries).toBe(2);
});

for (const [what, boots, time] of [
  ["boots", 6, 9000],
  ["time", 7, 100],
] as const) {
  test(`${what} that went back: refused after a restart, and learned anew after three polls`, async () => {
    using before = await afterOneRun();
    const { engine, run, file } = before;
    Object.assign(engine, { boots, time });
    await using source = run();
    await source.reach("polls_total", 1);
    expect(source.metric("agents_failed_security_total")).toBe(3);
    expect(source.metric("engine_resyncs_total")).toBe(1);
    expect(source.sink.staleReasons[0]).toContain("the boots or the time of the agent's engine went back");
    expect(engine.discoveries).toBe(2);
    await source.stop();
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ engines: [{ boots, time }] });
  });
}

test("an agent that restarted meanwhile is read at once", async () => {
  using before = await afterOneRun();
  const { engine, run, file } = before;
  Object.assign(engine, { boots: 8, time: 3 });
  await using source = run();
  await source.reach("polls_total", 1);
  expect(source.metric("agents_failed_security_total")).toBe(0);
  expect(engine.discoveries).toBe(1);
  await until(() => readFileSync(file, "utf8").includes('"boots":8'), { what: "the boots in the file" });
});

test("another device with the same address is learned by the same rule", async () => {
  using before = await afterOneRun();
  const { engine, run } = before;
  Object.assign(engine, { id: "800000000102030002", boots: 1, time: 3 });
  await using source = run();
  await source.reach("polls_total", 1);
  expect(source.metric("engine_resyncs_total")).toBe(1);
});

for (const [how, days] of [
  ["set back", 1],
  ["set forwards", -1],
] as const) {
  test(`a clock that was ${how} while the service was stopped fails no poll`, async () => {
    using before = await afterOneRun();
    const { engine, run, file } = before;
    const { engines } = JSON.parse(readFileSync(file, "utf8"));
    engines[0].receivedAt += days * 86_400_000;
    writeFileSync(file, JSON.stringify({ engines }));
    engine.time += 200;
    await using source = run();
    await source.reach("polls_total", 1);
    expect(source.metric("agents_failed_security_total")).toBe(0);
    expect(engine.discoveries).toBe(1);
  });
}

test("a damaged file is ignored with one warning, and replaced", async () => {
  using before = await afterOneRun();
  const { engine, run, file } = before;
  writeFileSync(file, '{"engines":[{"target":"x"}]}');
  await using source = run();
  await source.reach("polls_total", 2);
  expect(source.log.filter((line) => line.includes("state file"))).toHaveLength(1);
  expect(engine.discoveries).toBe(2);
  await until(() => readFileSync(file, "utf8").includes(engine.id), { what: "the file" });
});

test("in the service: through a restart, and removed with the source", async () => {
  using agent = await SnmpAgent.start(switchObjects("one"));
  const engine = new SnmpV3Engine(agent);
  const folder = temporaryFolder();
  const [data, config] = [join(folder, "data"), join(folder, "config.yaml")];
  const start = async (sources: readonly object[]) => {
    writeFileSync(config, JSON.stringify({ sources }));
    return startService({ args: ["--data", data, "--config", config] });
  };
  const core = { type: "snmp", name: "core", targets: [agent.target], intervalSeconds: 1, v3: V3_USER };
  const file = join(data, "sources", "core.json");

  const first = await start([core]);
  await until(() => existsSync(file), { what: "the file" });
  await first.stop();
  expect(engine.discoveries).toBe(1);
  const answered = engine.answered;
  const second = await start([core]);
  await until(() => engine.answered > answered, { what: "a poll after the restart" });
  // A source of which nothing was stored is not known to the next start.
  await until(async () => (await (await second.fetch("/controller/v1/devices")).json()).devices.length > 0, {
    what: "the device",
  });
  await second.stop();
  expect(engine.discoveries).toBe(1);
  const third = await start([{ type: "demo" }]);
  await until(() => !existsSync(file), { what: "the removal of the file" });
  await third.stop();
});
