/**
 * What a pure function makes of a text, kept for texts that come again and again (the same few headers from the same
 * few clients). Forgetting is wholesale, so whoever sends a different text each time costs no more than the function.
 */
const MOST = 128;
const MAX_LENGTH = 512;

/** Not for functions that may answer undefined: that would be worked out each time. */
export function memo<T>(make: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>();
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const made = make(text);
    if (text.length > MAX_LENGTH) return made;
    if (kept.size >= MOST) kept.clear();
    kept.set(text, made);
    return made;
  };
}
