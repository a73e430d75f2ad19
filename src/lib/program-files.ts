/**
 * The files that the program needs besides its own code: the modules of worker threads, and files such as the documentation.
 * In a checkout they are next to the sources; `npm run build` makes one executable that contains them. This is the one place
 * where the two differ.
 */
import { join } from "node:path";
import { EMBEDDED_FILES } from "./embedded-files.ts";

/** Whether this is the executable of `npm run build`. */
export const IS_EXECUTABLE = import.meta.url.includes("$bunfs");

const ROOT = join(import.meta.dir, "..", "..");

/** The module that a worker thread runs; `path` is below src/, without the extension. */
export function moduleUrl(path: string): URL {
  return new URL(IS_EXECUTABLE ? `file:///$bunfs/root/${path}.js` : `../${path}.ts`, import.meta.url);
}

/** A file of the package, by its path from the root. */
export const programFile = (path: string): Bun.BunFile =>
  Bun.file(IS_EXECUTABLE ? (EMBEDDED_FILES.get(path) ?? path) : join(ROOT, path));

/** The paths of the files in a folder of the package and in the folders inside it, from that folder on, in order. */
export async function programPaths(folder: string): Promise<string[]> {
  if (!IS_EXECUTABLE) return (await Array.fromAsync(new Bun.Glob("**/*").scan(join(ROOT, folder)))).sort();
  const prefix = `${folder}/`;
  return [...EMBEDDED_FILES.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length))
    .sort();
}
