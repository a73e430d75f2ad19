/**
 * Builds the client for those who cannot run TypeScript: `client.js`, one module without imports for Node and
 * browsers, and its declarations. `bun scripts/build-client.ts [FOLDER]`; the folder is dist/ unless one is named.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = join(import.meta.dir, "..");
const entry = join(root, "src/client/client.ts");

/** Throws when it cannot be built, with what the tools said. */
export async function buildClient(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await Bun.build({ entrypoints: [entry], outdir: folder, target: "browser", format: "esm" });
  declare(folder);
}

/** The declarations name types of the model, and those the types of typebox: the package depends on it anyway. */
function declare(folder: string): void {
  const config = join(folder, "tsconfig.tmp");
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // `npm test` checks types; here only the client's own files are read.
    noCheck: true,
    types: [],
    rootDir: join(root, "src"),
    outDir: join(folder, "types"),
  };
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, files: [entry], include: [] }),
  );
  try {
    const tsc = Bun.spawnSync([join(root, "node_modules/.bin/tsc"), "-p", config]);
    if (!tsc.success) throw new Error(`the declarations cannot be made:\n${tsc.stdout}`);
  } finally {
    rmSync(config);
  }
  writeFileSync(join(folder, "client.d.ts"), 'export * from "./types/client/client.ts";\n');
}

if (import.meta.main) await buildClient(resolve(process.argv[2] ?? join(root, "dist")));
