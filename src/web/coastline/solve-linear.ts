/**
 * Solves a small dense system of linear equations for two right sides at once, by elimination with the largest pivot. The
 * matrix of a rubber sheet has zeros on its diagonal, so that a method for positive definite matrices does not fit.
 */
export interface LinearSystem {
  /** `size` rows of `size` coefficients, then the two right sides. It is overwritten. */
  readonly rows: readonly Float64Array[];
}

/** The two solutions, flat: those of the first unknown, of the second, and so on. Undefined for a singular system. */
export function solveLinear({ rows }: LinearSystem): Float64Array | undefined {
  const size = rows.length;
  const order = [...rows];
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++)
      if (Math.abs(order[row]?.[column] ?? 0) > Math.abs(order[pivot]?.[column] ?? 0)) pivot = row;
    const [upper, other] = [order[pivot], order[column]];
    if (!upper || !other || Math.abs(upper[column] ?? 0) < 1e-12) return undefined;
    [order[column], order[pivot]] = [upper, other];
    for (let row = column + 1; row < size; row++) subtract(order[row], upper, column);
  }
  const solutions = new Float64Array(size * 2);
  for (let row = size - 1; row >= 0; row--) {
    const values = order[row] ?? new Float64Array();
    for (const side of [0, 1]) {
      let sum = values[size + side] ?? 0;
      for (let column = row + 1; column < size; column++)
        sum -= (values[column] ?? 0) * (solutions[column * 2 + side] ?? 0);
      solutions[row * 2 + side] = sum / (values[row] ?? 1);
    }
  }
  return solutions;
}

/** Makes the coefficient of the column zero. */
function subtract(row: Float64Array | undefined, upper: Float64Array, column: number): void {
  const factor = (row?.[column] ?? 0) / (upper[column] ?? 1);
  if (!row || factor === 0) return;
  for (let i = column; i < row.length; i++) row[i] = (row[i] ?? 0) - factor * (upper[i] ?? 0);
}
