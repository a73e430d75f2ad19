/**
 * Makes the service one executable that needs neither Node nor npm nor this folder: `npm run build` writes dist/gazetteer. It
 * contains the runtime, the program compiled ahead of time, the modules of its worker threads, the documentation and the
 * bundled page.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { programPaths } from "../src/lib/program-files.ts";
import { BUNDLED_PAGE, bundlePage } from "../src/web/bundle.ts";

const ROOT = join(import.meta.dir, "..");
const SOURCES = join(ROOT, "src");

/** Throws with the messages of the bundler when the build fails. */
export async function buildExecutable(outfile: string): Promise<void> {
  rmSync(outfile, { force: true });
  const page = await bundlePage();
  rmSync(join(ROOT, BUNDLED_PAGE), { recursive: true, force: true });
  for (const [name, bytes] of page) {
    const path = join(ROOT, BUNDLED_PAGE, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
  const docs = (await programPaths("docs")).map((path) => `docs/${path}`);
  const files = [
    ...docs,
    "src/api/site/style.css",
    ...[...page.keys()].map((name) => `${BUNDLED_PAGE}/${name}`),
  ];
  const workers = await Array.fromAsync(new Bun.Glob("{log,formats,sources}/**/*-worker.ts").scan(SOURCES));
  await Bun.build({
    entrypoints: ["main.ts", ...workers.sort()].map((path) => join(SOURCES, path)),
    root: SOURCES,
    target: "bun",
    format: "esm",
    minify: true,
    bytecode: true,
    plugins: [embed(files)],
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  });
}

/** Replaces the empty list of embedded files by one that imports each of them as a file. */
function embed(files: readonly string[]): BunPlugin {
  const imports = files.map(
    (path, n) => `import f${n} from ${JSON.stringify(join(ROOT, path))} with { type: "file" };`,
  );
  const entries = files.map((path, n) => `[${JSON.stringify(path)}, f${n}]`);
  const contents = `${imports.join("\n")}\nexport const EMBEDDED_FILES = new Map([${entries.join(", ")}]);\n`;
  return {
    name: "embedded files",
    setup(build) {
      build.onLoad({ filter: /lib\/embedded-files\.ts$/ }, () => ({ contents, loader: "ts" }));
    },
  };
}

if (import.meta.main) {
  const outfile = resolve(process.argv[2] ?? join(ROOT, "dist", "gazetteer"));
  await buildExecutable(outfile);
  console.log(outfile);
}
