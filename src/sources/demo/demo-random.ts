/** Reproducible random numbers: everything random in the simulated network is a function of the seed. */

/** Hashes three inputs to an unsigned 32-bit number. Attributes of entities are computed with it and not stored. */
export function hash32(seed: number, a: number, b = 0): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(a + 0x7f4a7c15, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 15) ^ Math.imul(b + 0x165667b1, 0x27d4eb2f), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return (h ^ (h >>> 15)) >>> 0;
}

export interface Random {
  /** Returns an integer from 0 to `limit` - 1. */
  below(limit: number): number;
}

export function createRandom(seed: number): Random {
  let drawn = 0;
  return { below: (limit) => Math.floor((hash32(seed, drawn++, 0x5eed) / 2 ** 32) * limit) };
}
