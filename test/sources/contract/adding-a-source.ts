/** The code printed in docs/adding-a-source.md, and a copy of the service with it. */
import { expect } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const root = join(import.meta.dir, "../../..");
const page = readFileSync(join(root, "docs/adding-a-source.md"), "utf8");
export const REGISTRY = "src/sources/registry.ts";

/** The blocks that begin with the path of their file. */
export const files = new Map(
  [...page.matchAll(/^```ts\n\/\/ (src\/\S+)\n(.*?)^```$/gms)].map(([, path = "", code = ""]) => [
    path,
    code,
  ]),
);

/** Returns the folder of the copy. */
export function copyWithExample(): string {
  // Inside the repository, where the dependencies are found.
  mkdirSync(join(root, "dist"), { recursive: true });
  const copy = mkdtempSync(join(root, "dist/adding-a-source-"));
  for (const part of ["src", "docs", "package.json", "tsconfig.json", "openapi.json", "CHANGELOG.md"]) {
    cpSync(join(root, part), join(copy, part), {
      recursive: true,
      filter: (path) => !/\.test\.tsx?$/.test(path),
    });
  }
  for (const [path, code] of files) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), path === REGISTRY ? withLines(code) : code);
  }
  return copy;
}

/** The list of kinds with the printed lines: an import, and an entry. */
function withLines(code: string): string {
  const registry = readFileSync(join(root, REGISTRY), "utf8");
  const [imported = "", entry = ""] = code.trimEnd().split("\n");
  const list = "export const SOURCE_KINDS: Readonly<Record<string, SourceKind>> = {\n";
  expect(registry).toContain(list);
  return registry.replace("import ", () => `${imported}\nimport `).replace(list, () => `${list}${entry}\n`);
}
