/**
 * The documentation as pages below `/docs`: every Markdown file of docs/ as HTML, the images, and at `/docs` a list of all
 * pages followed by the interface reference. The files are part of the package, and are read and rendered at the first
 * request.
 */
import { posix } from "node:path";
import { programFile, programPaths } from "../../lib/program-files.ts";
import { escapeHtml, HTML_TYPE, htmlPage, STYLESHEET_PATH } from "./html-page.ts";
import type { SiteFile } from "./static-site.ts";

const DOCS_FOLDER = "docs";
/** The pages at the start of the index. The others follow in order of path. */
const FIRST_IN_INDEX = ["interface", "errors", "formats", "merging", "running", "map", "client"];
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

interface DocPage {
  /** The path below docs/, without `.md`. */
  readonly name: string;
  readonly title: string;
  readonly html: string;
}

export async function loadDocs(): Promise<SiteFile[]> {
  // The renderer is loaded only now, because most runs of the service never render a page.
  const { renderMarkdown } = await import("./markdown.ts");
  const pages: DocPage[] = [];
  const files: SiteFile[] = [];
  for (const path of await programPaths(DOCS_FOLDER)) {
    const file = programFile(`${DOCS_FOLDER}/${path}`);
    const imageType = IMAGE_TYPES[posix.extname(path)];
    if (imageType) files.push({ path: `/docs/${path}`, type: imageType, bytes: await file.bytes() });
    if (!path.endsWith(".md")) continue;
    const { title, html } = renderMarkdown(await file.text(), (href) => resolveLink(path, href));
    const name = path.slice(0, -".md".length);
    pages.push({ name, title: title ?? name, html });
  }
  return [
    htmlFile("/docs", "Documentation", renderIndex(pages) + (pages.find(isReference)?.html ?? "")),
    ...pages.map(({ name, title, html }) => htmlFile(`/docs/${name}`, title, html)),
    ...files,
    {
      path: STYLESHEET_PATH,
      type: "text/css; charset=utf-8",
      bytes: await programFile("src/api/site/style.css").bytes(),
    },
  ];
}

const htmlFile = (path: string, title: string, main: string): SiteFile => ({
  path,
  type: HTML_TYPE,
  bytes: Buffer.from(htmlPage(title, main)),
});

/** The address of a link in the file `from`; undefined for a link to a file that is not served, such as a source file. */
function resolveLink(from: string, href: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const target = posix.join("docs", posix.dirname(from), path);
  if (target === "openapi.json") return "/openapi.json";
  if (!target.startsWith("docs/")) return undefined;
  return `/${target.replace(/\.md$/, "")}${anchor === undefined ? "" : `#${anchor}`}`;
}

const isReference = ({ name }: DocPage): boolean => name === "interface";

function renderIndex(pages: readonly DocPage[]): string {
  const first = FIRST_IN_INDEX.flatMap((name) => pages.filter((page) => page.name === name));
  const items = [...new Set([...first, ...pages])].map(
    ({ name, title }) => `<li><a href="/docs/${escapeHtml(name)}">${escapeHtml(title)}</a></li>`,
  );
  return `<ul class="pages">\n${items.join("\n")}\n</ul>\n`;
}
