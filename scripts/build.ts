/**
 * Makes the service one executable that needs neither Node nor npm nor this folder: `npm run build` writes dist/gazetteer. It
 * contains the runtime, the program compiled ahead of time, the modules of its worker threads, the documentation and the
 * bundled page. `npm run build -- --target linux-arm64` makes it for another machine, with the runtime that the lockfile names.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { BunPlugin } from "bun";
import lockfile from "../package-lock.json";
import { programPaths } from "../src/lib/program-files.ts";
import { BUNDLED_PAGE, bundlePage } from "../src/web/bundle.ts";

const ROOT = join(import.meta.dir, "..");
const SOURCES = join(ROOT, "src");
const RUNTIMES = join(ROOT, "node_modules", ".cache", "runtimes");

/** The machines for which there is an executable, each with Bun's name of it and the npm package of its runtime. */
export const TARGETS = {
  "linux-x64": { compile: "bun-linux-x64", runtime: "@oven/bun-linux-x64" },
  "linux-arm64": { compile: "bun-linux-arm64", runtime: "@oven/bun-linux-aarch64" },
  "darwin-x64": { compile: "bun-darwin-x64", runtime: "@oven/bun-darwin-x64" },
  "darwin-arm64": { compile: "bun-darwin-arm64", runtime: "@oven/bun-darwin-aarch64" },
} as const;
export type Target = keyof typeof TARGETS;

export const isTarget = (name: string): name is Target => name in TARGETS;

/** Builds for this machine where `target` is absent. Throws with the messages of the bundler when the build fails. */
export async function buildExecutable(outfile: string, target?: Target): Promise<void> {
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
    "README.md",
    ...docs,
    "src/api/site/search-pages.ts",
    "src/api/site/style.css",
    ...[...page.keys()].map((name) => `${BUNDLED_PAGE}/${name}`),
  ];
  const workers = await Array.fromAsync(new Bun.Glob("{log,formats,sources}/**/*-worker.ts").scan(SOURCES));
  const machine = target && {
    target: TARGETS[target].compile,
    executablePath: runtimeOf(TARGETS[target].runtime),
  };
  await Bun.build({
    entrypoints: ["main.ts", ...workers.sort()].map((path) => join(SOURCES, path)),
    root: SOURCES,
    target: "bun",
    format: "esm",
    minify: true,
    bytecode: true,
    plugins: [embed(files)],
    compile: { ...machine, outfile, autoloadDotenv: false, autoloadBunfig: false },
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

/** The binary of a runtime: installed for this machine, downloaded once for others. Refuses what is not in the lockfile. */
function runtimeOf(name: (typeof TARGETS)[Target]["runtime"]): string {
  const { version, integrity } = lockfile.packages[`node_modules/${name}`];
  const installed = join(ROOT, "node_modules", name, "bin", "bun");
  if (existsSync(installed)) return installed;
  const folder = join(RUNTIMES, `${name.replace("/", "-")}-${version}`);
  const binary = join(folder, "package", "bin", "bun");
  if (existsSync(binary)) return binary;
  const download = `${folder}.tmp`;
  rmSync(download, { recursive: true, force: true });
  mkdirSync(download, { recursive: true });
  run(["npm", "pack", "--silent", `${name}@${version}`, "--pack-destination", download]);
  const [tarball = ""] = [...new Bun.Glob("*.tgz").scanSync({ cwd: download, absolute: true })];
  const digest = createHash("sha512").update(readFileSync(tarball)).digest("base64");
  if (`sha512-${digest}` !== integrity)
    throw new Error(`${name}@${version} is not the package of package-lock.json`);
  run(["tar", "-xzf", tarball, "-C", download]);
  rmSync(tarball);
  renameSync(download, folder);
  return binary;
}

function run(command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command, { cwd: ROOT, stdout: "ignore" });
  if (!success) throw new Error(`${command.join(" ")}:\n${stderr}`);
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    options: { target: { type: "string" } },
    allowPositionals: true,
  });
  const { target } = values;
  if (target !== undefined && !isTarget(target))
    throw new Error(`--target ${target}: must be one of ${Object.keys(TARGETS).join(", ")}`);
  const name = target === undefined ? "gazetteer" : `gazetteer-${target}`;
  const outfile = resolve(positionals[0] ?? join(ROOT, "dist", name));
  await buildExecutable(outfile, target);
  console.log(outfile);
}
