/**
 * The rules of the house that a compiler does not check: who may import whom, and the form of a file. The table is
 * the picture in the documentation, row by row; an arrow that is not in it does not exist.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const root = join(import.meta.dir, "..");
const MAX_LINES = 400;

/**
 * Folder under src/ → what its files may import besides their own folder: folders, or single files. Sources may use
 * the client, because another Gazetteer is a source like any other.
 */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  model: ["lib"],
  sources: ["model", "lib", "client"],
  log: ["model", "lib"],
  view: ["model", "lib", "log/log.ts"],
  formats: ["model", "lib"],
  client: ["model", "lib"],
  http1: ["api/content-encoding.ts", "lib"],
  query: ["api", "view", "log/log.ts", "model", "lib"],
  api: ["http1", "query", "view", "formats", "log/log.ts", "model", "lib"],
  web: ["client", "formats", "model", "lib"],
  config: ["cli", "sources", "model", "lib"],
  service: [
    "cli",
    "config",
    "api",
    "http1",
    "query",
    "sources",
    "log",
    "view",
    "formats",
    "client",
    "web",
    "model",
    "lib",
  ],
  cli: ["service", "config", "sources", "api", "formats", "client", "model", "lib"],
  "main.ts": ["cli", "lib"],
};

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

/** Type-only imports too: a type is a dependency of the reader, if not of the program. */
function importsOf(text: string): string[] {
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
}

const files: SourceFile[] = [...new Bun.Glob("src/**/*.{ts,tsx}").scanSync(root)].sort().map((path) => {
  const text = readFileSync(join(root, path), "utf8");
  return { path, text, imports: importsOf(text) };
});
const product = files.filter((file) => !/\.test\.tsx?$/.test(file.path));

const inSource = (path: string) => path.slice("src/".length);
const room = (path: string) => inSource(path).split("/")[0] ?? "";

function offences(among: readonly SourceFile[], offence: (file: SourceFile) => string[]): string[] {
  return among.flatMap((file) => offence(file).map((what) => `${file.path}: ${what}`));
}

test("imports follow the arrows", () => {
  const wrong = offences(files, (file) => {
    const allowed = ARROWS[room(file.path)];
    if (!allowed) return ["stands in a folder the table does not know"];
    return file.imports
      .filter((name) => name.startsWith("."))
      .map((name) => normalize(join(dirname(file.path), name)))
      .filter((target) => room(target) !== room(file.path) && target !== "package.json")
      .filter((target) => !allowed.includes(room(target)) && !allowed.includes(inSource(target)))
      .filter((target) => !(file.path.endsWith(".test.ts") && target.startsWith("test/support/")))
      .map((target) => `imports ${target}`);
  });
  expect(wrong).toEqual([]);
});

test("relative imports name the file with its extension", () => {
  const wrong = offences(files, (file) =>
    file.imports
      .filter((name) => name.startsWith(".") && !/\.[a-z]+$/.test(name))
      .map((name) => `imports ${name}`),
  );
  expect(wrong).toEqual([]);
});

/** What the package publishes must name all that its users need; nowhere else is a name exported twice. */
const PUBLISHED = "src/client/client.ts";

test("no default exports and no barrel files", () => {
  const wrong = offences(files, ({ text, path }) => {
    const found: string[] = [];
    if (/^export\s+default\b/m.test(text) || /\bas\s+default\b/.test(text)) found.push("default export");
    if (path !== PUBLISHED && /^export\s+(?:\*|(?:type\s+)?\{[^}]*\})(?:\s+as\s+\w+)?\s+from\b/m.test(text))
      found.push("exports what is another's");
    if (/\/index\.tsx?$/.test(path)) found.push("a file named index says nothing");
    return found;
  });
  expect(wrong).toEqual([]);
});

test("only src/main.ts ends the process", () => {
  const others = product.filter((file) => file.path !== "src/main.ts");
  expect(offences(others, ({ text }) => (/\bprocess\.exit\s*\(/.test(text) ? ["process.exit"] : []))).toEqual(
    [],
  );
});

test(`no file is longer than ${MAX_LINES} lines`, () => {
  const wrong = offences(files, ({ text }) => {
    const lines = text.trimEnd().split("\n").length;
    return lines > MAX_LINES ? [`${lines} lines`] : [];
  });
  expect(wrong).toEqual([]);
});

test("every file says first what it owns", () => {
  expect(
    offences(product, ({ text }) => (/^\s*(?:\/\*\*|\/\/)/.test(text) ? [] : ["no head comment"])),
  ).toEqual([]);
});

test("file names are kebab-case", () => {
  const name = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)*\.tsx?$/;
  expect(
    offences(files, ({ path }) => (name.test(path.split("/").pop() ?? "") ? [] : ["not kebab-case"])),
  ).toEqual([]);
});
