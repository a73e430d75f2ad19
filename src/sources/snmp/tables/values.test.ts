import { describe, expect, test } from "bun:test";
import { bytes } from "../../../../test/support/snmp-agent.ts";
import { firstBits, indexParts, isInPortList, toInteger, toIp, toMac, toText } from "./values.ts";

describe("toText", () => {
  test.each([
    ["UTF-8", "Zürich", "Zürich"],
    ["ends at NUL", "eth0\u0000\u0000junk", "eth0"],
    ["control characters become a space", "a\r\n\u001b[31mb\u0007", "a [31mb"],
    ["characters that reverse the text become a space", "a\u202eb", "a b"],
  ])("%s", (_, text, expected) => {
    expect(toText(new TextEncoder().encode(text))).toBe(expected);
  });

  test("Latin-1 where the bytes are not UTF-8", () => {
    expect(toText(bytes("5AFC72696368"))).toBe("Zürich");
  });

  test.each([
    ["a character of two bytes", "Bürogebäude", 9, "Bürogeb"],
    ["a character of three bytes", "10 €", 5, "10"],
    ["a character of four bytes", "ü😀", 5, "ü"],
  ])("UTF-8 that an agent cut inside %s", (_, text, length, expected) => {
    expect(toText(new TextEncoder().encode(text).subarray(0, length))).toBe(expected);
  });

  test("a last letter of Latin-1 after ASCII", () => {
    expect(toText(bytes("436166E9"))).toBe("Café");
  });

  test("is limited in length, and well-formed at the cut", () => {
    expect(toText(new TextEncoder().encode("x".repeat(100_000)))).toHaveLength(200);
    expect(toText(new TextEncoder().encode("😀".repeat(300)), 3).isWellFormed()).toBe(true);
  });

  test("numbers and absent values", () => {
    expect(toText(7)).toBe("7");
    expect(toText(undefined)).toBe("");
  });
});

test("toMac: six bytes or their text, of one interface", () => {
  expect(toMac(bytes("CC2DE0A33DD5"))).toBe("CC:2D:E0:A3:3D:D5");
  expect(toMac(new TextEncoder().encode("cc-2d-e0-a3-3d-d5"))).toBe("CC:2D:E0:A3:3D:D5");
  for (const other of ["", "000000000000", "FFFFFFFFFFFF", "0180C200000E", "CC2DE0A33D"])
    expect(toMac(bytes(other))).toBeUndefined();
  expect(toMac(7)).toBeUndefined();
});

test("toIp: an address of one host", () => {
  expect(toIp([192, 0, 2, 1])).toBe("192.0.2.1");
  expect(toIp([254, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])).toBe("fe80::1");
  for (const other of [
    [0, 0, 0, 0],
    [127, 0, 0, 1],
    [224, 0, 0, 1],
    [255, 255, 255, 255],
    [1, 2, 3],
    [1, 2, 3, 256],
  ])
    expect(toIp(other)).toBeUndefined();
});

test("indexes, integers and bits", () => {
  expect(indexParts("0.7.1")).toEqual([0, 7, 1]);
  expect(indexParts("0.-7")).toEqual([]);
  expect(toInteger(10n)).toBe(10);
  expect(toInteger(2n ** 64n - 1n)).toBeUndefined();
  expect(firstBits(bytes("28"))).toBe(0x28);
  expect(isInPortList(bytes("A0"), 1)).toBe(true);
  expect(isInPortList(bytes("A0"), 2)).toBe(false);
  expect(isInPortList(bytes("A0"), 3)).toBe(true);
  expect(isInPortList(bytes("A0"), 900)).toBe(false);
});
