/**
 * The web page as the service gives it out. The page is bundled from its sources when somebody first asks for it and
 * kept, compressed, for as long as the service runs; a packaged service hands in files that were bundled before.
 *
 * Nothing but this origin is ever allowed to run, style or be contacted: what a device calls itself stays text.
 */
import { join } from "node:path";
import type { Response } from "../http1/response.ts";
import { tagMatches } from "./body-renderer.ts";
import { encode } from "./content-encoding.ts";
import { type Coding, negotiateCoding } from "./negotiate.ts";

export interface SiteFile {
  /** `/`, or `/assets/NAME-HASH.EXT`. */
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** What the page looks at of a request. */
interface Asker {
  header(name: string): string | null;
}

export interface StaticSite {
  /** Undefined where the page has nothing. The caller has checked who asks, and that it is GET or HEAD. */
  respond(path: string, request: Asker): Promise<Response | undefined>;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "Cache-Control": "private, no-cache",
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
  "Referrer-Policy": "no-referrer",
  Vary: "Accept-Encoding",
} as const;

export function createStaticSite(load: () => Promise<readonly SiteFile[]> = bundlePage): StaticSite {
  let loading: Promise<ReadonlyMap<string, SiteFile>> | undefined;
  const encoded = new Map<string, Uint8Array>();
  const files = () => {
    loading ??= load().then(
      (list) => new Map(list.map((file) => [file.path, file])),
      (error: unknown) => {
        loading = undefined; // the next request tries again
        throw error;
      },
    );
    return loading;
  };
  const bodyOf = ({ path, bytes }: SiteFile, coding: Coding) => {
    const key = `${coding} ${path}`;
    const body = encoded.get(key) ?? encode(bytes, coding);
    encoded.set(key, body);
    return body;
  };
  return {
    async respond(path, request) {
      const file = (await files()).get(path);
      if (!file) return undefined;
      const coding = negotiateCoding(request.header("accept-encoding"));
      const etag = `"${hashOf(file.bytes)}-${coding}"`;
      const headers = { ...HEADERS, "Content-Type": file.type, ETag: etag };
      const known = request.header("if-none-match");
      if (known !== null && tagMatches(known, etag)) return { status: 304, headers, body: null };
      const coded = coding === "identity" ? {} : { "Content-Encoding": coding };
      return { status: 200, headers: { ...headers, ...coded }, body: bodyOf(file, coding) };
    },
  };
}

const hashOf = (bytes: Uint8Array): string => Bun.hash(bytes).toString(36).padStart(13, "0");

/** Where the page's sources are, next to this folder. */
const SOURCES = join(import.meta.dir, "..", "web");

export async function bundlePage(): Promise<SiteFile[]> {
  const [app, worker, style, icon] = await Promise.all([
    bundled("main.ts", "app", "js"),
    bundled("layout/worker.ts", "worker", "js"),
    bundled("style/style.css", "style", "css"),
    copied("icon.svg"),
  ]);
  const html = await Bun.file(join(SOURCES, "page.html")).text();
  const links = { app, worker, style, icon };
  const filled = html.replaceAll(
    /\{\{(app|worker|style|icon)\}\}/g,
    (_, name: keyof typeof links) => links[name].path,
  );
  const index = { path: "/", type: "text/html; charset=utf-8", bytes: Buffer.from(filled) };
  return [index, app, worker, style, icon];
}

const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" } as const;

async function bundled(entry: string, name: string, kind: keyof typeof TYPES): Promise<SiteFile> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCES, entry)],
    target: "browser",
    format: "esm",
    minify: true,
  });
  const [output] = outputs;
  if (!output) throw new Error(`${entry} was bundled to nothing`);
  const bytes = Buffer.from(await output.arrayBuffer());
  return { path: `/assets/${name}-${hashOf(bytes)}.${kind}`, type: TYPES[kind], bytes };
}

async function copied(name: string): Promise<SiteFile> {
  const bytes = Buffer.from(await Bun.file(join(SOURCES, name)).arrayBuffer());
  return { path: `/assets/icon-${hashOf(bytes)}.svg`, type: "image/svg+xml", bytes };
}
