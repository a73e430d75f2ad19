/**
 * Renders one Markdown file of the documentation to HTML. Headings get the anchors that GitHub gives them, so that a
 * link works in both places. Raw HTML is shown as text, but for comments, which are left out.
 */
import { Marked, type Tokens } from "marked";
import { escapeHtml } from "./html-page.ts";

export interface RenderedMarkdown {
  /** The text of the first heading. */
  readonly title: string | undefined;
  readonly html: string;
  readonly sections: readonly DocSection[];
}

/** A heading and what follows it up to the next one. */
export interface DocSection {
  readonly depth: number;
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
}

/** Returns the address of a link or an image, or undefined if its target is not served. */
export type LinkResolver = (href: string) => string | undefined;

const COMMENT = /^<!--.*-->\s*$/s;
const INLINE_TAG = /^<\/?(?:a|code|em|strong)\b/;
const CHARACTERS: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

export function renderMarkdown(markdown: string, resolveLink: LinkResolver): RenderedMarkdown {
  const anchors = new Set<string>();
  let title: string | undefined;
  const marked = new Marked({
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => (COMMENT.test(text) ? "" : escapeHtml(text)),
      heading({ tokens, text, depth }) {
        title ??= text.replaceAll("`", "");
        return `<h${depth} id="${uniqueAnchor(text, anchors)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // Elements that scroll are focusable, so that they can be scrolled with the keyboard.
      code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre>\n`,
      table({ header, rows }) {
        // An empty cell of the heading row is an ordinary cell, because a heading needs a text.
        const renderCell = (cell: Tokens.TableCell) =>
          this.tablecell({ ...cell, header: cell.header && cell.text !== "" });
        const render = (cells: readonly Tokens.TableCell[]) => `<tr>${cells.map(renderCell).join("")}</tr>\n`;
        const head = header.every(({ text }) => text === "") ? "" : `<thead>\n${render(header)}</thead>\n`;
        const body = rows.map(render).join("");
        return `<div class="table" tabindex="0"><table>\n${head}<tbody>${body}</tbody>\n</table></div>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = resolveLink(href);
        return address === undefined ? text : `<a href="${escapeHtml(address)}">${text}</a>`;
      },
      image({ href, text }) {
        const address = resolveLink(href);
        return address === undefined
          ? escapeHtml(text)
          : `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}">`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { title, html, sections: sectionsOf(html) };
}

function sectionsOf(html: string): DocSection[] {
  const [, ...parts] = html.split(/^<h(\d) id="([^"]*)">(.*)<\/h\d>$/m);
  return Array.from({ length: parts.length / 4 }, (_, n) => {
    const [depth = "", anchor = "", heading = "", body = ""] = parts.slice(4 * n);
    return { depth: Number(depth), anchor, heading: textOf(heading), text: textOf(body) };
  });
}

/** The text of HTML that was rendered here, in one line. */
const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, (tag) => (INLINE_TAG.test(tag) ? "" : " "))
    .replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity] ?? "")
    .replace(/\s+/g, " ")
    .trim();

/** The anchor by GitHub's rule: lower case, no punctuation, `-` for a space; a repeated heading gets a number. */
function uniqueAnchor(heading: string, anchors: Set<string>): string {
  const base = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
  let anchor = base;
  for (let n = 1; anchors.has(anchor); n++) anchor = `${base}-${n}`;
  anchors.add(anchor);
  return anchor;
}
