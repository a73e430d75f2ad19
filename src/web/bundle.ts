/**
 * The files of the page: document, script, layout worker, style and icon. In a checkout they are bundled from the sources when
 * they are loaded; the executable contains the bundled files. This runs in the server, never in the browser, and imports
 * nothing of the page. File names contain a hash of the content.
 */
import { extname, join } from "node:path";
import { IS_EXECUTABLE, programFile, programPaths } from "../lib/program-files.ts";

interface BundledFile {
  /** The path of the URL: `/` or `/assets/NAME-HASH.EXT`. */
  readonly path: string;
  /** The media type. */
  readonly type: string;
  readonly bytes: Buffer;
}

const SOURCES = import.meta.dir;
/** The folder of the package that has the bundled files. */
export const BUNDLED_PAGE = "dist/web";
const INDEX = "index.html";
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

export async function loadPage(): Promise<BundledFile[]> {
  const files = await (IS_EXECUTABLE ? readBundled() : bundlePage());
  return [...files].map(([name, bytes]) => ({
    path: name === INDEX ? "/" : `/${name}`,
    type: MEDIA_TYPES[extname(name)] ?? "application/octet-stream",
    bytes,
  }));
}

async function readBundled(): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const name of await programPaths(BUNDLED_PAGE))
    files.set(name, Buffer.from(await programFile(`${BUNDLED_PAGE}/${name}`).arrayBuffer()));
  return files;
}

/** The bundled files by name: `index.html` and `assets/NAME-HASH.EXT`. */
export async function bundlePage(): Promise<Map<string, Buffer>> {
  const [app, worker, style, icon] = await Promise.all([
    bundleEntry("app.tsx"),
    bundleEntry("layout/layout-worker.ts"),
    bundleEntry("style/page.css"),
    readSource("icon.svg"),
  ]);
  const assets = {
    app: [assetName("app", app, ".js"), app],
    worker: [assetName("worker", worker, ".js"), worker],
    style: [assetName("style", style, ".css"), style],
    icon: [assetName("icon", icon, ".svg"), icon],
  } as const;
  const template = (await readSource("page.html")).toString();
  const html = template.replaceAll(
    /\{\{(app|worker|style|icon)\}\}/g,
    (_, name: keyof typeof assets) => `/${assets[name][0]}`,
  );
  return new Map([[INDEX, Buffer.from(html)], ...Object.values(assets)]);
}

async function bundleEntry(entry: string): Promise<Buffer> {
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
  return Buffer.from(await output.arrayBuffer());
}

const readSource = async (name: string): Promise<Buffer> =>
  Buffer.from(await Bun.file(join(SOURCES, name)).arrayBuffer());

const assetName = (name: string, bytes: Uint8Array, extension: string): string =>
  `assets/${name}-${Bun.hash(bytes).toString(36).padStart(13, "0")}${extension}`;
