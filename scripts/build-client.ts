/**
 * Builds the package of the client, packages/client: `client.js`, one module without imports for Node, Bun and browsers, and
 * type declarations that need no other package. `bun scripts/build-client.ts [FOLDER]`; the default is packages/client/dist.
 *
 * The model's types are inferred from schemas of typebox, so their declarations name typebox. Here each of them is replaced by
 * the type that its schema describes.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix, resolve } from "node:path";

const ROOT = join(import.meta.dir, "..");
const PACKAGE = join(ROOT, "packages", "client");
const ENTRY = "client/client";

/** Throws with the output of the tools when the build fails. */
export async function buildClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const entry = join(ROOT, "src", `${ENTRY}.ts`);
  await Bun.build({ entrypoints: [entry], outdir: folder, target: "browser", format: "esm" });
  const emitted = mkdtempSync(join(tmpdir(), "gazetteer-client-"));
  try {
    emitDeclarations(entry, emitted);
    await copyReachable(emitted, folder);
  } finally {
    rmSync(emitted, { recursive: true });
  }
}

function emitDeclarations(entry: string, outDir: string): void {
  const config = join(outDir, "tsconfig.json");
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // `npm test` checks the types.
    noCheck: true,
    types: [],
    rootDir: join(ROOT, "src"),
    outDir,
  };
  const text = { extends: join(ROOT, "tsconfig.json"), compilerOptions, files: [entry], include: [] };
  writeFileSync(config, JSON.stringify(text));
  const tsc = Bun.spawnSync([join(ROOT, "node_modules/.bin/tsc"), "-p", config]);
  if (!tsc.success) throw new Error(`the declarations cannot be emitted:\n${tsc.stdout}`);
}

const IMPORT = /^(?:import|export)\b[^"]*?\bfrom "(\.[^"]+)\.ts";$/gm;

/** Copies the declarations that the entry needs, as plain types. */
async function copyReachable(from: string, to: string): Promise<void> {
  const paths = new Set([ENTRY]);
  for (const path of paths) {
    const text = await plainTypes(path, readFileSync(join(from, `${path}.d.ts`), "utf8"));
    for (const [, imported = ""] of text.matchAll(IMPORT))
      paths.add(posix.join(posix.dirname(path), imported));
    const target = join(to, `${path}.d.ts`);
    mkdirSync(dirname(target), { recursive: true });
    // A declaration is imported by the name of the module that it would describe.
    writeFileSync(target, text.replaceAll(/ from "(\..*)\.ts";$/gm, ' from "$1.js";'));
  }
}

const STATIC = /Type\.Static<typeof (\w+)>/g;

/** The declarations of a module without those that name typebox, and without imports that nothing uses any more. */
async function plainTypes(path: string, text: string): Promise<string> {
  if (!text.includes("Type.")) return text;
  const schemas: Readonly<Record<string, Schema>> = await import(join(ROOT, "src", `${path}.ts`));
  const statements = text
    .replaceAll(STATIC, (original, name: string) => {
      const schema = schemas[name];
      return schema ? typeText(schema) : original;
    })
    .split(/^(?=(?:\/\*\*|import |export |declare |type |interface ))/m)
    .filter((statement) => !/\bType\./.test(statement));
  const isImport = (statement: string) => statement.startsWith("import ");
  const words = new Set(
    statements
      .filter((statement) => !isImport(statement))
      .join("")
      .match(/\w+/g),
  );
  const isUsed = (statement: string) =>
    !isImport(statement) ||
    statement
      .slice("import ".length, statement.indexOf(" from "))
      .match(/\w+/g)
      ?.some((name) => words.has(name));
  return statements.filter(isUsed).join("");
}

interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

/** The type that a JSON schema describes. Throws for what the model does not use. */
function typeText(schema: Schema, indent = ""): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map((option) => typeText(option, indent)).join(" | ");
  if (schema.type === "array") return `${bracketed(typeText(schema.items ?? {}, indent))}[]`;
  if (schema.type === "integer") return "number";
  if (schema.type === "object") return objectText(schema, indent);
  if (schema.type !== undefined) return schema.type;
  if (Object.keys(schema).every((key) => key === "description" || key.startsWith("~"))) return "unknown";
  throw new Error(`there is no type for the schema ${JSON.stringify(schema)}`);
}

const bracketed = (text: string): string => (/[ |]/.test(text) ? `(${text})` : text);

function objectText({ properties, required = [], patternProperties }: Schema, indent: string): string {
  const inner = `${indent}    `;
  if (!properties) {
    const [value = {}] = Object.values(patternProperties ?? {});
    return `{ [key: string]: ${typeText(value, indent)} }`;
  }
  const fields = Object.entries(properties).map(([name, field]) => {
    const comment = field.description === undefined ? "" : `${inner}/** ${field.description} */\n`;
    const mark = required.includes(name) ? "" : "?";
    return `${comment}${inner}${name}${mark}: ${typeText(field, inner)};\n`;
  });
  return `{\n${fields.join("")}${indent}}`;
}

if (import.meta.main) {
  await buildClient(resolve(process.argv[2] ?? join(PACKAGE, "dist")));
  // npm packs a licence only from the folder of the package.
  copyFileSync(join(ROOT, "LICENSE"), join(PACKAGE, "LICENSE"));
}
