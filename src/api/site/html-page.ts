/**
 * The frame of the service's plain HTML pages: the documentation, and the page that a browser gets for an unknown path. They
 * have no script and one stylesheet of this origin, so that they comply with the content security policy of the map.
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

/** Returns a page. `main` is HTML, and `title` is text. */
export const htmlPage = (title: string, main: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Gazetteer</title>
<link rel="stylesheet" href="${STYLESHEET_PATH}">
</head>
<body>
<header><nav><a href="/">Map</a> <a href="/docs">Documentation</a> <a href="/openapi.json">OpenAPI</a></nav></header>
<main>
${main}
</main>
</body>
</html>
`;
