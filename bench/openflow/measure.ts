/**
 * One run of one controller on one emulated network. It is measured as a controller in service is: it has seen a network
 * come and go before. What that first network took, a tree of 100, is told too, and there the CPU counts from the start
 * of the process. So loading (most of it os-ken's) and compiling (most of it ours) are out of the one and in the other,
 * for both.
 */
import { median } from "../lib/table.ts";
import type { Controller } from "./controllers.ts";
import type { Connected, Network } from "./emulator-client.ts";

const FIRST = { shape: "tree", switches: 100, before: 50_000, deadlineMs: 20_000 } as const;
const DOWNS = 60;
const UPS = 3;
const CHANGE_DEADLINE_MS = 10_000;
/** For what a controller still does once all is found. */
const REST_MS = 2000;
/** Between two changes, so that each is one by itself. */
const BETWEEN_MS = 20;
const PAIRS = 5;

export interface Found {
  /** Until every link was told at least once: os-ken's come and go in larger networks. */
  readonly completeMs: number | undefined;
  readonly cpuSeconds: number;
}

export interface Measured extends Found {
  readonly first: Found;
  readonly portDownMs: number | undefined;
  readonly portUpMs: number | undefined;
}

export interface Task {
  readonly shape: string;
  readonly switches: number;
  readonly deadlineMs: number;
}

export async function measure(controller: Controller, network: Network, task: Task): Promise<Measured> {
  const cpuOfStart = controller.cpuSeconds();
  const { found: young, connected: earlier } = await discover(controller, network, FIRST, FIRST.before);
  const first = { ...young, cpuSeconds: cpuOfStart + young.cpuSeconds };
  await changes(controller, network, earlier, 0);
  await network.leave();
  await Bun.sleep(REST_MS);
  const { found, connected } = await discover(controller, network, task, 0);
  const { downs, ups } = await changes(controller, network, connected, UPS);
  await network.leave();
  const middle = (values: readonly number[]) => (values.length > 0 ? median(values) : undefined);
  return { first, ...found, portDownMs: middle(downs), portUpMs: middle(ups) };
}

async function discover(
  controller: Controller,
  network: Network,
  { shape, switches, deadlineMs }: Task,
  before: number,
): Promise<{ readonly found: Found; readonly connected: Connected }> {
  const { feed } = controller;
  feed.forget();
  const cpuBefore = controller.cpuSeconds();
  const connected = await network.connect(controller.port, shape, switches, before);
  const complete = await feed.when(() => feed.ever.size >= connected.wires.length * 2, deadlineMs);
  const cpuSeconds = controller.cpuSeconds() - cpuBefore;
  await Bun.sleep(REST_MS);
  const completeMs = complete === undefined ? undefined : complete - connected.first;
  return { found: { completeMs, cpuSeconds }, connected };
}

/** From a port going down, or up, to the last of its two links told gone, or back. Only wires that are known count. */
async function changes({ feed }: Controller, network: Network, { wires }: Connected, mostUps: number) {
  const known = [...wires.entries()].filter(([, names]) => names.every((name) => feed.now.has(name)));
  const step = Math.max(1, Math.floor(known.length / DOWNS));
  const downs: number[] = [];
  const ups: number[] = [];
  for (const [wire, names] of known.filter((_, i) => i % step === 0).slice(0, DOWNS)) {
    // They come and go by themselves in larger networks of os-ken's.
    if (!names.every((name) => feed.now.has(name))) continue;
    await Bun.sleep(BETWEEN_MS);
    const downAt = await network.set(wire, "down");
    const gone = await feed.when(() => !names.some((name) => feed.now.has(name)), CHANGE_DEADLINE_MS);
    if (gone !== undefined) downs.push(gone - downAt);
    if (ups.length >= mostUps) continue;
    const upAt = await network.set(wire, "up");
    const back = await feed.when(() => names.every((name) => feed.now.has(name)), CHANGE_DEADLINE_MS);
    ups.push((back ?? upAt + CHANGE_DEADLINE_MS) - upAt);
  }
  return { downs, ups };
}

/** Two switches that connect, until both are known and linked: more than ONOS's "switch up". */
export async function measurePairs({ port, feed }: Controller, network: Network): Promise<number> {
  const times: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    feed.forget();
    const { first } = await network.connect(port, "tree", 2, 60_000 + pair * 2);
    const complete = await feed.when(() => feed.ever.size >= 2, CHANGE_DEADLINE_MS);
    times.push((complete ?? first + CHANGE_DEADLINE_MS) - first);
    await network.leave();
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
export async function hold(
  controller: Controller,
  network: Network,
  { switches, deadlineMs }: Task,
  seconds: number,
): Promise<Held> {
  const { feed } = controller;
  const { wires, first } = await network.connect(controller.port, "tree", switches);
  const links = wires.length * 2;
  const complete = await feed.when(() => feed.now.size === links, deadlineMs);
  const cpuBefore = controller.cpuSeconds();
  await Bun.sleep(seconds * 1000);
  const still = feed.now.size === links;
  const cpuPercent = ((controller.cpuSeconds() - cpuBefore) / seconds) * 100;
  const residentMiB = controller.residentMiB();
  await network.leave();
  return {
    completeMs: complete === undefined ? undefined : complete - first,
    still,
    cpuPercent,
    residentMiB,
  };
}
