import { shown } from "../lib/table.ts";

/** One measured value, what it is compared with, and the target. */
export interface Result {
  readonly name: string;
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  readonly against?: Readonly<Record<string, number>>;
  /** Set for a value of which less is better. The ratio is then theirs to ours, so that more is better in every ratio. */
  readonly isCost?: true;
  /** The target: the least allowed ratio. */
  readonly bar?: number;
  /** Targets for our value alone. */
  readonly min?: number;
  readonly max?: number;
}

const ratioOf = ({ ours, against = {}, isCost }: Result): number | undefined => {
  const [theirs] = Object.values(against);
  if (theirs === undefined) return undefined;
  return isCost ? theirs / ours : ours / theirs;
};

/** The value, the peer with its value, the ratio, the target, and whether it is met. */
export function cellsOf(
  result: Result,
): [value: string, peer: string, ratio: string, target: string, verdict: string] {
  const [peer, theirs] = Object.entries(result.against ?? {})[0] ?? [];
  const target = result.bar ?? result.min ?? result.max;
  const isUpper = result.bar === undefined && result.min === undefined;
  const verdict = passed(result);
  return [
    `${shown(result.ours)} ${result.unit}`.trim(),
    theirs === undefined ? "" : `${peer} ${shown(theirs)}`,
    ratioOf(result)?.toFixed(2) ?? "",
    target === undefined ? "" : `${isUpper ? "≤" : "≥"} ${Number(target.toPrecision(3))}`,
    verdict === undefined ? "" : verdict ? "met" : "NOT MET",
  ];
}

function passed(result: Result): boolean | undefined {
  const ratio = ratioOf(result);
  if (result.bar !== undefined && ratio !== undefined) return ratio >= result.bar;
  if (result.min !== undefined) return result.ours >= result.min;
  if (result.max !== undefined) return result.ours <= result.max;
  return undefined;
}
