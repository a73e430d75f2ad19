/**
 * The documentation as pages below `/docs`: the README at `/docs`, every Markdown file of docs/, the images, and an
 * index for the search, which a script of these pages reads. Every page has a sidebar with all pages. The files are
 * part of the package, and are read and rendered at the first request.
 */
import { posix } from "node:path";
import { programFile, programPaths } from "../../lib/program-files.ts";
import { docsPage, escapeHtml, HTML_TYPE, SEARCH_PATH, STYLESHEET_PATH } from "./html-page.ts";
import type { DocSection } from "./markdown.ts";
import type { SiteFile } from "./static-site.ts";

const DOCS_FOLDER = "docs";
const README = "README.md";
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

/**
 * The order of the sidebar: titles of groups, each with its pages by their path below docs/, without `.md`.
 * `folder/` is for the other pages of a folder, and `*` for pages that no group names.
 */
const GROUPS: readonly (readonly [title: string, pages: readonly string[]])[] = [
  ["Start", ["", "install", "tutorials/"]],
  ["Read the network", ["interface", "paths", "search", "explain", "problems", "formats", "errors"]],
  ["Tools", ["map", "cli", "client", "integrations", "from-onos"]],
  ["Sources", ["merging", "sources/", "adding-a-source"]],
  ["Run it", ["configuration", "running", "cluster", "cluster-scale", "security", "performance"]],
  ["How it works", ["architecture", "internals", "http1"]],
  ["More", ["*"]],
  ["Decisions", ["decisions/README", "decisions/"]],
];

interface DocPage {
  /** The path below docs/, without `.md`; empty for the README. */
  readonly name: string;
  readonly title: string;
  readonly html: string;
  readonly sections: readonly DocSection[];
}

type Sidebar = readonly { readonly title: string; readonly pages: readonly DocPage[] }[];

export async function loadDocs(): Promise<SiteFile[]> {
  // The renderer is loaded only now, because most runs of the service never render a page.
  const { renderMarkdown } = await import("./markdown.ts");
  const pages: DocPage[] = [];
  const files: SiteFile[] = [];
  for (const path of [README, ...(await programPaths(DOCS_FOLDER)).map((path) => `${DOCS_FOLDER}/${path}`)]) {
    const imageType = IMAGE_TYPES[posix.extname(path)];
    if (imageType) files.push({ path: `/${path}`, type: imageType, bytes: await programFile(path).bytes() });
    if (!path.endsWith(".md")) continue;
    const { title, html, sections } = renderMarkdown(await programFile(path).text(), (href) =>
      resolveLink(path, href),
    );
    const name = path === README ? "" : path.slice(`${DOCS_FOLDER}/`.length, -".md".length);
    pages.push({ name, title: title ?? name, html, sections });
  }
  const sidebar = arrange(pages);
  return [
    ...pages.map((page) => ({
      path: addressOf(page),
      type: HTML_TYPE,
      bytes: Buffer.from(docsPage(page.title, page.html, renderSidebar(sidebar, page))),
    })),
    ...files,
    {
      path: STYLESHEET_PATH,
      type: "text/css; charset=utf-8",
      bytes: await programFile("src/api/site/style.css").bytes(),
    },
    {
      path: `${SEARCH_PATH}.js`,
      type: "text/javascript; charset=utf-8",
      bytes: Buffer.from(toJavaScript(await programFile("src/api/site/search-pages.ts").text())),
    },
    { path: `${SEARCH_PATH}.json`, type: "application/json", bytes: Buffer.from(renderIndex(sidebar)) },
  ];
}

const toJavaScript = (source: string): string => new Bun.Transpiler({ loader: "ts" }).transformSync(source);

const addressOf = ({ name }: DocPage): string => (name === "" ? "/docs" : `/docs/${name}`);

/** The address of a link in the file `from`; undefined for a file that is not served, such as a source file. */
function resolveLink(from: string, href: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const target = posix.join(posix.dirname(from), path);
  if (target === "openapi.json") return "/openapi.json";
  if (target !== README && !target.startsWith(`${DOCS_FOLDER}/`)) return undefined;
  const address = target === README ? "/docs" : `/${target.replace(/\.md$/, "")}`;
  return anchor === undefined ? address : `${address}#${anchor}`;
}

/** All pages in the order of `GROUPS`, each once. */
function arrange(pages: readonly DocPage[]): Sidebar {
  const named = GROUPS.flatMap(([, names]) => names);
  const matches = (pattern: string, { name }: DocPage): boolean => {
    if (pattern === name) return true;
    if (named.includes(name)) return false;
    if (pattern.endsWith("/")) return name.startsWith(pattern);
    return pattern === "*" && !named.some((other) => other.endsWith("/") && name.startsWith(other));
  };
  return GROUPS.map(([title, patterns]) => ({
    title,
    pages: patterns.flatMap((pattern) => pages.filter((page) => matches(pattern, page))),
  })).filter((group) => group.pages.length > 0);
}

/** The links to all pages, with the parts of the current one. The last group, the decisions, is closed. */
function renderSidebar(sidebar: Sidebar, current: DocPage): string {
  const groups = sidebar.map(({ title, pages }, n) => {
    const items = pages.map((page) => renderItem(page, page === current)).join("\n");
    const list = `<ul>\n${items}\n</ul>`;
    if (n < sidebar.length - 1) return `<h2>${escapeHtml(title)}</h2>\n${list}`;
    const open = pages.includes(current) ? " open" : "";
    return `<details${open}>\n<summary>${escapeHtml(title)}</summary>\n${list}\n</details>`;
  });
  return groups.join("\n");
}

function renderItem(page: DocPage, isCurrent: boolean): string {
  const title = escapeHtml(page.title);
  if (!isCurrent) return `<li><a href="${addressOf(page)}">${title}</a></li>`;
  const parts = page.sections
    .filter(({ depth }) => depth === 2)
    .map(({ anchor, heading }) => `<li><a href="#${anchor}">${escapeHtml(heading)}</a></li>`);
  const list = parts.length === 0 ? "" : `\n<ul>\n${parts.join("\n")}\n</ul>\n`;
  return `<li><a href="${addressOf(page)}" aria-current="page">${title}</a>${list}</li>`;
}

/** What search-pages.ts reads: the sections of all pages, as `[address, title of the page, heading, text]`. */
const renderIndex = (sidebar: Sidebar): string =>
  JSON.stringify(
    sidebar.flatMap(({ pages }) =>
      pages.flatMap((page) =>
        page.sections.map(({ anchor, depth, heading, text }) => [
          depth === 1 ? addressOf(page) : `${addressOf(page)}#${anchor}`,
          page.title,
          depth === 1 ? "" : heading,
          text,
        ]),
      ),
    ),
  );
