/**
 * Clients that pipeline, send endless bodies, never send or never read, before they have shown any credentials; and too
 * few file descriptors. Others are served meanwhile.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openHarness } from "../api/harness.ts";
import { MANY_LARGE_DEVICES } from "../api/network.ts";
import { requestText, StrictClient } from "../http1/strict-client.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { HogProcess } from "./hog-process.ts";
import { metric, RawClient, sleepCount } from "./raw-client.ts";

const TOPOLOGY = "/controller/v1/topology";
const UNAUTHENTICATED = `GET ${TOPOLOGY} HTTP/1.1\r\nHost: x\r\n\r\n`;
const post = (headers: string) => `POST ${TOPOLOGY} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const MB = 1024 * 1024;

describe("before authentication", () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  test("a client that pipelines requests does not delay others", async () => {
    expect((await service.fetch(TOPOLOGY)).status).toBe(200);
    await using attacker = new RawClient(service);
    const sent = 20_000;
    attacker.socket.write(UNAUTHENTICATED.repeat(sent));
    await until(() => attacker.responses(401) > 0, { what: "the first 401", everyMs: 1 });
    for (let n = 0; n < 100; n++) expect((await service.fetch(TOPOLOGY)).status).toBe(200);
    // The reader's answers are between the attacker's, not behind thousands of them.
    expect(attacker.responses(401)).toBeLessThan(sent / 2);
    await until(() => attacker.responses(401) === sent, { what: "all responses of the attacker" });
  }, 60_000);

  test.each([
    ["a body of 10 GB", post("Content-Length: 10000000000\r\n"), "x".repeat(64 * 1024)],
    ["one-byte chunks", post("Transfer-Encoding: chunked\r\n"), "1\r\nx\r\n".repeat(10_000)],
    ["endless trailers", `${post("Transfer-Encoding: chunked\r\n")}0\r\n`, "X: y\r\n".repeat(10_000)],
    ["one endless line", `${post("Transfer-Encoding: chunked\r\n")}1;`, "y".repeat(64 * 1024)],
    ["endless empty lines", "", "\r\n".repeat(32 * 1024)],
    ["an endless head", "GET / HTTP/1.1\r\n", "X: y\r\n".repeat(10_000)],
  ])("%s: at most one response, and the connection ends", async (_, head, piece) => {
    await using attacker = new RawClient(service);
    attacker.socket.write(head);
    const reading = service.fetch(TOPOLOGY);
    const sentBytes = await attacker.flood(piece);
    expect(attacker.received.split("HTTP/1.1 ").length - 1).toBeLessThanOrEqual(1);
    // 64 kB that are skipped, 1 MB that is discarded, and the buffers of two sockets.
    expect(sentBytes).toBeLessThan(64 * MB);
    expect((await reading).status).toBe(200);
  });

  test("a body longer than 64 kB closes the connection after the 401, and is counted", async () => {
    const before = await metric(service, "gazetteer_long_bodies_total");
    await using attacker = new RawClient(service);
    attacker.socket.write(post(`Content-Length: ${64 * 1024 + 1}\r\n`));
    await until(() => attacker.isClosed, { what: "the end" });
    expect(attacker.received).toStartWith("HTTP/1.1 401");
    expect(attacker.received).toContain("\r\nConnection: close\r\n");
    expect(await metric(service, "gazetteer_long_bodies_total")).toBe(before + 1);

    await using short = new RawClient(service);
    short.socket.write(post(`Content-Length: ${64 * 1024}\r\n`) + "x".repeat(64 * 1024) + UNAUTHENTICATED);
    await until(() => short.responses(401) === 2, { what: "two responses" });
    expect(short.isClosed).toBe(false);
  });

  test("there is no 100 Continue", async () => {
    await using client = new RawClient(service);
    client.socket.write(post("Content-Length: 5\r\nExpect: 100-continue\r\n"));
    await until(() => client.isClosed, { what: "the end" });
    expect(client.received).toStartWith("HTTP/1.1 401");
  });
});

describe("places", () => {
  test("connections that never send take none of a client with credentials", async () => {
    // 1,001 connections, 501 of them without credentials.
    await using service = await startService({
      args: ["--data", ":memory:", "--set", "limits.connections=1"],
    });
    const { port } = new URL(service.url);
    await using reader = new StrictClient(Number(port));
    const read = async () => (await reader.request(requestText("topology"))).status;
    expect(await read()).toBe(200);
    const silent = Array.from({ length: 1_200 }, () => new RawClient(service));
    await until(async () => (await metric(service, "gazetteer_connections_evicted_total")) >= 600, {
      what: "evictions",
    });
    expect(await read()).toBe(200);
    expect(reader.closedByServer).toBe(false);
    await until(() => silent.filter(({ isClosed }) => isClosed).length >= 600, { what: "closed ones" });
    for (const { socket } of silent) socket.destroy();
  }, 60_000);

  test("clients that never read their 401s take no place of a response in flight", async () => {
    await using service = await startService({
      args: ["--data", ":memory:", "--set", "limits.connections=3"],
    });
    const attackers = Array.from({ length: 4 }, () => new RawClient(service));
    for (const { socket } of attackers) {
      socket.pause();
      socket.write(UNAUTHENTICATED.repeat(15_000));
    }
    // Their sockets are full when no further response is counted.
    let before = -1;
    await until(
      async () => {
        const now = await metric(service, "gazetteer_http_requests_total", 'status="401"');
        const isStalled = now > 0 && now === before;
        before = now;
        return isStalled;
      },
      { what: "full sockets", everyMs: 250 },
    );
    expect(before).toBeLessThan(4 * 15_000);
    expect((await service.fetch("/controller/v1/hosts?q=1")).status).toBe(200);
    for (const { socket } of attackers) socket.destroy();
  }, 60_000);
});

test("a client that reads too slowly is disconnected, an event stream is not", async () => {
  await using fresh = await openHarness();
  await fresh.apply(MANY_LARGE_DEVICES);
  await using slow = new StrictClient(fresh.port);
  await using stream = new StrictClient(fresh.port);
  slow.socket.pause();
  slow.send(requestText("devices"));
  stream.send(requestText("devices?format=events"));
  await until(() => stream.unread.length > 0, { what: "the stream" });
  stream.socket.pause();
  await fresh.clock.advance(29_000);
  const count = async () => {
    const text = await (await fresh.fetch("/metrics")).text();
    return Number(/^gazetteer_slow_readers_total (\d+)$/m.exec(text)?.[1]);
  };
  expect(await count()).toBe(0);
  // The kernel may take some more bytes at first, though nobody reads them: as many windows as it does.
  await until(
    async () => {
      await fresh.clock.advance(33_000);
      return (await count()) > 0;
    },
    { what: "a slow reader" },
  );
  expect(await count()).toBe(1);
  slow.socket.resume();
  await until(() => slow.closedByServer, { what: "the end" });
  expect(slow.error?.message).toContain("ECONNRESET");
  expect(stream.closedByServer).toBe(false);
});

describe.skipIf(process.platform !== "linux")("too few file descriptors", () => {
  test("because of connections: silent ones are closed, it is logged once, and the service recovers", async () => {
    await using service = await startService({ maxOpenFiles: 128 });
    const attackers = Array.from({ length: 300 }, () => new RawClient(service));
    const warnings = (text: string) => service.stderr().split(text).length - 1;
    await until(() => warnings("too few file descriptors") > 0, { what: "the warning" });
    // All but about a hundred.
    await until(() => attackers.filter(({ isClosed }) => isClosed).length > 150, { what: "closed ones" });
    const before = sleepCount(service.pid);
    await until(() => sleepCount(service.pid) > before + 5, { what: "an idle event loop" });
    for (let n = 0; n < 10; n++) expect((await service.fetch(TOPOLOGY)).status).toBe(200);
    for (const { socket } of attackers) socket.destroy();
    await until(() => warnings("enough file descriptors again") === 1, { what: "the recovery" });
    expect(warnings("too few file descriptors")).toBe(1);
    expect((await service.fetch(TOPOLOGY)).status).toBe(200);
  }, 60_000);

  test("because of something else: the port is closed until there are enough, without a busy loop", async () => {
    await using hog = new HogProcess(64);
    const port = Number(await hog.nextLine());
    const request = () => fetch(`http://127.0.0.1:${port}/`).then((response) => response.text());
    expect(await request()).toBe("here");
    hog.send("take");
    expect(await hog.nextLine()).toBe("exhausted");
    // The first connection waits to be accepted, which fails; then the port is closed.
    await until(
      () =>
        request().then(
          () => false,
          () => true,
        ),
      { what: "a refusal" },
    );
    const before = sleepCount(hog.pid);
    await until(() => sleepCount(hog.pid) > before + 5, { what: "an idle event loop" });
    hog.send("give back");
    expect(await hog.nextLine()).toBe("enough");
    expect(await until(request, { what: "a response" })).toBe("here");
  }, 60_000);
});
