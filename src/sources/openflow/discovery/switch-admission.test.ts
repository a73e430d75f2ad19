import { expect, test } from "bun:test";
import { AllowList } from "./switch-admission.ts";

const ONE = "of:0000000000000001";
const TWO = "of:0000000000000002";
const certificate = { commonName: "s1.example", fingerprint: "ab".repeat(32) };

test("without a list every switch is accepted and none is listed", () => {
  const list = new AllowList({});
  expect(list.refusal(ONE, undefined)).toBeUndefined();
  expect(list.has(ONE)).toBe(false);
});

test("with a list others are refused, unless they are allowed too", () => {
  const list = new AllowList({ allow: ["0000000000000001"] });
  expect(list.refusal(ONE, undefined)).toBeUndefined();
  expect(list.refusal(TWO, undefined)).toBe("this datapath id is not allowed");
  expect(new AllowList({ allow: [ONE], allowOthers: true }).refusal(TWO, undefined)).toBeUndefined();
});

test("a datapath id can be bound to a common name or a fingerprint", () => {
  const bound = (text: string) => new AllowList({ allow: [{ id: ONE.toUpperCase(), certificate: text }] });
  const refusal = "this datapath id is bound to another certificate";
  expect(bound("s1.example").refusal(ONE, certificate)).toBeUndefined();
  expect(bound("s2.example").refusal(ONE, certificate)).toBe(refusal);
  expect(bound("s1.example").refusal(ONE, undefined)).toBe(refusal);
  const digits = Array.from({ length: 32 }, () => "AB").join(":");
  expect(bound(`sha256:${digits}`).refusal(ONE, certificate)).toBeUndefined();
  expect(bound(`sha256:${"cd".repeat(32)}`).refusal(ONE, certificate)).toBe(refusal);
  expect(bound("s1.example").hasCertificates).toBe(true);
  expect(new AllowList({ allow: [ONE] }).hasCertificates).toBe(false);
});
