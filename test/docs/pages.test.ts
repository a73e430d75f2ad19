/** The pages of the documentation: links lead to a page, a heading or a picture that exists, and lists are lists. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { marked, type Tokens } from "marked";
import { renderMarkdown } from "../../src/api/site/markdown.ts";

const ROOT = join(import.meta.dir, "..", "..");
const PAGES = ["*.md", "docs/**/*.md"].flatMap((glob) => [...new Bun.Glob(glob).scanSync(ROOT)]).sort();

interface Page {
  readonly links: readonly string[];
  readonly anchors: ReadonlySet<string>;
}

function readPage(path: string): Page {
  const links: string[] = [];
  const { html } = renderMarkdown(readFileSync(join(ROOT, path), "utf8"), (href) => {
    links.push(href);
    return href;
  });
  return { links, anchors: new Set(Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id = ""]) => id)) };
}

const pages = new Map(PAGES.map((path) => [path, readPage(path)]));

test.each(PAGES)("every link of %s has a target", (path) => {
  const broken = (pages.get(path)?.links ?? []).filter((href) => {
    if (/^(https?|mailto):/.test(href)) return false;
    const [file = "", anchor] = href.split("#");
    const target = file === "" ? path : join(dirname(path), file);
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && !pages.get(target)?.anchors.has(anchor);
  });
  expect(broken).toEqual([]);
});

/** `/docs` shows pictures, and knows no language of diagrams. */
test("diagrams are pictures, and every picture has a text in its place", () => {
  const wrong = PAGES.filter((path) => /^```mermaid|!\[\]\(/m.test(readFileSync(join(ROOT, path), "utf8")));
  expect(wrong).toEqual([]);
});

describe("lists", () => {
  /** All lists of a page, those inside of others too. */
  function listsOf(path: string): Tokens.List[] {
    const lists: Tokens.List[] = [];
    marked.walkTokens(marked.lexer(readFileSync(join(ROOT, path), "utf8")), (token) => {
      if (token.type === "list") lists.push(token as Tokens.List);
    });
    return lists;
  }

  /** A line of a paragraph that happens to begin with a number and a dot begins a list, and is numbered anew. */
  test.each(PAGES)("the numbers of numbered lists of %s count from 1", (path) => {
    const wrong = listsOf(path)
      .filter(({ ordered }) => ordered)
      .map(({ items }) => items.map(({ raw }) => Number.parseInt(raw, 10)))
      .filter((numbers) => numbers.some((number, n) => number !== n + 1));
    expect(wrong).toEqual([]);
  });
});
