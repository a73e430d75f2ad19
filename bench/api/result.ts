/** One measured figure: ours, whose it is compared with, and the bar it is held to. */
export interface Result {
  readonly name: string;
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  readonly against?: Readonly<Record<string, number>>;
  /** The least our figure may be of theirs. */
  readonly bar?: number;
  /** The least, or most, our figure may be by itself. */
  readonly least?: number;
  readonly most?: number;
}

export const ratioOf = ({ ours, against = {} }: Result): number | undefined => {
  const [theirs] = Object.values(against);
  return theirs === undefined ? undefined : ours / theirs;
};

export function passed(result: Result): boolean | undefined {
  const ratio = ratioOf(result);
  if (result.bar !== undefined && ratio !== undefined) return ratio >= result.bar;
  if (result.least !== undefined) return result.ours >= result.least;
  if (result.most !== undefined) return result.ours <= result.most;
  return undefined;
}
