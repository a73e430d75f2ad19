/**
 * Compares two OpenAPI documents without their texts: `bun scripts/openapi-diff.ts OLD NEW`. Prints `equal`, or the paths
 * that differ, and exits with 1. For changes that may reword descriptions but must not change the interface.
 */
import { readFileSync } from "node:fs";

const TEXT_KEYS = new Set(["description", "summary"]);

/** JSON pointers and values of all leaves, without texts. A property that is named `description` is not a text. */
function* leaves(value: unknown, path: string, isNameMap: boolean): Generator<[path: string, leaf: string]> {
  if (typeof value !== "object" || value === null) {
    yield [path, JSON.stringify(value)];
    return;
  }
  for (const [key, child] of Object.entries(value)) {
    if (!isNameMap && TEXT_KEYS.has(key) && typeof child === "string") continue;
    yield* leaves(child, `${path}/${key}`, key === "properties");
  }
}

function read(file: string): Map<string, string> {
  return new Map(leaves(JSON.parse(readFileSync(file, "utf8")), "", false));
}

const [oldFile, newFile] = process.argv.slice(2);
if (oldFile === undefined || newFile === undefined) throw new Error("usage: openapi-diff.ts OLD NEW");
const [before, after] = [read(oldFile), read(newFile)];
const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
  (path) => before.get(path) !== after.get(path),
);
console.log(differing.length === 0 ? "equal" : differing.join("\n"));
process.exitCode = differing.length === 0 ? 0 : 1;
