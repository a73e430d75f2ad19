/**
 * One run of one controller on one emulated network. It is measured as a controller in service is: it has seen a network
 * come and go before. What that first network took, a tree of 100, is told too, and there the CPU counts from the start
 * of the process. So loading (most of it os-ken's) and compiling (most of it ours) are out of the one and in the other,
 * for both.
 */
import { median } from "../lib/table.ts";
import type { ControllerProcess } from "./controllers.ts";
import type { Connected, EmulatorClient } from "./emulator-client.ts";

const FIRST_SCENARIO = { shape: "tree", switches: 100, before: 50_000, deadlineMs: 20_000 } as const;
const MAX_PORT_DOWNS = 60;
const MAX_PORT_UPS = 3;
const CHANGE_DEADLINE_MS = 10_000;
/** For what a controller still does once all is found. */
const SETTLE_MS = 2000;
/** Between two changes, so that each is one by itself. */
const BETWEEN_MS = 20;
const PAIR_COUNT = 5;

export interface Discovery {
  /** Until every link was told at least once: os-ken's come and go in larger networks. */
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

export async function measure(
  controller: ControllerProcess,
  network: EmulatorClient,
  task: Scenario,
): Promise<Measured> {
  const cpuOfStart = controller.cpuSeconds();
  const { found: young, connected: earlier } = await discover(
    controller,
    network,
    FIRST_SCENARIO,
    FIRST_SCENARIO.before,
  );
  const first = { ...young, cpuSeconds: cpuOfStart + young.cpuSeconds };
  await measurePortChanges(controller, network, earlier, 0);
  await network.disconnect();
  await Bun.sleep(SETTLE_MS);
  const { found, connected } = await discover(controller, network, task, 0);
  const { downs, ups } = await measurePortChanges(controller, network, connected, MAX_PORT_UPS);
  await network.disconnect();
  const middle = (values: readonly number[]) => (values.length > 0 ? median(values) : undefined);
  return { first, ...found, portDownMs: middle(downs), portUpMs: middle(ups) };
}

async function discover(
  controller: ControllerProcess,
  network: EmulatorClient,
  { shape, switches, deadlineMs }: Scenario,
  before: number,
): Promise<{ readonly found: Discovery; readonly connected: Connected }> {
  const { feed } = controller;
  feed.reset();
  const cpuBefore = controller.cpuSeconds();
  const connected = await network.connect(controller.port, shape, switches, before);
  const complete = await feed.when(() => feed.seen.size >= connected.wires.length * 2, deadlineMs);
  const cpuSeconds = controller.cpuSeconds() - cpuBefore;
  await Bun.sleep(SETTLE_MS);
  const completeMs = complete === undefined ? undefined : complete - connected.first;
  return { found: { completeMs, cpuSeconds }, connected };
}

/** From a port going down, or up, to the last of its two links told gone, or back. Only wires that are known count. */
async function measurePortChanges(
  { feed }: ControllerProcess,
  network: EmulatorClient,
  { wires }: Connected,
  mostUps: number,
) {
  const known = [...wires.entries()].filter(([, names]) => names.every((name) => feed.current.has(name)));
  const step = Math.max(1, Math.floor(known.length / MAX_PORT_DOWNS));
  const downs: number[] = [];
  const ups: number[] = [];
  for (const [wire, names] of known.filter((_, i) => i % step === 0).slice(0, MAX_PORT_DOWNS)) {
    // They come and go by themselves in larger networks of os-ken's.
    if (!names.every((name) => feed.current.has(name))) continue;
    await Bun.sleep(BETWEEN_MS);
    const downAt = await network.setWire(wire, "down");
    const gone = await feed.when(() => !names.some((name) => feed.current.has(name)), CHANGE_DEADLINE_MS);
    if (gone !== undefined) downs.push(gone - downAt);
    if (ups.length >= mostUps) continue;
    const upAt = await network.setWire(wire, "up");
    const back = await feed.when(() => names.every((name) => feed.current.has(name)), CHANGE_DEADLINE_MS);
    ups.push((back ?? upAt + CHANGE_DEADLINE_MS) - upAt);
  }
  return { downs, ups };
}

/** Two switches that connect, until both are known and linked: more than ONOS's "switch up". */
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

export interface Held {
  readonly completeMs: number | undefined;
  /** All links are still there at the end. */
  readonly still: boolean;
  readonly cpuPercent: number;
  readonly residentMiB: number;
}

/** Many sessions for a while. */
export async function measureHeldSessions(
  controller: ControllerProcess,
  network: EmulatorClient,
  { switches, deadlineMs }: Scenario,
  seconds: number,
): Promise<Held> {
  const { feed } = controller;
  const { wires, first } = await network.connect(controller.port, "tree", switches);
  const links = wires.length * 2;
  const complete = await feed.when(() => feed.current.size === links, deadlineMs);
  const cpuBefore = controller.cpuSeconds();
  await Bun.sleep(seconds * 1000);
  const still = feed.current.size === links;
  const cpuPercent = ((controller.cpuSeconds() - cpuBefore) / seconds) * 100;
  const residentMiB = controller.residentMiB();
  await network.disconnect();
  return {
    completeMs: complete === undefined ? undefined : complete - first,
    still,
    cpuPercent,
    residentMiB,
  };
}
