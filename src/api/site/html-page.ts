/**
 * The frame of the service's plain HTML pages: the documentation, and the pages that a browser gets for an unknown path and
 * when it is refused. They have no script and at most one stylesheet of this origin, so that they comply with the content security policy of the map.
 */

export const HTML_TYPE = "text/html; charset=utf-8";
export const STYLESHEET_PATH = "/docs/style.css";

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
  frame(
    title,
    `<link rel="stylesheet" href="${STYLESHEET_PATH}">`,
    `<header><nav><a href="/">Map</a> <a href="/docs">Documentation</a> <a href="/openapi.json">OpenAPI</a></nav></header>
<main>
${main}
</main>`,
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
