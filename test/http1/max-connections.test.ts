/** Which connection is closed when there are too many. */
import { expect, test } from "bun:test";
import type { BodySource } from "../../src/http1/body-source.ts";
import { HttpListener } from "../../src/http1/listener.ts";
import type { Response } from "../../src/http1/response.ts";
import { ManualClock } from "../../src/lib/clock.ts";
import { until } from "../support/until.ts";
import { StrictClient } from "./strict-client.ts";

const RESPONSE: Response = { status: 200, headers: {}, body: "here" };
const SILENT: BodySource = { open() {}, next: () => "wait", close() {}, noTimeout: true };
const LIMITS = {
  maxUrlBytes: 100,
  maxHeadBytes: 1000,
  maxConnections: 3,
  idleTimeoutMs: 60_000,
  headTimeoutMs: 1000,
  lingerTimeoutMs: 1000,
};
const ask = (target: string) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;

test("at the limit the oldest idle connection is closed, never a busy one", async () => {
  const clock = new ManualClock();
  const handler = {
    handle: ({ target }: { target: string }) =>
      target === "/stream" ? { ...RESPONSE, body: SILENT } : RESPONSE,
    onParseError: () => RESPONSE,
    onError: () => RESPONSE,
  };
  const listener = new HttpListener(handler, LIMITS, clock);
  const { port } = listener.listen({ hostname: "127.0.0.1", port: 0, reusePort: false });
  await using stream = new StrictClient(port);
  stream.send(ask("/stream"));
  await until(() => listener.inFlight === 1, { what: "the stream" });
  await using first = new StrictClient(port);
  await first.request(ask("/"));
  await using second = new StrictClient(port);
  await second.request(ask("/"));
  await using third = new StrictClient(port);
  expect((await third.request(ask("/"))).body).toBe("here");
  await until(() => first.closedByServer, { what: "the oldest to be closed" });
  expect([stream.closedByServer, second.closedByServer, third.closedByServer]).toEqual([false, false, false]);
  const stopped = listener.stop(0);
  await clock.advance(0);
  await stopped;
});
