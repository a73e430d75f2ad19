/** One measured value, what it is compared with, and the target. */
export interface Result {
  readonly name: string;
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  readonly against?: Readonly<Record<string, number>>;
  /** The target: the least allowed ratio of our value to theirs. */
  readonly bar?: number;
  /** Targets for our value alone. */
  readonly min?: number;
  readonly max?: number;
}

export const ratioOf = ({ ours, against = {} }: Result): number | undefined => {
  const [theirs] = Object.values(against);
  return theirs === undefined ? undefined : ours / theirs;
};

export function passed(result: Result): boolean | undefined {
  const ratio = ratioOf(result);
  if (result.bar !== undefined && ratio !== undefined) return ratio >= result.bar;
  if (result.min !== undefined) return result.ours >= result.min;
  if (result.max !== undefined) return result.ours <= result.max;
  return undefined;
}
