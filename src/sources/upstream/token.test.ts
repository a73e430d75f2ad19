import { expect, test } from "bun:test";
import { systemClock } from "../../lib/clock.ts";
import { Upstream } from "./upstream.ts";

test("a token is sent as Bearer, and one that is no token is not sent", async () => {
  const received: (string | null)[] = [];
  using peer = Bun.serve({
    port: 0,
    fetch(request) {
      received.push(request.headers.get("authorization"));
      return new Response("{}");
    },
  });
  const get = (token: string) => new Upstream({ url: peer.url.href, token }, { clock: systemClock }).get("x");
  expect(await get("abc.DEF_1~+/-==")).toMatchObject({ ok: true });
  for (const token of ["a b", "a\r\nx: y", "ä"])
    expect(await get(token)).toMatchObject({ ok: false, code: "credentials" });
  expect(received).toEqual(["Bearer abc.DEF_1~+/-=="]);
});
