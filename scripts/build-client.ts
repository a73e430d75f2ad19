/**
 * Builds the client for runtimes that do not run TypeScript: `client.js`, one module without imports for Node and
 * browsers, and its type declarations. `bun scripts/build-client.ts [FOLDER]`; the default folder is dist/.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = join(import.meta.dir, "..");
const entry = join(root, "src/client/client.ts");

/** Throws with the output of the tools when the build fails. */
export async function buildClient(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await Bun.build({ entrypoints: [entry], outdir: folder, target: "browser", format: "esm" });
  emitDeclarations(folder);
}

/** The declarations use types of the model, and those use types of typebox, which is a dependency of the package. */
function emitDeclarations(folder: string): void {
  const config = join(folder, "tsconfig.tmp");
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // `npm test` checks the types.
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
    if (!tsc.success) throw new Error(`the declarations cannot be emitted:\n${tsc.stdout}`);
  } finally {
    rmSync(config);
  }
  writeFileSync(join(folder, "client.d.ts"), 'export * from "./types/client/client.ts";\n');
}

if (import.meta.main) await buildClient(resolve(process.argv[2] ?? join(root, "dist")));
