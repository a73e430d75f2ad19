/**
 * Combines two CRC-32 values into that of the concatenated data. With it, one gzip member is built from parts that were
 * compressed at different times, without reading their content again.
 *
 * A CRC is linear over GF(2): appending n zero bytes multiplies the register by a matrix that depends only on n, and the
 * matrix for 2n is the square of the matrix for n.
 */
type Matrix = Uint32Array;

const POLYNOMIAL = 0xedb88320;

function multiply(matrix: Matrix, vector: number): number {
  let sum = 0;
  for (let i = 0; vector !== 0; i++, vector >>>= 1) if (vector & 1) sum ^= matrix[i] ?? 0;
  return sum >>> 0;
}

const square = (matrix: Matrix): Matrix => matrix.map((row) => multiply(matrix, row));

/** The matrices for powers of two: the one at index i appends 2^i zero bytes. */
const ZERO_BYTE_MATRICES: Matrix[] = (() => {
  const oneBit = new Uint32Array(32);
  oneBit[0] = POLYNOMIAL;
  for (let i = 1; i < 32; i++) oneBit[i] = 2 ** (i - 1);
  let matrix: Matrix = oneBit;
  for (let bits = 1; bits < 8; bits *= 2) matrix = square(matrix);
  const all: Matrix[] = [];
  for (let i = 0; i < 40; i++) {
    all.push(matrix);
    matrix = square(matrix);
  }
  return all;
})();

/** The CRC-32 of A followed by B. */
export function crc32Combine(crcA: number, crcB: number, lengthB: number): number {
  let crc = crcA;
  for (let power = 0, rest = lengthB; rest > 0; power++, rest = Math.floor(rest / 2)) {
    const matrix = ZERO_BYTE_MATRICES[power];
    if (rest % 2 === 1 && matrix) crc = multiply(matrix, crc);
  }
  return (crc ^ crcB) >>> 0;
}
