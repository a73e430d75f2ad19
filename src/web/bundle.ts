/**
 * Bundles the page from its sources: script, layout worker, style and icon. It runs in the server, never in the browser,
 * and imports nothing of the page. File names contain a hash of the content.
 */
import { join } from "node:path";

interface BundledFile {
  /** The path of the URL: `/` or `/assets/NAME-HASH.EXT`. */
  readonly path: string;
  /** The media type. */
  readonly type: string;
  readonly bytes: Buffer;
}

const SOURCES = import.meta.dir;
const MEDIA_TYPES = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
} as const;
type Extension = keyof typeof MEDIA_TYPES;

export async function bundlePage(): Promise<BundledFile[]> {
  const [app, worker, style, icon] = await Promise.all([
    bundleEntry("app.tsx", "app", "js"),
    bundleEntry("layout/layout-worker.ts", "worker", "js"),
    bundleEntry("style/page.css", "style", "css"),
    readAsset(join(SOURCES, "icon.svg"), "icon", "svg"),
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

async function bundleEntry(entry: string, name: string, extension: "js" | "css"): Promise<BundledFile> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCES, entry)],
    target: "browser",
    format: "esm",
    minify: true,
    // Without this, JSX is compiled for the development runtime, which adds source positions.
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const [output] = outputs;
  if (!output) throw new Error(`bundling ${entry} produced no output`);
  return asAsset(Buffer.from(await output.arrayBuffer()), name, extension);
}

const readAsset = async (file: string, name: string, extension: Extension): Promise<BundledFile> =>
  asAsset(Buffer.from(await Bun.file(file).arrayBuffer()), name, extension);

const asAsset = (bytes: Buffer, name: string, extension: Extension): BundledFile => ({
  path: `/assets/${name}-${hashOf(bytes)}.${extension}`,
  type: MEDIA_TYPES[extension],
  bytes,
});

const hashOf = (bytes: Uint8Array): string => Bun.hash(bytes).toString(36).padStart(13, "0");
