/**
 * The files that the executable contains, by their path in the package. There are none in a checkout: `scripts/build.ts` puts
 * the list in place of this one.
 */
export const EMBEDDED_FILES: ReadonlyMap<string, string> = new Map();
