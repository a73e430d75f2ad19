/**
 * Renders one Markdown file of the documentation to HTML. Headings get the anchors that GitHub gives them, so that a link
 * works in both places. Raw HTML is shown as text.
 */
import { Marked, type Tokens } from "marked";
import { escapeHtml } from "./html-page.ts";

export interface RenderedMarkdown {
  /** The text of the first heading. */
  readonly title: string | undefined;
  readonly html: string;
}

/** Returns the address of a link or an image, or undefined if its target is not served. */
export type LinkResolver = (href: string) => string | undefined;

export function renderMarkdown(markdown: string, resolveLink: LinkResolver): RenderedMarkdown {
  const anchors = new Set<string>();
  let title: string | undefined;
  const marked = new Marked({
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
      heading({ tokens, text, depth }) {
        title ??= text.replaceAll("`", "");
        return `<h${depth} id="${uniqueAnchor(text, anchors)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
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
  return { title, html };
}

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
