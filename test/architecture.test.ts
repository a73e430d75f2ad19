/**
 * The rules that the compiler does not check: which room may import which, no circles of files, the form of a file, and
 * that docs/architecture.md names files that exist. `IMPORTS` is the table of that page, row by row. Also the form of pages.
 */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const root = join(import.meta.dir, "..");
const MAX_LINES = 600;

/**
 * Folder under src/ → what its files may import besides their own folder: folders, or single files. A folder inside another
 * that has a row of its own follows that row.
 */
const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  model: ["lib"],
  http1: ["lib"],
  client: ["model", "lib"],
  "cluster/nats": ["lib"],
  cluster: ["cluster/nats", "model", "lib"],
  log: ["cluster/nats", "model", "lib"],
  sources: ["client", "model", "lib"],
  view: ["log/log.ts", "model", "lib"],
  query: ["view", "log/log.ts", "model", "lib"],
  layout: ["model", "lib"],
  formats: ["layout", "model", "lib"],
  import: ["sources", "model", "lib"],
  config: ["sources", "model", "lib"],
  api: ["http1", "query", "view", "formats", "log/log.ts", "model", "lib"],
  web: ["client", "formats", "layout", "model", "lib"],
  service: [
    "config",
    "api",
    "http1",
    "query",
    "view",
    "log",
    "cluster",
    "sources",
    "formats",
    "client",
    "web/bundle.ts",
    "model",
    "lib",
  ],
  cli: ["service", "cluster", "config", "import", "api/auth", "client", "formats", "model", "lib"],
  "main.ts": ["cli"],
};

interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** Relative imports, as paths from the root. */
  readonly imports: readonly string[];
}

/** Type-only imports count: a type is a dependency of the reader, if not of the program. */
function importSpecifiers(text: string): string[] {
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
}

const files: SourceFile[] = [...new Bun.Glob("src/**/*.{ts,tsx}").scanSync(root)].sort().map((path) => {
  const text = readFileSync(join(root, path), "utf8");
  const imports = importSpecifiers(text)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => normalize(join(dirname(path), specifier)));
  return { path, text, imports };
});
const isTest = (path: string) => /\.test\.tsx?$/.test(path);
const product = files.filter((file) => !isTest(file.path));

const belowSource = (path: string) => path.slice("src/".length);
const innerRooms = Object.keys(IMPORTS).filter((room) => room.includes("/"));
const roomOf = (path: string) =>
  innerRooms.find((room) => belowSource(path).startsWith(`${room}/`)) ??
  belowSource(path).split("/")[0] ??
  "";

function violations(among: readonly SourceFile[], find: (file: SourceFile) => string[]): string[] {
  return among.flatMap((file) => find(file).map((violation) => `${file.path}: ${violation}`));
}

test("a room imports only what the table allows", () => {
  const found = violations(files, (file) => {
    const allowed = IMPORTS[roomOf(file.path)];
    if (!allowed) return ["is in a folder that the table does not contain"];
    const isAllowed = (target: string) =>
      roomOf(target) === roomOf(file.path) ||
      allowed.some((entry) => belowSource(target) === entry || belowSource(target).startsWith(`${entry}/`)) ||
      target === "package.json" ||
      (isTest(file.path) && /^(?:test\/support|bench)\//.test(target));
    return file.imports.filter((target) => !isAllowed(target)).map((target) => `imports ${target}`);
  });
  expect(found).toEqual([]);
});

test("no circle of files", () => {
  const byPath = new Map(product.map((file) => [file.path, file]));
  const finished = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      circles.push([...trail.slice(start), path].join(" → "));
      return;
    }
    if (finished.has(path)) return;
    for (const target of byPath.get(path)?.imports ?? []) visit(target, [...trail, path]);
    finished.add(path);
  };
  for (const { path } of product) visit(path, []);
  expect(circles).toEqual([]);
});

/** What is loaded with a file: neither types nor what is imported when it is used. */
const loadedWith = (text: string): string[] =>
  [...text.matchAll(/^import\s+(?!type\b)[^;]*?from\s+"([^"]+)"/gm)].map((match) => match[1] ?? "");

test("a service that is no node of a cluster loads nothing of NATS", () => {
  const texts = new Map(product.map(({ path, text }) => [path, text]));
  const loaded = new Set(["src/service/service.ts", "src/service/reader-process.ts", "src/cli/commands.ts"]);
  const found: string[] = [];
  for (const path of loaded) {
    for (const specifier of loadedWith(texts.get(path) ?? "")) {
      if (specifier.startsWith(".")) loaded.add(normalize(join(dirname(path), specifier)));
      else if (specifier.startsWith("@nats-io/")) found.push(`${path}: ${specifier}`);
    }
  }
  expect(found).toEqual([]);
  expect(loaded).toContain("src/service/cluster/snapshot-publisher.ts");
});

test("relative imports name the file with its extension", () => {
  const found = violations(files, (file) =>
    importSpecifiers(file.text)
      .filter((specifier) => specifier.startsWith(".") && !/\.[a-z]+$/.test(specifier))
      .map((specifier) => `imports ${specifier}`),
  );
  expect(found).toEqual([]);
});

/** The published module re-exports all types that its users need. No other file re-exports. */
const PUBLISHED = "src/client/client.ts";

test("no default exports and no barrel files", () => {
  const found = violations(files, ({ text, path }) => {
    const problems: string[] = [];
    if (/^export\s+default\b/m.test(text) || /\bas\s+default\b/.test(text)) problems.push("default export");
    if (path !== PUBLISHED && /^export\s+(?:\*|(?:type\s+)?\{[^}]*\})(?:\s+as\s+\w+)?\s+from\b/m.test(text))
      problems.push("re-exports");
    if (/\/index\.tsx?$/.test(path)) problems.push("is named index");
    return problems;
  });
  expect(found).toEqual([]);
});

test("only src/main.ts ends the process", () => {
  const others = product.filter((file) => file.path !== "src/main.ts");
  const found = violations(others, ({ text }) => (/\bprocess\.exit\s*\(/.test(text) ? ["process.exit"] : []));
  expect(found).toEqual([]);
});

test(`no file is longer than ${MAX_LINES} lines`, () => {
  const found = violations(files, ({ text }) => {
    const lines = text.trimEnd().split("\n").length;
    return lines > MAX_LINES ? [`${lines} lines`] : [];
  });
  expect(found).toEqual([]);
});

test("no two exported types have one name", () => {
  const declared = product.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/gm)].map(
      ([, name = ""]) => ({ name, path }),
    ),
  );
  const double = [...Map.groupBy(declared, ({ name }) => name)].filter(([, places]) => places.length > 1);
  expect(double.map(([name, places]) => `${name}: ${places.map(({ path }) => path).join(", ")}`)).toEqual([]);
});

test("every file begins with a comment that says what it owns", () => {
  const found = violations(product, ({ text }) =>
    /^\s*(?:\/\*\*|\/\/)/.test(text) ? [] : ["no head comment"],
  );
  expect(found).toEqual([]);
});

test("file names are kebab-case", () => {
  const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)*\.tsx?$/;
  const found = violations(files, ({ path }) =>
    kebabCase.test(path.split("/").pop() ?? "") ? [] : ["not kebab-case"],
  );
  expect(found).toEqual([]);
});

const page = readFileSync(join(root, "docs/architecture.md"), "utf8");

test("docs/architecture.md names files that exist", () => {
  const named = [...page.matchAll(/`((?:src|test|bench|docs|scripts|bin)\/[^`\s]*)`/g)].map(
    (match) => match[1] ?? "",
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("docs/architecture.md shows the table of imports", () => {
  const rows = Object.entries(IMPORTS).map(([room, allowed]) => `${room}: ${allowed.join(" ") || "–"}`);
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
});

test("every block of code in a page is closed", () => {
  const pages = ["*.md", "docs/**/*.md"].flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)]);
  expect(pages.length).toBeGreaterThan(20);
  const isOpen = (text: string): boolean => {
    const fences = text.split("\n").filter((line) => /^\s*```/.test(line));
    // Every second one closes, and names no language.
    return fences.length % 2 === 1 || fences.some((fence, i) => i % 2 === 1 && fence.trim() !== "```");
  };
  expect(pages.filter((path) => isOpen(readFileSync(join(root, path), "utf8")))).toEqual([]);
});
