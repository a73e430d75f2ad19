import { expect, test } from "bun:test";
import { renderMarkdown } from "./markdown.ts";

const render = (markdown: string) => renderMarkdown(markdown, (href) => (href === "gone" ? undefined : href));

test("headings have GitHub's anchors, a repeated one with a number", () => {
  const { html, title } = render(
    "# A `b`: c, d?\n## 2 Resources and fields\n## bad-parameter\n## bad-parameter\n",
  );
  expect(title).toBe("A b: c, d?");
  expect(Array.from(html.matchAll(/id="([^"]*)"/g), ([, id]) => id)).toEqual([
    "a-b-c-d",
    "2-resources-and-fields",
    "bad-parameter",
    "bad-parameter-1",
  ]);
});

test.each([
  ["<script>x</script>", "&lt;script&gt;"],
  ["a <b>c</b>", "&lt;b&gt;c"],
  ["`<i>`", "&lt;i&gt;"],
  ['[a](x"onclick=)', "&quot;onclick"],
])("raw HTML in %s is text", (markdown, text) => {
  expect(render(markdown).html).toContain(text);
});

test("a link or an image that is not served is its text", () => {
  expect(render("see [the file](gone)").html).toBe("<p>see the file</p>\n");
  expect(render("![the map](gone)").html).toBe("<p>the map</p>\n");
  expect(render("![the map](/x.png)").html).toBe('<p><img src="/x.png" alt="the map"></p>\n');
});
