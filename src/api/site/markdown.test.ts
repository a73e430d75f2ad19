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

test("comments are left out", () => {
  expect(render("a\n\n<!-- not run: b -->\n\nc <!-- d --> e\n").html).toBe("<p>a</p>\n<p>c  e</p>\n");
});

test("sections have the text of their headings and of what follows", () => {
  const markdown =
    "# A\nOne `<b>` & [two](x).\n\n- three\n- four\n\n## B `c`\n| d | e |\n|---|---|\n| f | g |\n";
  expect(render(markdown).sections).toEqual([
    { depth: 1, anchor: "a", heading: "A", text: "One <b> & two. three four" },
    { depth: 2, anchor: "b-c", heading: "B c", text: "d e f g" },
  ]);
});

test("a numbered list begins with its number, and a list inside of another is a part of its item", () => {
  expect(render("3. a\n4. b\n   - c\n").html).toBe(
    '<ol start="3">\n<li>a</li>\n<li>b<ul>\n<li>c</li>\n</ul>\n</li>\n</ol>\n',
  );
});

test("a table without headings has no row for them, and an empty corner is no heading", () => {
  expect(render("| | |\n|---|---|\n| a | b |\n").html).not.toContain("<th");
  const { html } = render("| | c |\n|---|---|\n| a | b |\n");
  expect(html).toContain("<thead>\n<tr><td></td>\n<th>c</th>");
});
