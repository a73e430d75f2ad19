/** Which connection is closed when there are too many. */
import { expect, test } from "bun:test";
import type { BodySource } from "../../src/http1/body-source.ts";
import type { ConnectionInfo } from "../../src/http1/handler.ts";
import { HttpListener } from "../../src/http1/listener.ts";
import type { Response } from "../../src/http1/response.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/until.ts";
import { StrictClient } from "./strict-client.ts";

const RESPONSE: Response = { status: 200, headers: {}, body: "here" };
const SILENT: BodySource = { open() {}, next: () => "wait", close() {}, noTimeout: true };
const LIMITS = {
  maxUrlBytes: 100,
  maxHeadBytes: 1000,
  maxConnections: 4,
  maxAnonymousConnections: 2,
  minReadBytesPerSecond: 0,
  idleTimeoutMs: 60_000,
  headTimeoutMs: 1000,
  lingerTimeoutMs: 1000,
};
const ask = (target: string) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;

class TestListener extends HttpListener implements AsyncDisposable {
  readonly port: number;
  readonly #clock: ManualClock;

  constructor() {
    const handler = {
      handle({ target }: { target: string }, connection: ConnectionInfo): Response {
        if (target !== "/public") connection.markAuthenticated();
        return target === "/stream" ? { ...RESPONSE, body: SILENT } : RESPONSE;
      },
      onParseError: () => RESPONSE,
      onError: () => RESPONSE,
    };
    const clock = new ManualClock();
    super(handler, LIMITS, clock);
    this.#clock = clock;
    this.port = this.listen({ hostname: "127.0.0.1", port: 0, reusePort: false }).port;
  }

  /** A client that has had a response, so that the server knows the connection. */
  async client(target: string): Promise<StrictClient> {
    const client = new StrictClient(this.port);
    if (target === "/stream") {
      const before = this.inFlight;
      client.send(ask(target));
      await until(() => this.inFlight === before + 1, { what: "the stream" });
    } else expect((await client.request(ask(target))).body).toBe("here");
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = this.stop(0);
    await this.#clock.advance(0);
    await stopped;
  }
}

test("at the limit the oldest idle connection is closed, never a busy one", async () => {
  await using listener = new TestListener();
  await using stream = await listener.client("/stream");
  await using first = await listener.client("/");
  await using second = await listener.client("/");
  await using third = await listener.client("/");
  await using fourth = await listener.client("/");
  await until(() => first.closedByServer, { what: "the oldest to be closed" });
  const others = [stream, second, third, fourth];
  expect(others.map((client) => client.closedByServer)).toEqual([false, false, false, false]);
  expect(listener.counters.evicted).toBe(1);
});

test("anonymous connections are closed before authenticated ones, the oldest first", async () => {
  await using listener = new TestListener();
  await using idle = await listener.client("/");
  await using silent = await listener.client("/public");
  await using stream = await listener.client("/stream");
  await using other = await listener.client("/");
  await using fifth = await listener.client("/");
  await until(() => silent.closedByServer, { what: "the anonymous one to be closed" });
  expect([idle, stream, other, fifth].map((client) => client.closedByServer)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test("anonymous connections have slots of their own, and displace only each other", async () => {
  await using listener = new TestListener();
  await using reader = await listener.client("/");
  const anonymous: StrictClient[] = [];
  for (let n = 0; n < 20; n++) anonymous.push(await listener.client("/public"));
  await until(() => anonymous.filter((client) => client.closedByServer).length === 18, {
    what: "all but two to be closed",
  });
  expect(anonymous.slice(-2).map((client) => client.closedByServer)).toEqual([false, false]);
  expect(reader.closedByServer).toBe(false);
  expect(listener.counters.evicted).toBe(18);
  for (const client of anonymous) client.socket.destroy();
});

test("when all are being served, a new connection is refused", async () => {
  await using listener = new TestListener();
  const streams: StrictClient[] = [];
  for (let n = 0; n < 4; n++) streams.push(await listener.client("/stream"));
  await using fifth = new StrictClient(listener.port);
  await until(() => fifth.closedByServer, { what: "the fifth to be refused" });
  expect(streams.map((client) => client.closedByServer)).toEqual([false, false, false, false]);
  streams[0]?.socket.destroy();
  await until(() => listener.inFlight === 3, { what: "a free slot" });
  await using sixth = await listener.client("/");
  expect(sixth.closedByServer).toBe(false);
  for (const client of streams) client.socket.destroy();
});
