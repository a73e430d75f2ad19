/** Limits per peer address and for the source, known switches, short-lived switches, and ports that flap. */
import { afterEach, describe, expect, test } from "bun:test";
import { ManualClock } from "../../support/manual-clock.ts";
import { MemorySink } from "../../support/memory-sink.ts";
import { until } from "../../support/until.ts";
import { arpRequest } from "./emulated-host.ts";
import { deviceId } from "./emulator.ts";
import { type RunningSource, TestResources } from "./harness.ts";
import { Rogue, type RogueOptions, rogueMac } from "./rogue.ts";

const MINUTE = 60_000;
const resources = new TestResources();
afterEach(() => resources.close());

/** Time stands still, and no session ends because of it. */
const STILL = { listen: "127.0.0.1:0", echoIntervalMs: 1_000_000_000, graceMs: 0 };

async function connect(source: RunningSource, options: RogueOptions): Promise<Rogue> {
  const rogue = await Rogue.connect(source.port, options);
  resources.defer(() => rogue.close());
  return rogue;
}

/** Advances the time until the condition holds: most things happen at a tick. */
function untilTicked(clock: ManualClock, condition: () => boolean, what: string): Promise<boolean> {
  return until(
    async () => {
      await clock.advance(100);
      return condition();
    },
    { what },
  );
}

describe("the limit on switches of one peer address", () => {
  const LIMITS = { ...STILL, maxDevicesPerAddress: 3, maxSessionsPerAddress: 3 };

  test("is reached before that of the source: other addresses are not affected", async () => {
    const source = await resources.startSource(LIMITS);
    for (const dpid of [1, 2, 3]) await connect(source, { dpid, ports: 1 });
    await until(() => source.sink.devices.size === 3, { what: "three switches" });
    const fourth = await connect(source, { dpid: 4, ports: 1 });
    await until(() => fourth.isClosed, { what: "the fourth refused" });
    expect(source.metric("sessions_refused_total")).toBe(1);
    await connect(source, { dpid: 5, ports: 1, address: "127.0.0.2" });
    await until(() => source.sink.devices.has(deviceId(5)), { what: "a switch of another address" });
  });

  test("makes room by removing a switch that was never connected for a minute, and no known one", async () => {
    const clock = new ManualClock();
    const source = await resources.startSource(LIMITS, { clock });
    const [known, brief] = [
      await connect(source, { dpid: 1, ports: 2 }),
      await connect(source, { dpid: 2, ports: 2 }),
    ];
    await until(() => source.sink.devices.size === 2, { what: "two switches" });
    brief.close();
    await until(() => source.sink.devices.get(deviceId(2))?.available === false, {
      what: "one disconnected",
    });
    // The other one stays connected for a minute, but the brief one is not removed before.
    await clock.advance(MINUTE - 1000);
    await connect(source, { dpid: 3, ports: 1 });
    await until(() => source.sink.devices.size === 3, { what: "full" });
    await clock.advance(500);
    known.close();
    await until(() => source.metric("sessions") === 1, { what: "the first disconnected" });
    await connect(source, { dpid: 4, ports: 1 });
    await until(() => source.sink.devices.has(deviceId(4)), { what: "the newcomer" });
    expect(source.sink.devices.has(deviceId(2))).toBe(false);
    expect(source.metric("devices_displaced_total")).toBe(1);
  });

  test("never removes known switches: a newcomer is refused", async () => {
    const clock = new ManualClock();
    const source = await resources.startSource({ ...LIMITS, maxDevicesPerAddress: 2 }, { clock });
    const known = [
      await connect(source, { dpid: 1, ports: 1 }),
      await connect(source, { dpid: 2, ports: 1 }),
    ];
    await until(() => source.sink.devices.size === 2, { what: "two switches" });
    await clock.advance(MINUTE + 100);
    for (const rogue of known) rogue.close();
    await until(() => source.metric("sessions") === 0, { what: "both disconnected" });
    const newcomer = await connect(source, { dpid: 3, ports: 1 });
    await until(() => newcomer.isClosed, { what: "the newcomer refused" });
    expect(newcomer.errors.join()).toContain("too many switches or ports of this address");
    expect(source.metric("devices_refused_total")).toBe(1);
    expect([...source.sink.devices.keys()].sort()).toEqual([deviceId(1), deviceId(2)]);
  });
});

test("a source that is full takes a switch of the address with the most, for one of an address with fewer", async () => {
  const source = await resources.startSource({ ...STILL, maxDevices: 4, maxDevicesPerAddress: 4 });
  for (const dpid of [1, 2, 3, 4]) await connect(source, { dpid, ports: 1 });
  await until(() => source.sink.devices.size === 4, { what: "full" });
  await connect(source, { dpid: 9, ports: 1, address: "127.0.0.2" });
  await until(() => source.sink.devices.has(deviceId(9)), { what: "the switch of another address" });
  expect(source.sink.devices.size).toBe(4);
  const refused = await connect(source, { dpid: 5, ports: 1 });
  await until(() => refused.isClosed, { what: "one more of the first address refused" });
});

test("switches on the allow list are never displaced and not limited; others are refused unless allowed", async () => {
  const allow = [deviceId(1), deviceId(2)];
  const source = await resources.startSource({ ...STILL, allow, allowOthers: true, maxDevices: 1 });
  await connect(source, { dpid: 1, ports: 1 });
  await until(() => source.sink.devices.has(deviceId(1)), { what: "the first listed one" });
  const other = await connect(source, { dpid: 7, ports: 1, address: "127.0.0.2" });
  await until(() => other.isClosed, { what: "another one refused: the source is full" });
  await connect(source, { dpid: 2, ports: 1 });
  await until(() => source.sink.devices.has(deviceId(2)), { what: "the second listed one" });

  const strict = await resources.startSource({ ...STILL, allow });
  const stranger = await connect(strict, { dpid: 7, ports: 1 });
  await until(() => stranger.isClosed, { what: "the stranger refused" });
  expect(stranger.errors).toEqual(["this datapath id is not allowed"]);
  expect(strict.metric("devices_refused_total")).toBe(1);
});

test("a switch that was never connected for a minute is removed after a minute, a known one after removeAfterMs", async () => {
  const clock = new ManualClock();
  const source = await resources.startSource(STILL, { clock });
  const known = await connect(source, { dpid: 1, ports: 1 });
  await until(() => source.sink.devices.size === 1, { what: "the first" });
  await clock.advance(MINUTE);
  const brief = await connect(source, { dpid: 2, ports: 20 });
  await until(() => source.sink.ports.size === 21, { what: "the second" });
  known.close();
  brief.close();
  await until(() => source.metric("sessions") === 0, { what: "both disconnected" });
  await clock.advance(MINUTE - 1000);
  expect(source.sink.devices.size).toBe(2);
  await untilTicked(clock, () => source.sink.devices.size === 1, "the brief one removed");
  expect([...source.sink.devices.keys()]).toEqual([deviceId(1)]);
  expect(source.sink.ports.size).toBe(1);
});

test("ports and hosts are limited per address, and refusals are counted", async () => {
  const source = await resources.startSource({
    listen: "127.0.0.1:0",
    maxPortsPerAddress: 10,
    maxHostsPerAddress: 5,
    maxPorts: 100,
  });
  const rogue = await connect(source, { dpid: 1, ports: 10 });
  const honest = await connect(source, { dpid: 2, ports: 2, address: "127.0.0.2" });
  await until(() => source.sink.ports.size === 12, { what: "both switches" });
  rogue.send("portStatus", { reason: 0, port: rogue.describe(11) });
  await until(() => source.metric("ports_refused_total") === 1, { what: "the port refused" });
  const announce = (from: Rogue, number: number) =>
    from.send("packetIn", {
      reason: 1,
      inPort: 1,
      frame: arpRequest(rogueMac(number), `10.0.0.${number}`, "10.0.0.1"),
    });
  for (let number = 1; number <= 50; number++) announce(rogue, number);
  await until(() => source.metric("hosts_refused_total") === 45, { what: "hosts refused" });
  announce(honest, 200);
  await until(() => source.sink.hosts.has(`${rogueMac(200)}/None`), { what: "a host elsewhere" });
  expect(source.sink.hosts.size).toBe(6);
});

describe("a port that flaps", () => {
  test("is reported with the first and last state of each interval, and flagged until it is calm", async () => {
    const clock = new ManualClock();
    const sink = new MemorySink();
    const source = await resources.startSource(STILL, { clock, sink });
    const rogue = await connect(source, { dpid: 1, ports: 2 });
    const id = `${rogue.id}/1`;
    await until(() => sink.ports.size === 2, { what: "the ports" });
    sink.changeLog.length = 0;
    for (let i = 0; i < 1001; i++) rogue.setPort(1, i % 2 === 1);
    rogue.setPort(2, false);
    await until(() => sink.ports.get(`${rogue.id}/2`)?.isEnabled === false, {
      what: "the port changed last",
    });
    expect(source.metric("ports_flapping_total")).toBe(1);
    expect(source.metric("changes_delayed_total")).toBe(1001 - 11);
    expect(sink.ports.get(id)).toMatchObject({ isEnabled: false, annotations: { flapping: "true" } });
    rogue.setPort(1, true);
    // Claims that changed twice before they were sent are sent once.
    expect(sink.changeLog.filter((line) => line.endsWith(id)).length).toBeLessThanOrEqual(11);
    await untilTicked(clock, () => sink.ports.get(id)?.isEnabled === true, "the last state of the interval");
    expect(sink.ports.get(id)?.annotations?.flapping).toBe("true");
    expect(clock.monotonic()).toBeGreaterThanOrEqual(10_000);
    await untilTicked(clock, () => sink.ports.get(id)?.annotations?.flapping === undefined, "calm");
    expect(clock.monotonic()).toBeGreaterThanOrEqual(20_000);
    expect(sink.ports.get(id)?.isEnabled).toBe(true);
  });

  test("by being deleted and added is damped too", async () => {
    const clock = new ManualClock();
    const source = await resources.startSource(STILL, { clock });
    const rogue = await connect(source, { dpid: 1, ports: 1 });
    await until(() => source.sink.ports.size === 1, { what: "the port" });
    for (let i = 0; i < 500; i++)
      rogue.send("portStatus", { reason: i % 2 === 0 ? 1 : 0, port: rogue.describe(1) });
    await until(() => source.metric("changes_delayed_total") === 500 - 11, { what: "the changes held" });
    expect(source.metric("ports_flapping_total")).toBe(1);
    await untilTicked(clock, () => source.sink.ports.has(`${rogue.id}/1`), "the last state");
  });
});

test("a switch with more changes than its address has tokens is delayed, and its latest states are reported", async () => {
  const clock = new ManualClock();
  const options = { ...STILL, maxPortsPerAddress: 60, maxChangeRate: 1 };
  const source = await resources.startSource(options, { clock });
  const rogue = await connect(source, { dpid: 1, ports: 30 });
  await until(() => source.sink.ports.size === 30, { what: "the ports" });
  // One token for the switch and one for each port; 29 are left.
  for (let port = 1; port <= 30; port++) rogue.setPort(port, false);
  const down = () => [...source.sink.ports.values()].filter(({ isEnabled }) => !isEnabled).length;
  await until(() => source.metric("changes_delayed_total") === 1, { what: "one change delayed" });
  await until(() => down() === 29, { what: "the others applied" });
  await clock.advance(1000);
  await untilTicked(clock, () => down() === 30, "the delayed one");
  const second = await connect(source, { dpid: 2, ports: 5 });
  await until(() => source.metric("changes_delayed_total") === 2, { what: "the second switch delayed" });
  expect(source.sink.devices.size).toBe(1);
  await clock.advance(7000);
  await untilTicked(clock, () => source.sink.devices.has(second.id), "the second switch");
});
