/**
 * OpenFlow discovery compared with os-ken on the same emulated networks: the time from the first connection to the
 * complete topology, the CPU time used, and the time from a port going down to the report of the removed links. Rounds are
 * interleaved, so that other load affects both; values are medians. Gazetteer runs with its defaults, so it also bridges;
 * os-ken only observes. Then the cost of many sessions, compared with what ONOS published.
 *
 * Both are read by a client of an event stream over HTTP: ours is the public interface. os-ken has none, so a minimal
 * application adds it (`osken_observer.py`).
 *
 * With `--before COMMIT` the peer is an earlier commit instead, and only the processor time of discovery is compared.
 */
import type { Result } from "../api/result.ts";
import { checkOut } from "../fairness/checkout.ts";
import { median } from "../lib/table.ts";
import { type ControllerProcess, startGazetteer, startOsken } from "./controllers.ts";
import { EmulatorClient } from "./emulator-client.ts";
import {
  type Discovery,
  type Measured,
  measure,
  measureDiscovery,
  measureHeldSessions,
  measurePairs,
} from "./measure.ts";

const SHAPES = ["tree", "torus"];
/** os-ken needs minutes for a large network. After this time the deadline counts as its result. */
const DEADLINE_MS = 60_000;
const PEER = "os-ken";
/** Published by ONOS's own system tests, one node; the better value of a range. */
const ONOS = { switchUpMs: 75, portDownMs: 6, portUpMs: 10, switches: 1600 };
const PUBLISHED = "ONOS, published,";

interface Run {
  readonly controller: "gazetteer" | typeof PEER;
  readonly shape: string;
  readonly switches: number;
  readonly measured: Measured;
}

export interface OpenflowOptions {
  readonly sizes: readonly number[];
  /** For the smallest networks. The larger ones are measured once, because the differences are large. */
  readonly rounds: number;
  readonly held: number;
  readonly heldSeconds: number;
}

export async function measureOpenflow(options: OpenflowOptions): Promise<Result[]> {
  const network = new EmulatorClient();
  try {
    // Warms up the emulator.
    await withController(startGazetteer, (controller) => measurePairs(controller, network));
    const runs = await measureAll(options, network);
    return [...compareWithOsken(runs), ...(await compareWithOnos(options, runs, network))];
  } finally {
    await network.close();
  }
}

const BESIDE_SIZES = [100, 500];
/** The processor time that this code may use, as a share of that of the earlier commit. */
const MAX_SHARE = 1.05;

/** Processor time until the topology is complete, this code beside an earlier commit of it, interleaved. */
export async function measureOpenflowBeside(before: string, rounds: number): Promise<Result[]> {
  using earlier = checkOut(before);
  const network = new EmulatorClient();
  try {
    // Warms up the emulator.
    await withController(startGazetteer, (controller) => measurePairs(controller, network));
    const results: Result[] = [];
    for (const switches of BESIDE_SIZES) {
      const scenario = { shape: "tree", switches, deadlineMs: DEADLINE_MS };
      const [now, then]: [Discovery[], Discovery[]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        const discover = (controller: ControllerProcess) => measureDiscovery(controller, network, scenario);
        now.push(await withController(startGazetteer, discover));
        then.push(await withController(() => startGazetteer(earlier.root), discover));
      }
      const cpu = (found: readonly Discovery[]) => median(found.map(({ cpuSeconds }) => cpuSeconds));
      results.push({
        name: `tree of ${switches}`,
        what: "CPU until the topology is complete",
        unit: "s",
        ours: cpu(now),
        against: { [before]: cpu(then) },
        max: MAX_SHARE * cpu(then),
      });
    }
    return results;
  } finally {
    await network.close();
  }
}

async function withController<T>(
  start: () => Promise<ControllerProcess>,
  use: (controller: ControllerProcess) => Promise<T>,
): Promise<T> {
  const controller = await start();
  try {
    return await use(controller);
  } finally {
    await controller.stop();
  }
}

async function measureAll({ sizes, rounds }: OpenflowOptions, network: EmulatorClient): Promise<Run[]> {
  const peer = await Bun.file("/usr/bin/osken-manager").exists();
  const controllers = [
    { controller: "gazetteer", start: startGazetteer },
    ...(peer ? [{ controller: PEER, start: startOsken } as const] : []),
  ] as const;
  const runs: Run[] = [];
  for (const [i, switches] of sizes.entries()) {
    for (let round = 0; round < (i === 0 ? rounds : 1); round++) {
      for (const shape of SHAPES) {
        for (const { controller, start } of controllers) {
          const scenario = { shape, switches, deadlineMs: DEADLINE_MS };
          const measured = await withController(start, (process) => measure(process, network, scenario));
          runs.push({ controller, shape, switches, measured });
          process.stderr.write(`${JSON.stringify(runs.at(-1))}\n`);
        }
      }
    }
  }
  return runs;
}

type Figure = (measured: Measured) => number | undefined;
interface Column {
  readonly what: string;
  readonly unit: string;
  readonly figure: Figure;
}
const PORT_DOWN: Column = {
  what: "port down to event",
  unit: "ms",
  figure: ({ portDownMs }) => portDownMs,
};
const PORT_UP: Column = { what: "port up to event", unit: "ms", figure: ({ portUpMs }) => portUpMs };
const FIGURES: readonly Column[] = [
  { what: "topology complete", unit: "ms", figure: ({ completeMs }) => completeMs ?? DEADLINE_MS },
  { what: "CPU until then", unit: "s", figure: ({ cpuSeconds }) => cpuSeconds },
  PORT_DOWN,
  PORT_UP,
];
const FIRST_FIGURES: readonly Column[] = [
  { what: "topology complete", unit: "ms", figure: ({ first }) => first.completeMs },
  { what: "CPU from its start until then", unit: "s", figure: ({ first }) => first.cpuSeconds },
];

function medianOf(runs: readonly Run[], controller: Run["controller"], figure: Figure): number | undefined {
  const values = runs
    .filter((run) => run.controller === controller)
    .map(({ measured }) => figure(measured))
    .filter((value) => value !== undefined);
  // Rounded as it is shown, because it is the target for our value.
  return values.length > 0 ? Number(median(values).toPrecision(3)) : undefined;
}

function compare(runs: readonly Run[], name: string, figures: readonly Column[]): Result[] {
  return figures.flatMap(({ what, unit, figure }) => {
    const ours = medianOf(runs, "gazetteer", figure);
    const theirs = medianOf(runs, PEER, figure);
    if (ours === undefined) return [];
    const against = theirs !== undefined && { against: { [PEER]: theirs }, max: theirs };
    return [{ name, what, unit, ours, ...against }];
  });
}

function compareWithOsken(runs: readonly Run[]): Result[] {
  const networks = Map.groupBy(runs, ({ shape, switches }) => `${shape} of ${switches}`);
  return [
    ...[...networks].flatMap(([name, runsOfNetwork]) => compare(runsOfNetwork, name, FIGURES)),
    ...compare(runs, "tree of 100, first of a process", FIRST_FIGURES),
  ];
}

async function compareWithOnos(
  { held: switches, heldSeconds }: OpenflowOptions,
  runs: readonly Run[],
  network: EmulatorClient,
): Promise<Result[]> {
  const compareMs = (what: string, ours: number | undefined, theirs: number): Result[] =>
    ours === undefined
      ? []
      : [{ name: "beside ONOS", what, unit: "ms", ours, against: { [PUBLISHED]: theirs }, max: theirs }];
  const pairMs = await withController(startGazetteer, async (controller) => {
    await measurePairs(controller, network);
    return measurePairs(controller, network);
  });
  const held = await withController(startGazetteer, (controller) =>
    measureHeldSessions(
      controller,
      network,
      { shape: "tree", switches, deadlineMs: DEADLINE_MS },
      heldSeconds,
    ),
  );
  const name = `${switches} sessions`;
  return [
    ...compareMs("two switches up and linked", pairMs, ONOS.switchUpMs),
    ...compareMs(PORT_DOWN.what, medianOf(runs, "gazetteer", PORT_DOWN.figure), ONOS.portDownMs),
    ...compareMs(PORT_UP.what, medianOf(runs, "gazetteer", PORT_UP.figure), ONOS.portUpMs),
    {
      name,
      what: `held for ${heldSeconds} s, all links still there`,
      unit: "switches",
      ours: held.allLinksLeft ? switches : 0,
      against: { [PUBLISHED]: ONOS.switches },
      min: switches,
    },
    { name, what: "complete after", unit: "ms", ours: held.completeMs ?? DEADLINE_MS },
    { name, what: "CPU while held", unit: "% of a core", ours: held.cpuPercent },
    { name, what: "resident", unit: "MiB", ours: held.residentMiB },
  ];
}
