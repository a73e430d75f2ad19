import { describe, expect, test } from "bun:test";
import { isBearer, MAX_AUTHORIZATION_LENGTH, parseAuthorization } from "./authorization.ts";

const base64 = (text: string, encoding: "utf8" | "latin1" = "utf8") =>
  Buffer.from(text, encoding).toString("base64");
const parse = (header: string) =>
  parseAuthorization(header).map(({ name, secret }) => [name, Buffer.from(secret).toString("utf8")]);

describe("headers with one candidate", () => {
  const cases: [title: string, header: string, name: string, password: string][] = [
    ["the example of RFC 7617, part 2", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"],
    ["lower-case scheme", "basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"],
    ["no padding", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ", "Aladdin", "open sesame"],
    ["several spaces, and one at the end", "Basic   QWxhZGRpbjpvcGVuIHNlc2FtZQ== ", "Aladdin", "open sesame"],
    ["URL alphabet", `Basic ${base64("a:>>>???").replaceAll("+", "-").replaceAll("/", "_")}`, "a", ">>>???"],
    ["colons in the password", `Basic ${base64("a:b:c:d")}`, "a", "b:c:d"],
    ["empty name", `Basic ${base64(":secret")}`, "", "secret"],
    ["empty password", `Basic ${base64("a:")}`, "a", ""],
    ["spaces belong to name and password", `Basic ${base64(" a : b ")}`, " a ", " b "],
  ];
  for (const [title, header, name, password] of cases) {
    test(title, () => expect(parse(header)).toEqual([[name, password]]));
  }
});

describe("headers with several candidates", () => {
  test("RFC 7617, part 2.1: test:123£ as UTF-8, then as Latin-1", () => {
    expect(parse("Basic dGVzdDoxMjPCow==")).toEqual([
      ["test", "123£"],
      ["test", "123Â£"],
    ]);
  });

  test("Latin-1, as Python's requests sends it: the password as text, then as raw bytes", () => {
    const candidates = parseAuthorization(`Basic ${base64("rené:naïve", "latin1")}`);
    expect(candidates.map(({ name }) => name)).toEqual(["rené", "rené"]);
    expect(candidates.map(({ secret }) => Buffer.from(secret).toString("hex"))).toEqual([
      Buffer.from("naïve", "utf8").toString("hex"),
      Buffer.from("naïve", "latin1").toString("hex"),
    ]);
  });

  test("a letter with a combining accent is normalised to the composed letter", () => {
    expect(parse(`Basic ${base64("rene\u0301:e\u0301")}`)[0]).toEqual(["ren\u00e9", "\u00e9"]);
  });

  test("UTF-8 that contains control characters when decoded as Latin-1 has one candidate", () => {
    expect(parse(`Basic ${base64("a:€")}`)).toEqual([["a", "€"]]);
  });
});

describe("malformed headers have no candidate", () => {
  const cases: [title: string, header: string][] = [
    ["empty", ""],
    ["scheme alone", "Basic"],
    ["scheme and space", "Basic "],
    ["another scheme", "Digest QWxhZGRpbjpvcGVuIHNlc2FtZQ=="],
    ["a scheme with the same prefix", "Basics QWxhZGRpbjpvcGVuIHNlc2FtZQ=="],
    ["not encoded", "Basic Aladdin:open sesame"],
    ["characters outside the alphabet", "Basic QWxh*GRpbjpv"],
    ["an invalid base64 length", "Basic QWxhZ"],
    ["padding in the middle", "Basic QWxh==GRpbjpv"],
    ["no colon", `Basic ${base64("Aladdin")}`],
    ["a NUL", `Basic ${base64("a\u0000:b")}`],
    ["a line end", `Basic ${base64("a:b\r\nc")}`],
    ["two credentials", `Basic ${base64("a:b")}, Basic ${base64("a:b")}`],
    ["oversize", `Basic ${"QUFB".repeat(MAX_AUTHORIZATION_LENGTH / 4)}`],
  ];
  for (const [title, header] of cases) test(title, () => expect(parseAuthorization(header)).toEqual([]));
});

describe("tokens", () => {
  const secret = "A".repeat(43);
  test.each([`Bearer gzt.ann.${secret}`, `bearer  gzt.ann.${secret} `])(
    "%s has the name of the user and the secret",
    (header) => {
      const [login, ...others] = parseAuthorization(header);
      expect([
        login?.scheme,
        login?.name,
        Buffer.from(login?.secret ?? []).toString(),
        others.length,
      ]).toEqual(["bearer", "ann", secret, 0]);
    },
  );

  test.each([
    "Bearer",
    "Bearer ",
    "Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
    `Bearer gzt.ann.${secret}A`,
    `Bearer gzt.ann.${secret.slice(1)}`,
    `Bearer gzt.a:b.${secret}`,
    `Bearer gzt..${secret}`,
    `Bearer gzt.ann.${secret.slice(1)}=`,
  ])("%s is malformed, and has the scheme of tokens", (header) => {
    expect([parseAuthorization(header), isBearer(header)]).toEqual([[], true]);
  });

  test("the scheme of passwords is not that of tokens", () => {
    expect(isBearer(`Basic ${base64("Bearer gzt:x")}`)).toBe(false);
    expect(isBearer(`Bearers gzt.ann.${secret}`)).toBe(false);
  });
});
