/**
 * The frame of the service's plain HTML pages: the documentation, and the pages that a browser gets for an unknown
 * path and when it is refused. They comply with the content security policy of the map: no inline script or style,
 * and nothing of another origin.
 */

export const HTML_TYPE = "text/html; charset=utf-8";
export const STYLESHEET_PATH = "/docs/style.css";
/** The script of the search and its index, without the extension. */
export const SEARCH_PATH = "/docs/search-pages";

const STYLESHEET = `<link rel="stylesheet" href="${STYLESHEET_PATH}">`;
const LINKS = `<a href="/">Map</a> <a href="/docs">Documentation</a> <a href="/openapi.json">OpenAPI</a>`;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? "");

/** Returns a page with the stylesheet and the navigation. `main` is HTML, and `title` is text. */
export const htmlPage = (title: string, main: string): string =>
  frame(title, STYLESHEET, `<header><nav>${LINKS}</nav></header>\n<main>\n${main}\n</main>`);

/** Returns a page of the documentation: with the search, and with links to all pages, `sidebar`, as HTML. */
export const docsPage = (title: string, main: string, sidebar: string): string =>
  frame(
    title,
    `${STYLESHEET}\n<script type="module" src="${SEARCH_PATH}.js"></script>`,
    `<header>
<nav aria-label="Service">${LINKS} <a class="to-pages" href="#pages">All pages</a></nav>
<form id="search" role="search" hidden>
<input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off">
<div><output></output><ul></ul></div>
</form>
</header>
<div class="docs">
<main>
${main}
</main>
<nav id="pages" aria-label="Pages of the documentation">
${sidebar}
</nav>
</div>`,
  );

/** Returns a page that loads nothing else. */
export const plainPage = (title: string, main: string): string =>
  frame(title, '<meta name="color-scheme" content="light dark">', `<main>\n${main}\n</main>`);

const frame = (title: string, head: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Gazetteer</title>
${head}
</head>
<body>
${body}
</body>
</html>
`;
