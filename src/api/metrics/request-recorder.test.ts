import { expect, test } from "bun:test";
import { correlationOf } from "./request-recorder.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const correlated = (headers: Record<string, string>) =>
  correlationOf({ header: (name) => headers[name] ?? null });

test.each([
  [`00-${TRACE}-${PARENT}-01`, true],
  [`00-${TRACE}-${PARENT}-00`, true],
  [`cc-${TRACE}-${PARENT}-01-of-a-later-version`, true],
  ["", false],
  [`ff-${TRACE}-${PARENT}-01`, false],
  [`00-${TRACE}-${PARENT}-01-more`, false],
  [`00-${"0".repeat(32)}-${PARENT}-01`, false],
  [`00-${TRACE}-${"0".repeat(16)}-01`, false],
  [`00-${TRACE.toUpperCase()}-${PARENT}-01`, false],
  [`00-${TRACE}-${PARENT}`, false],
  [`00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`, false],
])("traceparent %s: %p", (traceparent, isValid) => {
  expect(correlated({ traceparent })).toEqual(isValid ? { traceId: TRACE, parentId: PARENT } : {});
});

test.each([
  ["7f3a/1", true],
  ["", false],
  ["two words", false],
  ["a\u0000", false],
  ["x".repeat(129), false],
])("X-Request-Id %p: %p", (requestId, isValid) => {
  expect(correlated({ "x-request-id": requestId })).toEqual(isValid ? { requestId } : {});
});
