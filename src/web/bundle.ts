/**
 * Bundles the page from its sources: script, layout worker, style and icon. It runs in the server and in
 * scripts/build-web.ts, never in the browser, and imports nothing of the page. File names contain a hash of the content.
 */
import { join } from "node:path";

interface BundledFile {
  /** `/`, or `/assets/NAME-HASH.EXT`. */
  readonly path: string;
  /** The media type. */
  readonly type: string;
  readonly bytes: Buffer;
}

const SOURCES = import.meta.dir;
const MEDIA_TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" } as const;

export async function bundlePage(): Promise<BundledFile[]> {
  const [app, worker, style, icon] = await Promise.all([
    bundleEntry("main.ts", "app", "js"),
    bundleEntry("layout/worker.ts", "worker", "js"),
    bundleEntry("style/style.css", "style", "css"),
    readIcon(),
  ]);
  const template = await Bun.file(join(SOURCES, "page.html")).text();
  const assets = { app, worker, style, icon };
  const html = template.replaceAll(
    /\{\{(app|worker|style|icon)\}\}/g,
    (_, name: keyof typeof assets) => assets[name].path,
  );
  const index = { path: "/", type: "text/html; charset=utf-8", bytes: Buffer.from(html) };
  return [index, app, worker, style, icon];
}

async function bundleEntry(
  entry: string,
  name: string,
  extension: keyof typeof MEDIA_TYPES,
): Promise<BundledFile> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCES, entry)],
    target: "browser",
    format: "esm",
    minify: true,
    // Otherwise JSX is compiled for the development runtime, which adds source positions.
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const [output] = outputs;
  if (!output) throw new Error(`bundling ${entry} produced no output`);
  const bytes = Buffer.from(await output.arrayBuffer());
  return { path: `/assets/${name}-${hashOf(bytes)}.${extension}`, type: MEDIA_TYPES[extension], bytes };
}

async function readIcon(): Promise<BundledFile> {
  const bytes = Buffer.from(await Bun.file(join(SOURCES, "icon.svg")).arrayBuffer());
  return { path: `/assets/icon-${hashOf(bytes)}.svg`, type: "image/svg+xml", bytes };
}

const hashOf = (bytes: Uint8Array): string => Bun.hash(bytes).toString(36).padStart(13, "0");
