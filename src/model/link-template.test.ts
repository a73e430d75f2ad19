import { describe, expect, test } from "bun:test";
import { expandLinkTemplate, parseLinkTemplate } from "./link-template.ts";

function expand(text: string, values: Readonly<Record<string, string>>): string | undefined {
  const parsed = parseLinkTemplate(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return expandLinkTemplate(parsed.template, (name) => values[name]);
}

const faultOf = (text: string): string | undefined => {
  const parsed = parseLinkTemplate(text);
  return parsed.ok ? undefined : parsed.message;
};

describe("a template with values that fit", () => {
  for (const [text, value, address] of [
    ["ssh://{v}", "10.0.0.1", "ssh://10.0.0.1"],
    ["ssh://admin@{v}:2222", "leaf-1.example.net", "ssh://admin@leaf-1.example.net:2222"],
    ["https://{v}/", "2001:DB8::1", "https://[2001:db8::1]/"],
    ["telnet://{v}:23", "fe80::1", "telnet://[fe80::1]:23"],
    ["https://{v}.example.net/x", "leaf1.row2", "https://leaf1.row2.example.net/x"],
    ["https://{v}-mgmt.example.net", "leaf1", "https://leaf1-mgmt.example.net"],
    [
      "https://grafana/d/net?var-device={v}&x=1#{v}",
      "of:1&y",
      "https://grafana/d/net?var-device=of%3A1%26y&x=1#of%3A1%26y",
    ],
    ["https://tickets/{v}/new", "Zürich 1", "https://tickets/Z%C3%BCrich%201/new"],
    ["mailto:noc@example.net?subject={v}", "leaf 1?cc=x", "mailto:noc@example.net?subject=leaf%201%3Fcc%3Dx"],
    ["HTTPS://fixed.example/", "unused", "HTTPS://fixed.example/"],
  ] as const) {
    test(`${text} with ${JSON.stringify(value)}`, () => expect(expand(text, { v: value })).toBe(address));
  }
});

/** What a device might report as its name, address or location. */
const HOSTILE = [
  "javascript:alert(1)",
  "@evil.example",
  "a@evil.example",
  "//evil.example",
  "/evil",
  "\\\\evil.example",
  "evil.example/x",
  "evil.example?x",
  "evil.example#x",
  "evil.example:80",
  "x\r\nSet-Cookie: a=b",
  "x\ty",
  " x",
  "\u202Egnp.exe",
  "\u2066x\u2069",
  "\u200b",
  "%2F%2Fevil",
  "%",
  "..",
  ".",
  "../..",
  "%2e%2e",
  "-oProxyCommand=touch /tmp/x",
  "`id`",
  "$(id)",
  "'\"><img src=x>",
  "[::1]",
  "fe80::1%eth0",
  "::1]@evil",
  "\ud800",
  "x".repeat(5000),
];

describe("a hostile value", () => {
  test("in the host gives no address, unless it is a plain host name or address", () => {
    for (const value of HOSTILE) {
      expect([value, expand("ssh://{v}", { v: value })]).toEqual([value, undefined]);
      expect([value, expand("https://{v}.example.net/", { v: value })]).toEqual([value, undefined]);
    }
  });

  test("anywhere else changes nothing but its own part", () => {
    const fixed = new URL("https://user@grafana.example:3000/d/VALUE/panel?var=VALUE&from=now#VALUE");
    for (const value of HOSTILE) {
      const address = expand(fixed.href.replaceAll("VALUE", "{v}"), { v: value });
      if (address === undefined) continue;
      const url = new URL(address);
      expect([value, url.protocol, url.host, url.username]).toEqual([value, "https:", fixed.host, "user"]);
      expect(url.pathname.split("/")).toHaveLength(4);
      expect(url.pathname).toStartWith("/d/");
      expect(url.pathname).toEndWith("/panel");
      expect([...url.searchParams]).toEqual([
        ["var", value],
        ["from", "now"],
      ]);
      expect(decodeURIComponent(url.hash)).toBe(`#${value}`);
      expect(address).toMatch(/^[\x21-\x7e]+$/);
    }
  });

  test("that is a dot segment gives no address: a browser would climb out of the path", () => {
    for (const value of [".", ".."]) {
      expect(expand("https://h/a/{v}/b", { v: value })).toBeUndefined();
      expect(expand("https://h/a/{v}", { v: value })).toBeUndefined();
      expect(expand("ssh://h/{v}?x", { v: value })).toBeUndefined();
      expect(expand("https://h/a?x={v}", { v: value })).toBe(`https://h/a?x=${value}`);
    }
    expect(expand("https://h/.{v}/b", { v: "." })).toBeUndefined();
  });

  test("adds no recipient and no header to an e-mail", () => {
    for (const value of HOSTILE) {
      const address = expand("mailto:noc@example.net?subject={v}", { v: value });
      if (address === undefined) continue;
      expect(new URL(address).pathname).toBe("noc@example.net");
      expect([...new URL(address).searchParams.keys()]).toEqual(["subject"]);
    }
  });
});

test("a missing or empty value gives no address", () => {
  expect(expand("https://h/{a}/{b}", { a: "1" })).toBeUndefined();
  expect(expand("https://h/{a}/{b}", { a: "1", b: "" })).toBeUndefined();
  expect(expand("https://h/{a}/{b}", { a: "1", b: "2" })).toBe("https://h/1/2");
});

describe("a template that is refused", () => {
  for (const [text, part] of [
    ["javascript:alert(1)", "must begin with http://"],
    ["data:text/html,x", "must begin with http://"],
    ["file:///etc/passwd", "must begin with http://"],
    ["{scheme}://host", "must begin with http://"],
    ["//host/x", "must begin with http://"],
    ["http:/host", "must begin with http://"],
    ["https://", "must name a host"],
    ["https:///x", "must name a host"],
    ["https://{user}@host/", "must not stand before @"],
    ["https://user:secret@host/", "must not have a password"],
    ["https://host{name}/", "must be the whole host"],
    ["https://{a}{b}/", "must be the whole host"],
    ["https://host:{port}/", "must be the whole host"],
    ["https://{name}./", "must be the whole host"],
    ["mailto:{contact}", "only stand after ?"],
    ["mailto:", "must name an address"],
    ["https://host/{a", "brace"],
    ["https://host/{a}}", "brace"],
    ["https://host/{}", "not the name of a value"],
    ["https://host/{a b}", "without spaces"],
    ["https://host/\u202e", "without spaces"],
    ["https://host/a/../{b}", "must not have . or .."],
    ["https://ho%zzst/", "not a valid address"],
  ] as const) {
    test(text, () => expect(faultOf(text)).toContain(part));
  }
});
