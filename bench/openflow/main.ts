/**
 * OpenFlow discovery, side by side with os-ken on the same emulated networks: time from the first connection to the
 * whole topology, CPU it took, and time from a port going down to the links' end being told. Runs are interleaved, so
 * that whatever else the machine does falls on both. Then how many sessions are held, at what cost.
 *
 *   bun bench/openflow/main.ts [--quick] [--no-peer]
 *
 * Both are counted by a client of an event stream over HTTP: ours is the public interface, theirs the least that an
 * application would add (`osken_observer.py`), as os-ken itself has none.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { median, table } from "../lib/table.ts";
import { type Controller, lines, startGazetteer, startOsken } from "./controllers.ts";

const quick = process.argv.includes("--quick");
const withPeer = !process.argv.includes("--no-peer") && (await Bun.file("/usr/bin/osken-manager").exists());
const SIZES = quick ? [100] : [100, 500, 1000];
const SHAPES = ["tree", "torus"];
const DOWNS = 20;
const UPS = 3;
const UP_DEADLINE_MS = 10_000;
/** Their discovery of a large network takes minutes; how long to wait for it. */
const PEER_DEADLINE_MS = 120_000;
const DEADLINE_MS = 60_000;

/** Published by ONOS's own system tests, one node; milliseconds. */
const ONOS = { switchUpMs: 75, portDownMs: 7, portUpMs: 21, switchesHeld: 1600 };

interface Measured {
  readonly controller: string;
  readonly shape: string;
  readonly switches: number;
  readonly links: number;
  readonly completeMs: number | undefined;
  /** How many of them stood at the end. */
  readonly linksAtOnce: number;
  readonly cpuSeconds: number;
  readonly portDownMs: number | undefined;
  readonly portUpMs: number | undefined;
}

interface Emulation {
  /** For each wire the names of its two links. */
  readonly wires: readonly (readonly string[])[];
  readonly first: number;
  command(word: "up" | "down", index: number): Promise<number>;
  stop(): Promise<void>;
}

async function emulate(port: number, shape: string, count: number): Promise<Emulation> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "emulate.ts"), String(port), shape, String(count)],
    { stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  );
  const told = lines(child.stdout);
  const next = async () => JSON.parse((await told.next()).value ?? "{}");
  const { wires, first }: Pick<Emulation, "wires" | "first"> = await next();
  await next(); // connected
  return {
    wires,
    first,
    async command(word, index) {
      child.stdin.write(`${word} ${index}\n`);
      await child.stdin.flush();
      const { at }: { at: number } = await next();
      return at;
    },
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

async function measure(controller: Controller, shape: string, switches: number): Promise<Measured> {
  const cpuBefore = controller.cpuSeconds();
  const emulation = await emulate(controller.port, shape, switches);
  try {
    const { wires, first } = emulation;
    const { feed } = controller;
    const links = wires.length * 2;
    const deadline = controller.name === "gazetteer" ? DEADLINE_MS : PEER_DEADLINE_MS;
    // Each link told of at least once: theirs come and go in larger networks, so they are rarely all there at once.
    const complete = await feed.when(() => feed.ever.size >= links, deadline);
    const cpuSeconds = controller.cpuSeconds() - cpuBefore;
    const downs: number[] = [];
    const ups: number[] = [];
    for (let i = 0; i < DOWNS; i++) {
      const index = Math.floor((i * wires.length) / DOWNS);
      const names = wires[index] ?? [];
      if (!names.every((name) => feed.now.has(name))) continue;
      const downAt = await emulation.command("down", index);
      const gone = await feed.when(() => !names.some((name) => feed.now.has(name)), DEADLINE_MS);
      if (gone !== undefined) downs.push(gone - downAt);
      if (ups.length >= UPS) continue;
      const upAt = await emulation.command("up", index);
      const back = await feed.when(() => names.every((name) => feed.now.has(name)), UP_DEADLINE_MS);
      ups.push((back ?? upAt + UP_DEADLINE_MS) - upAt);
    }
    return {
      controller: controller.name,
      shape,
      switches,
      links,
      completeMs: complete === undefined ? undefined : complete - first,
      linksAtOnce: feed.now.size,
      cpuSeconds,
      portDownMs: downs.length > 0 ? median(downs) : undefined,
      portUpMs: ups.length > 0 ? median(ups) : undefined,
    };
  } finally {
    await emulation.stop();
  }
}

async function measureOnce(
  start: () => Promise<Controller>,
  shape: string,
  switches: number,
): Promise<Measured> {
  const controller = await start();
  try {
    return await measure(controller, shape, switches);
  } finally {
    await controller.stop();
  }
}

async function hold(switches: number, seconds: number) {
  const controller = await startGazetteer();
  const emulation = await emulate(controller.port, "tree", switches);
  try {
    const links = emulation.wires.length * 2;
    const complete = await controller.feed.when(() => controller.feed.now.size === links, DEADLINE_MS);
    const cpuBefore = controller.cpuSeconds();
    await Bun.sleep(seconds * 1000);
    const still = controller.feed.now.size === links;
    return {
      switches,
      completeMs: complete === undefined ? undefined : complete - emulation.first,
      heldSeconds: seconds,
      linksStill: still,
      cpuPercent: ((controller.cpuSeconds() - cpuBefore) / seconds) * 100,
      residentMiB: controller.residentMiB(),
    };
  } finally {
    await emulation.stop();
    await controller.stop();
  }
}

const runs: Measured[] = [];
for (const switches of SIZES) {
  const rounds = quick ? 1 : switches === 100 ? 3 : 1;
  for (let round = 0; round < rounds; round++) {
    for (const shape of SHAPES) {
      for (const start of withPeer ? [startGazetteer, startOsken] : [startGazetteer]) {
        const measured = await measureOnce(start, shape, switches);
        runs.push(measured);
        process.stderr.write(`${JSON.stringify(measured)}\n`);
      }
    }
  }
}
const held = await hold(quick ? 500 : 2000, quick ? 5 : 30);

type Figure = "completeMs" | "cpuSeconds" | "portDownMs" | "portUpMs";
const FIGURES: readonly { readonly key: Figure; readonly name: string }[] = [
  { key: "completeMs", name: "topology complete, ms" },
  { key: "cpuSeconds", name: "CPU until then, s" },
  { key: "portDownMs", name: "port down to told, ms" },
  { key: "portUpMs", name: "port up to told, ms" },
];
const rows: string[][] = [["network", "figure", "gazetteer", "os-ken", "os-ken / gazetteer"]];
const summary: Record<string, unknown>[] = [];
for (const switches of SIZES) {
  for (const shape of SHAPES) {
    for (const { key, name } of FIGURES) {
      const of = (controller: string) => {
        const values = runs
          .filter((run) => run.controller === controller && run.shape === shape && run.switches === switches)
          .map((run) => run[key]);
        const known = values.filter((value) => value !== undefined);
        return known.length > 0 ? median(known) : undefined;
      };
      const [ours, theirs] = [of("gazetteer"), of("os-ken")];
      const ratio = ours !== undefined && theirs !== undefined ? theirs / ours : undefined;
      summary.push({ shape, switches, figure: key, gazetteer: ours, osKen: theirs, ratio });
      const text = (value: number | undefined) =>
        value === undefined ? "-" : value.toFixed(value < 10 ? 2 : 0);
      rows.push([
        `${shape} of ${switches}`,
        name,
        text(ours),
        text(theirs),
        ratio === undefined ? "-" : `${ratio.toFixed(1)} x`,
      ]);
    }
  }
}
console.log(table(rows));
const portDown = median(
  runs.filter((run) => run.controller === "gazetteer").map((run) => run.portDownMs ?? Number.NaN),
);
console.log(
  `\n${table([
    ["", "gazetteer", "ONOS, published"],
    ["port down to told, ms", portDown.toFixed(2), String(ONOS.portDownMs)],
    ["switches held", String(held.switches), String(ONOS.switchesHeld)],
    ["  complete after, ms", held.completeMs?.toFixed(0) ?? "never", ""],
    [`  still complete after ${held.heldSeconds} s`, String(held.linksStill), ""],
    ["  CPU while held, % of a core", held.cpuPercent.toFixed(1), ""],
    ["  resident, MiB", held.residentMiB.toFixed(0), ""],
  ])}`,
);
if (!quick && withPeer) {
  const machine = { arch: process.arch, cores: navigator.hardwareConcurrency, runtime: `bun ${Bun.version}` };
  const results = { machine, summary, held, published: { onos: ONOS }, runs };
  writeFileSync(join(import.meta.dir, "results.json"), `${JSON.stringify(results, null, 2)}\n`);
}
