/**
 * Bundles the page ahead of time, for packages that carry no sources: `bun scripts/build-web.ts [FOLDER]` writes
 * index.html and assets/ as the service would serve them; the folder is dist/web unless one is named.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { bundlePage } from "../src/web/bundle.ts";

const folder = resolve(process.argv[2] ?? join(import.meta.dir, "../dist/web"));
for (const { path, bytes } of await bundlePage()) {
  const target = join(folder, path === "/" ? "index.html" : path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, bytes);
  console.log(`${target} ${bytes.length} bytes, ${Bun.gzipSync(new Uint8Array(bytes)).length} compressed`);
}
