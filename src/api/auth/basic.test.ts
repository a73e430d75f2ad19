import { describe, expect, test } from "bun:test";
import { MAX_HEADER_CHARACTERS, readBasic } from "./basic.ts";

const base64 = (text: string, encoding: "utf8" | "latin1" = "utf8") =>
  Buffer.from(text, encoding).toString("base64");
const read = (header: string) =>
  readBasic(header).map(({ name, password }) => [name, Buffer.from(password).toString("utf8")]);

describe("one reading", () => {
  const cases: [what: string, header: string, name: string, password: string][] = [
    ["the example of RFC 7617, part 2", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"],
    ["lower-case scheme", "basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"],
    ["no padding", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ", "Aladdin", "open sesame"],
    ["several spaces, and one behind", "Basic   QWxhZGRpbjpvcGVuIHNlc2FtZQ== ", "Aladdin", "open sesame"],
    ["URL alphabet", `Basic ${base64("a:>>>???").replaceAll("+", "-").replaceAll("/", "_")}`, "a", ">>>???"],
    ["colons in the password", `Basic ${base64("a:b:c:d")}`, "a", "b:c:d"],
    ["empty name", `Basic ${base64(":secret")}`, "", "secret"],
    ["empty password", `Basic ${base64("a:")}`, "a", ""],
    ["spaces are part of it", `Basic ${base64(" a : b ")}`, " a ", " b "],
  ];
  for (const [what, header, name, password] of cases) {
    test(what, () => expect(read(header)).toEqual([[name, password]]));
  }
});

describe("several readings", () => {
  test("RFC 7617, part 2.1: test:123£ in UTF-8, and as Latin-1 would have it", () => {
    expect(read("Basic dGVzdDoxMjPCow==")).toEqual([
      ["test", "123£"],
      ["test", "123Â£"],
    ]);
  });

  test("Latin-1, as Python's requests sends it: the text, then the bytes themselves", () => {
    const readings = readBasic(`Basic ${base64("rené:naïve", "latin1")}`);
    expect(readings.map(({ name }) => name)).toEqual(["rené", "rené"]);
    expect(readings.map(({ password }) => Buffer.from(password).toString("hex"))).toEqual([
      Buffer.from("naïve", "utf8").toString("hex"),
      Buffer.from("naïve", "latin1").toString("hex"),
    ]);
  });

  test("a letter spelled with a combining accent is the same letter", () => {
    expect(read(`Basic ${base64("rene\u0301:e\u0301")}`)[0]).toEqual(["ren\u00e9", "\u00e9"]);
  });

  test("UTF-8 that would hold control characters as Latin-1 has one reading", () => {
    expect(read(`Basic ${base64("a:€")}`)).toEqual([["a", "€"]]);
  });
});

describe("malformed", () => {
  const cases: [what: string, header: string][] = [
    ["nothing", ""],
    ["scheme alone", "Basic"],
    ["scheme and space", "Basic "],
    ["another scheme", "Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ=="],
    ["a scheme that begins alike", "Basics QWxhZGRpbjpvcGVuIHNlc2FtZQ=="],
    ["not encoded", "Basic Aladdin:open sesame"],
    ["characters outside the alphabet", "Basic QWxh*GRpbjpv"],
    ["an impossible length", "Basic QWxhZ"],
    ["padding in the middle", "Basic QWxh==GRpbjpv"],
    ["no colon", `Basic ${base64("Aladdin")}`],
    ["a NUL", `Basic ${base64("a\u0000:b")}`],
    ["a line end", `Basic ${base64("a:b\r\nc")}`],
    ["two credentials", `Basic ${base64("a:b")}, Basic ${base64("a:b")}`],
    ["oversize", `Basic ${"QUFB".repeat(MAX_HEADER_CHARACTERS / 4)}`],
  ];
  for (const [what, header] of cases) test(what, () => expect(readBasic(header)).toEqual([]));
});
