/** The path prefixes of the interface: `controller` and the configured aliases, each with its dialect. */
import { type Dialect, PLAIN } from "./dialect.ts";
import { createOnosDialect, type OnosOptions } from "./onos-dialect.ts";

export type Prefixes = ReadonlyMap<string, Dialect>;

/** Creates the prefixes. Every alias except `onos` serves exactly what `controller` serves. */
export const createPrefixes = (
  aliases: readonly string[],
  onos: OnosOptions = { hostLocation: false },
): Prefixes =>
  new Map(
    ["controller", ...aliases].map((prefix) => [prefix, prefix === "onos" ? createOnosDialect(onos) : PLAIN]),
  );

/** The dialect of a path. Paths outside the interface have the plain one. */
export const dialectOf = (path: string, prefixes: Prefixes): Dialect => prefixes.get(prefixOf(path)) ?? PLAIN;

/** Whether a path begins with one of the prefixes. The rest of the path is not checked. */
export const isInterfacePath = (path: string, prefixes: Prefixes): boolean => prefixes.has(prefixOf(path));

function prefixOf(path: string): string {
  const slash = path.indexOf("/", 1);
  return path.slice(1, slash < 0 ? path.length : slash);
}
