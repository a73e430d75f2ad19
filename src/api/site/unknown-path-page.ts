/**
 * The page for people who open an address of the service where nothing is: it links to the map. Programs get the problem
 * with the same status and text.
 */
import type { Problem } from "../response/problem.ts";
import { escapeHtml, HTML_TYPE, htmlPage } from "./html-page.ts";
import { PAGE_HEADERS } from "./static-site.ts";

const HTML_TYPES = ["text/html", "application/xhtml+xml"];

/**
 * Whether the client is a browser that opens a page. All browsers name both media types of HTML; Java's HTTP client names
 * `text/html` alone, and is a program.
 */
export function isBrowser(accept: string | null): boolean {
  const accepted = (accept ?? "")
    .toLowerCase()
    .split(",")
    .map((element) => element.trim());
  return HTML_TYPES.every((type) => accepted.includes(type));
}

export const unknownPathHeaders = { ...PAGE_HEADERS, "Content-Type": HTML_TYPE, Vary: "Accept" };

export const renderUnknownPathPage = ({ title, message }: Problem): string =>
  htmlPage(
    title,
    `<h1>${escapeHtml(title)}</h1>
<p class="detail">${escapeHtml(message)}</p>
<ul>
<li><a href="/">The map of the network</a></li>
<li><a href="/docs">The documentation</a></li>
<li><a href="/controller/v1/topology">/controller/v1/topology</a>, the first of the reads for programs</li>
</ul>`,
  );
