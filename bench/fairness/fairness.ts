/**
 * Fairness: what a reader of `/topology` at 200 requests a second sees while one attack runs from another process as
 * another user. One row an attack; one column for this commit, one for it with two reader processes, one for the commit
 * before. The limits of latency are those of the cost model.
 */
import { join } from "node:path";
import { ATTACKS } from "../../test/support/attacks/attacks.ts";
import { LOADING_ATTACK } from "../../test/support/attacks/sources.ts";
import type { Result } from "../api/result.ts";
import { table } from "../lib/table.ts";
import { checkOut } from "./checkout.ts";
import { type Measured, measureRow, SETTLE_MS } from "./row.ts";
import { type ServiceShape, startUnderAttack } from "./service.ts";

/** The last commit before work was divided into slices. */
export const DEFAULT_BEFORE = "79c7ab8";

export interface FairnessOptions {
  readonly folder: string;
  readonly large: boolean;
  readonly seconds: number;
  /** A git revision to compare with; "none" for no comparison. */
  readonly before: string;
  /** Names of attacks; all when empty. */
  readonly rows: readonly string[];
  /** Names of columns; all when empty. */
  readonly columns: readonly string[];
}

const SIZES = {
  small: { devices: 2000, hosts: 50_000, p99: 25, max: 100 },
  large: { devices: 10_000, hosts: 1_000_000, p99: 50, max: 250 },
} as const;
const CHANGES_PER_SECOND = 20;
/** A service that holds more than this share of its memory at the start is replaced before the next row. */
const MAX_GROWTH = 1.3;
const ROOT = join(import.meta.dir, "../..");

type Column = readonly [name: string, shape: ServiceShape];

export async function measureFairness(options: FairnessOptions): Promise<Result[]> {
  const size = options.large ? SIZES.large : SIZES.small;
  const attacks = ATTACKS.filter(
    ({ name }) =>
      (options.rows.length === 0 || options.rows.includes(name)) &&
      (options.large || name !== LOADING_ATTACK.name),
  );
  const { devices, hosts } = size;
  const shape = { devices, hosts, changesPerSecond: CHANGES_PER_SECOND, root: ROOT, readers: 1 };
  const columns: Column[] = [
    ["now", shape],
    ["readers-2", { ...shape, readers: 2 }],
  ];
  using before = options.before === "none" ? undefined : checkOut(options.before);
  if (before) columns.push(["before", { ...shape, root: before.root }]);
  const selected = columns.filter(([name]) => options.columns.length === 0 || options.columns.includes(name));

  const measured = new Map<string, Map<string, Measured>>();
  for (const [name, each] of selected) {
    measured.set(name, await measureColumn(name, each, attacks, options));
  }
  const verdict = ({ p99, max, errors }: Measured) => p99 <= size.p99 && max <= size.max && errors === 0;
  const cells = (result: Measured | undefined) =>
    result
      ? [
          ms(result.p99),
          ms(result.max),
          String(result.errors),
          result.peakMiB.toFixed(0),
          verdict(result) ? "met" : "NOT MET",
        ]
      : ["", "", "", "", ""];
  const heads = selected.flatMap(([name]) => [`${name}: p99 ms`, "max ms", "errors", "peak MiB", ""]);
  const rows = attacks.map(({ name, what }) => [
    name,
    what,
    ...selected.flatMap(([each]) => cells(measured.get(each)?.get(name))),
  ]);
  console.log(
    `${devices} devices, ${hosts} hosts, ${CHANGES_PER_SECOND} changes/s; 200 requests/s of /topology`,
  );
  console.log(`limits: p99 ≤ ${size.p99} ms, max ≤ ${size.max} ms, no error`);
  console.log(table([["attack", "what", ...heads], ...rows]));
  return attacks.flatMap(({ name, what }) => resultsOf(name, what, measured, size));
}

const ms = (value: number): string => (value < 100 ? value.toFixed(1) : value.toFixed(0));

async function measureColumn(
  column: string,
  shape: ServiceShape,
  attacks: readonly { readonly name: string }[],
  { folder, seconds }: FairnessOptions,
): Promise<Map<string, Measured>> {
  const results = new Map<string, Measured>();
  const start = () => startUnderAttack(join(folder, "fairness"), shape);
  let service = await start();
  let startBytes = service.residentBytes();
  try {
    for (const { name } of attacks) {
      const result = await measureRow(service, name, seconds).catch((error: unknown) => {
        process.stderr.write(`${column} ${name}: ${error}\n`);
        return undefined;
      });
      if (result) results.set(name, result);
      const { p50 = 0, p99 = 0, max = 0, errors = 0, ownDelay = 0, peakMiB = 0, remark = "" } = result ?? {};
      process.stderr.write(
        `${column} ${name}: p50 ${ms(p50)} p99 ${ms(p99)} max ${ms(max)} ms, ${errors} errors, ${peakMiB.toFixed(0)} MiB, ` +
          `reader late by at most ${ms(ownDelay)} ms; ${remark}\n`,
      );
      const isLast = name === attacks.at(-1)?.name;
      const reusable =
        result !== undefined &&
        (await service.settles(SETTLE_MS)) &&
        service.residentBytes() < startBytes * MAX_GROWTH;
      if (isLast || reusable) continue;
      await service.stop();
      service = await start();
      startBytes = service.residentBytes();
    }
  } finally {
    await service.stop();
  }
  return results;
}

function resultsOf(
  name: string,
  what: string,
  measured: ReadonlyMap<string, ReadonlyMap<string, Measured>>,
  limits: { readonly p99: number; readonly max: number },
): Result[] {
  const before = measured.get("before")?.get(name);
  return ["now", "readers-2"].flatMap((column) => {
    const result = measured.get(column)?.get(name);
    if (!result) return [];
    const value = (key: "p99" | "max" | "errors" | "peakMiB", unit: string, max?: number): Result => ({
      name: `${name}/${key}${column === "now" ? "" : `/${column}`}`,
      what,
      unit,
      ours: result[key],
      ...(before === undefined ? {} : { against: { before: before[key] } }),
      ...(max === undefined ? {} : { max }),
    });
    return [
      value("p99", "ms", limits.p99),
      value("max", "ms", limits.max),
      value("errors", "", 0),
      value("peakMiB", "MiB"),
    ];
  });
}
