/**
 * Admission filter of a cache: tells whether a text was seen recently with the same version, so that texts that occur once,
 * or less often than their data changes, do not evict others. It keeps a hash of each and no order: another text in the
 * same place makes it forget the first. Of ten thousand texts that are read in turn, 4 % are never known for that.
 */
const PLACES = 262_144;

export class Doorkeeper {
  readonly #hashes = new Uint32Array(PLACES);

  isNew(text: string, version: number): boolean {
    const hash = Bun.hash.xxHash32(text, version >>> 0);
    const place = hash % PLACES;
    if (this.#hashes[place] === hash) return false;
    this.#hashes[place] = hash;
    return true;
  }
}
