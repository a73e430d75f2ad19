/**
 * One measurement of one controller with one emulated network. The controller is warm: it has seen a first network connect
 * and disconnect. The result has the values of that first network too, a tree of 100; there the CPU time counts from the
 * start of the process. So loading (mostly os-ken's) and compiling (mostly ours) are in the first values only.
 */
import { median } from "../lib/table.ts";
import type { ControllerProcess } from "./controllers.ts";
import type { Connected, EmulatorClient } from "./emulator-client.ts";

const FIRST_SCENARIO = { shape: "tree", switches: 100, dpidOffset: 50_000, deadlineMs: 20_000 } as const;
const MAX_PORT_DOWNS = 60;
const MAX_PORT_UPS = 3;
const CHANGE_DEADLINE_MS = 10_000;
/** For the work that a controller does after all links are discovered. */
const SETTLE_MS = 2000;
/** Between two changes, so that they are independent. */
const BETWEEN_MS = 20;
const PAIR_COUNT = 5;

export interface Discovery {
  /** Until every link was reported at least once: in larger networks os-ken removes and adds links repeatedly. */
  readonly completeMs: number | undefined;
  readonly cpuSeconds: number;
}

export interface Measured extends Discovery {
  readonly first: Discovery;
  readonly portDownMs: number | undefined;
  readonly portUpMs: number | undefined;
}

export interface Scenario {
  readonly shape: string;
  readonly switches: number;
  readonly deadlineMs: number;
}

/** The same without changes of ports: only what it costs that the switches connect. */
export async function measureDiscovery(
  controller: ControllerProcess,
  network: EmulatorClient,
  task: Scenario,
): Promise<Discovery> {
  await discover(controller, network, FIRST_SCENARIO, FIRST_SCENARIO.dpidOffset);
  await network.disconnect();
  await Bun.sleep(SETTLE_MS);
  const { found } = await discover(controller, network, task, 0);
  await network.disconnect();
  return found;
}

export async function measure(
  controller: ControllerProcess,
  network: EmulatorClient,
  task: Scenario,
): Promise<Measured> {
  const startupCpuSeconds = controller.cpuSeconds();
  const { found: firstFound, connected: firstConnected } = await discover(
    controller,
    network,
    FIRST_SCENARIO,
    FIRST_SCENARIO.dpidOffset,
  );
  const first = { ...firstFound, cpuSeconds: startupCpuSeconds + firstFound.cpuSeconds };
  await measurePortChanges(controller, network, firstConnected, 0);
  await network.disconnect();
  await Bun.sleep(SETTLE_MS);
  const { found, connected } = await discover(controller, network, task, 0);
  const { downMs, upMs } = await measurePortChanges(controller, network, connected, MAX_PORT_UPS);
  await network.disconnect();
  const middle = (values: readonly number[]) => (values.length > 0 ? median(values) : undefined);
  return { first, ...found, portDownMs: middle(downMs), portUpMs: middle(upMs) };
}

async function discover(
  controller: ControllerProcess,
  network: EmulatorClient,
  { shape, switches, deadlineMs }: Scenario,
  dpidOffset: number,
): Promise<{ readonly found: Discovery; readonly connected: Connected }> {
  const { feed } = controller;
  feed.reset();
  const cpuBefore = controller.cpuSeconds();
  const connected = await network.connect(controller.port, shape, switches, dpidOffset);
  const complete = await feed.when(() => feed.seen.size >= connected.wires.length * 2, deadlineMs);
  const cpuSeconds = controller.cpuSeconds() - cpuBefore;
  await Bun.sleep(SETTLE_MS);
  const completeMs = complete === undefined ? undefined : complete - connected.first;
  return { found: { completeMs, cpuSeconds }, connected };
}

/** From a port going down or up until both of its links are reported removed or added. Uses known cables only. */
async function measurePortChanges(
  { feed }: ControllerProcess,
  network: EmulatorClient,
  { wires }: Connected,
  maxUps: number,
) {
  const known = [...wires.entries()].filter(([, names]) => names.every((name) => feed.current.has(name)));
  const step = Math.max(1, Math.floor(known.length / MAX_PORT_DOWNS));
  const downMs: number[] = [];
  const upMs: number[] = [];
  for (const [wire, names] of known.filter((_, i) => i % step === 0).slice(0, MAX_PORT_DOWNS)) {
    // In larger networks os-ken removes and adds links without a change.
    if (!names.every((name) => feed.current.has(name))) continue;
    await Bun.sleep(BETWEEN_MS);
    const downAt = await network.setWire(wire, "down");
    const removedAt = await feed.when(
      () => !names.some((name) => feed.current.has(name)),
      CHANGE_DEADLINE_MS,
    );
    if (removedAt !== undefined) downMs.push(removedAt - downAt);
    if (upMs.length >= maxUps) continue;
    const upAt = await network.setWire(wire, "up");
    const addedAt = await feed.when(() => names.every((name) => feed.current.has(name)), CHANGE_DEADLINE_MS);
    upMs.push((addedAt ?? upAt + CHANGE_DEADLINE_MS) - upAt);
  }
  return { downMs, upMs };
}

/** From two switches connecting until both are known and linked. That is more than ONOS's "switch up". */
export async function measurePairs(
  { port, feed }: ControllerProcess,
  network: EmulatorClient,
): Promise<number> {
  const times: number[] = [];
  for (let pair = 0; pair < PAIR_COUNT; pair++) {
    feed.reset();
    const { first } = await network.connect(port, "tree", 2, 60_000 + pair * 2);
    const complete = await feed.when(() => feed.seen.size >= 2, CHANGE_DEADLINE_MS);
    times.push((complete ?? first + CHANGE_DEADLINE_MS) - first);
    await network.disconnect();
  }
  return median(times);
}

export interface HeldSessions {
  readonly completeMs: number | undefined;
  /** Whether all links still exist at the end. */
  readonly allLinksLeft: boolean;
  readonly cpuPercent: number;
  readonly residentMiB: number;
}

export async function measureHeldSessions(
  controller: ControllerProcess,
  network: EmulatorClient,
  { switches, deadlineMs }: Scenario,
  seconds: number,
): Promise<HeldSessions> {
  const { feed } = controller;
  const { wires, first } = await network.connect(controller.port, "tree", switches);
  const links = wires.length * 2;
  const complete = await feed.when(() => feed.current.size === links, deadlineMs);
  const cpuBefore = controller.cpuSeconds();
  await Bun.sleep(seconds * 1000);
  const allLinksLeft = feed.current.size === links;
  const cpuPercent = ((controller.cpuSeconds() - cpuBefore) / seconds) * 100;
  const residentMiB = controller.residentMiB();
  await network.disconnect();
  return {
    completeMs: complete === undefined ? undefined : complete - first,
    allLinksLeft,
    cpuPercent,
    residentMiB,
  };
}
