/** What people see who open an address in a browser: the page with a link to the map, and the documentation. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { PROBLEMS } from "../../src/api/response/problem.ts";
import { type Harness, openHarness } from "./harness.ts";

const BROWSERS = {
  Chromium:
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
  Firefox: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  Safari: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
};
const PROGRAMS = {
  curl: "*/*",
  client: "application/json",
  Java: "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
  other: "application/xhtml+xml;q=0, text/html, */*",
};

let h: Harness;
beforeAll(async () => {
  h = await openHarness({ aliases: ["lab"] });
});
afterAll(() => h.stop());

const linksOf = (html: string): string[] =>
  Array.from(html.matchAll(/<a href="([^"]*)"/g), ([, href]) => href ?? "");

/** No inline script or style, and nothing of another origin is loaded. */
function expectWithinPolicy(response: Response, html: string): void {
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:/i);
  expect(html).not.toMatch(/<(link|img|script)[^>]*(href|src)="(?!\/)/);
}

describe.each([
  "/controller",
  "/controller/",
  "/controller/v1",
  "/controller/v1/",
  "/lab/v1",
  "/nothing",
  "/docs/nothing",
])("%s", (path) => {
  test.each(Object.entries(BROWSERS))("%s gets a page with a link to the map", async (_, accept) => {
    const response = await h.fetch(path, { headers: { accept } });
    const html = await response.text();
    expect([response.status, response.headers.get("content-type")]).toEqual([
      404,
      "text/html; charset=utf-8",
    ]);
    expect(response.headers.get("vary")).toContain("Accept");
    expect(linksOf(html)).toContain("/");
    expectWithinPolicy(response, html);
  });

  test.each(Object.entries(PROGRAMS))("%s gets the problem", async (_, accept) => {
    const response = await h.fetch(path, { headers: { accept } });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      404,
      "application/problem+json",
    ]);
  });
});

test("inside the interface a browser gets the problem too", async () => {
  const headers = { accept: BROWSERS.Firefox };
  for (const path of ["/controller/v1/nothing", "/controller/v9", "/controller/v1/devices/x"])
    expect((await h.fetch(path, { headers })).headers.get("content-type")).toBe("application/problem+json");
});

test("a browser that is refused gets a short page that loads nothing; programs and scripts get the problem", async () => {
  const get = (path: string, headers: Record<string, string>) => fetch(h.url + path, { headers });
  for (const path of ["/", "/nothing", "/docs", "/controller/v1/devices"]) {
    const response = await get(path, { accept: BROWSERS.Firefox });
    const html = await response.text();
    expect([response.status, response.headers.get("content-type")]).toEqual([
      401,
      "text/html; charset=utf-8",
    ]);
    expect(response.headers.get("www-authenticate")).toStartWith("Basic ");
    expect(html).toContain("needs a user name and a password");
    expect(html).not.toMatch(/<link|<img|src=/);
    expectWithinPolicy(response, html);
  }
  const program = await get("/controller/v1/devices", { accept: PROGRAMS.curl });
  expect(program.headers.get("content-type")).toBe("application/problem+json");
  expect(program.headers.get("www-authenticate")).toStartWith("Basic ");
  // A browser that knows no scheme of the challenge does not prompt.
  const script = await get("/controller/v1/devices", { accept: "*/*", "x-requested-with": "gazetteer" });
  expect([script.status, script.headers.get("www-authenticate")]).toEqual([
    401,
    'X-Basic realm="controller", charset="UTF-8"',
  ]);
});

test("text of the address is escaped in the page", async () => {
  const response = await h.fetch("/%22%3E%3Cb%3E<script>", { headers: { accept: BROWSERS.Chromium } });
  expectWithinPolicy(response, await response.text());
});

describe("the documentation", () => {
  test("at /docs is the README, and every page lists all pages, the decisions last", async () => {
    expect(await (await h.fetch("/docs")).text()).toContain('<h1 id="gazetteer">');
    const docs = join(import.meta.dir, "../../docs");
    const names = [...new Bun.Glob("**/*.md").scanSync(docs)].map((path) => path.slice(0, -".md".length));
    for (const page of ["/docs", "/docs/interface"]) {
      const html = await (await h.fetch(page)).text();
      const listed = linksOf(html.slice(html.indexOf('<nav id="pages"'))).filter(
        (href) => !href.startsWith("#"),
      );
      expect(listed.toSorted()).toEqual(["/docs", ...names.map((name) => `/docs/${name}`)].toSorted());
      expect(listed.slice(0, 2)).toEqual(["/docs", "/docs/install"]);
      const firstDecision = listed.indexOf("/docs/decisions/README");
      expect(listed.slice(firstDecision).every((href) => href.startsWith("/docs/decisions/"))).toBe(true);
    }
  });

  test("every file is within the content security policy and has a tag", async () => {
    const pages = linksOf(await (await h.fetch("/docs")).text()).filter((href) => href.startsWith("/docs/"));
    const files = ["/docs/style.css", "/docs/search-pages.js", "/docs/search-pages.json"];
    for (const page of ["/docs", "/docs/", ...files, ...new Set(pages)]) {
      const response = await h.fetch(page);
      expect([page, response.status]).toEqual([page, 200]);
      const text = await response.text();
      if (!files.includes(page)) expectWithinPolicy(response, text);
      const headers = { "if-none-match": response.headers.get("etag") ?? "" };
      expect((await h.fetch(page, { headers })).status).toBe(304);
      expect((await h.fetch(page, { method: "DELETE" })).status).toBe(405);
    }
  });

  test("every link and anchor from page to page exists", async () => {
    const pending = ["/docs"];
    const pages = new Map<string, string>();
    const links: string[] = [];
    for (let page = pending.pop(); page !== undefined; page = pending.pop()) {
      if (pages.has(page)) continue;
      const response = await h.fetch(page);
      expect([page, response.status]).toEqual([page, 200]);
      const html = await response.text();
      pages.set(page, html);
      for (const [, href = ""] of html.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (/^https?:/.test(href) || href === "/") continue; // the harness has no map
        const { pathname, hash } = new URL(href, `http://x${page}`);
        links.push(`${pathname}${hash}`);
        pending.push(pathname);
      }
    }
    expect(pages.size).toBeGreaterThan(10);
    for (const link of links) {
      const [path = "", anchor] = link.split("#");
      if (anchor) expect([link, pages.get(path)?.includes(`id="${anchor}"`)]).toEqual([link, true]);
    }
  });

  test("the type of every problem is a link to its explanation", async () => {
    const { type } = await (await h.fetch("devices?x=1")).json();
    expect(type).toBe("/docs/errors#bad-parameter");
    for (const code of Object.keys(PROBLEMS)) {
      const { pathname, hash } = new URL(type.replace("bad-parameter", code), h.url);
      const response = await h.fetch(pathname);
      expect([code, response.status, response.headers.get("content-type")]).toEqual([
        code,
        200,
        "text/html; charset=utf-8",
      ]);
      expect(await response.text()).toContain(`<h2 id="${hash.slice(1)}">`);
    }
  });
});
