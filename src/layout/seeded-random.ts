/** Mulberry32: pseudo-random numbers from 0 to 1 that depend on the seed alone, so that layouts are the same each time. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Fisher–Yates, in place. */
export function shuffle(
  list: { readonly length: number; [index: number]: number },
  random: () => number,
): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const swapped = list[i] ?? 0;
    list[i] = list[j] ?? 0;
    list[j] = swapped;
  }
}
