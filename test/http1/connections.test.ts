/** How connections end: by time-outs, by clients that leave, by a stop; and that nothing leaks. */
import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { AUTHORIZATION, openHarness } from "../api/harness.ts";
import { MANY_LARGE_DEVICES, SAMPLE, setDevice } from "../api/network.ts";
import { withUsersFile } from "../api/users-file.ts";
import { until } from "../support/until.ts";
import { isOverloaded, openStreams, problemCode, requestText, StrictClient } from "./strict-client.ts";

describe("time-outs", () => {
  test("a head that does not end is a 408, however steadily its bytes arrive", async () => {
    await using fresh = await openHarness();
    await using client = new StrictClient(fresh.port);
    // All but the last bytes: one byte a second is too slow.
    for (const byte of requestText("topology").slice(0, 9)) {
      await client.sendSeparately([byte]);
      await fresh.fetch("/healthz");
      await fresh.clock.advance(1_000);
    }
    expect(client.closedByServer).toBe(false);
    await fresh.clock.advance(3_000);
    expect((await client.remainingResponses()).map(problemCode)).toEqual(["request-timeout"]);
  });

  test("an idle connection is closed without a response, an event stream is not", async () => {
    await using fresh = await openHarness();
    await fresh.replace(SAMPLE);
    await using silent = new StrictClient(fresh.port);
    await using used = new StrictClient(fresh.port);
    await using stream = new StrictClient(fresh.port);
    await used.request(requestText("topology"));
    stream.send(requestText("devices?format=events"));
    await until(() => stream.unread.includes("event: synced"), { what: "the stream" });
    await fresh.clock.advance(59_000);
    expect([silent.closedByServer, used.closedByServer]).toEqual([false, false]);
    await fresh.clock.advance(2_000);
    expect(await silent.remainingResponses()).toEqual([]);
    expect(await used.remainingResponses()).toHaveLength(1);
    await fresh.clock.advance(600_000);
    expect(stream.closedByServer).toBe(false);
    expect(await openStreams(fresh)).toBe(1);
  });

  test("a client that does not read its response is disconnected and no longer counts as in flight", async () => {
    await using fresh = await openHarness({ limits: { connections: 1 } });
    await fresh.apply(MANY_LARGE_DEVICES);
    await using client = new StrictClient(fresh.port);
    client.socket.pause();
    client.send(requestText("devices"));
    await until(() => isOverloaded(fresh), { what: "a response in flight" });
    await fresh.clock.advance(30_000);
    expect(await isOverloaded(fresh)).toBe(true);
    await fresh.clock.advance(40_000);
    await until(async () => !(await isOverloaded(fresh)), { what: "no response in flight" });
    client.socket.resume();
    await until(() => client.closedByServer, { what: "the end" });
    expect(client.error?.message).toContain("ECONNRESET");
  });

  test("a slow client gets the whole last response after the server has closed", async () => {
    await using fresh = await openHarness();
    await fresh.apply(MANY_LARGE_DEVICES.slice(0, 100));
    await using client = new StrictClient(fresh.port);
    client.socket.pause();
    client.send(requestText("devices", "Connection: close\r\n"));
    await fresh.fetch("topology"); // by now the first response is in the socket buffer
    await fresh.clock.advance(30_000);
    client.socket.resume();
    const [response] = await client.remainingResponses();
    expect(response?.body.length).toBeGreaterThan(1_500_000);
    expect(client.error).toBeUndefined();
  });
});

describe("clients that leave", () => {
  test("a client that half-closes after its request gets the whole response, also a large one", async () => {
    await using fresh = await openHarness();
    await fresh.apply(MANY_LARGE_DEVICES);
    await using client = new StrictClient(fresh.port);
    client.send(requestText("devices") + requestText("topology"));
    client.socket.end();
    const [large, small] = await client.remainingResponses();
    expect(large?.body.length).toBeGreaterThan(27_000_000);
    expect(JSON.parse(large?.body ?? "").devices).toHaveLength(1_800);
    expect(small?.status).toBe(200);
  });

  test.each(["gzip", "br", "zstd", "identity"])(
    "resetting in the middle of a body in %s frees its place",
    async (coding) => {
      await using fresh = await openHarness({ limits: { connections: 5 } });
      const noise = () => Buffer.from(crypto.getRandomValues(new Uint8Array(11_000))).toString("base64");
      await fresh.apply(MANY_LARGE_DEVICES.map((_, n) => setDevice(n, { mfr: noise() })));
      for (let n = 0; n < 3; n++) {
        const clients = Array.from({ length: 5 }, () => new StrictClient(fresh.port));
        let begun = 0;
        for (const client of clients) {
          client.socket.once("data", () => {
            client.socket.pause();
            begun++;
          });
          client.send(requestText("devices", `Accept-Encoding: ${coding}\r\n`));
        }
        // Before the first probe, which would take the place of one of them.
        await until(() => begun === 5, { what: "five responses to begin" });
        expect(await isOverloaded(fresh)).toBe(true);
        for (const client of clients) client.socket.resetAndDestroy();
        await until(async () => !(await isOverloaded(fresh)), { what: "none under way" });
      }
    },
  );

  test("resets of streams, and during a password check, leave nothing open", async () => {
    await withUsersFile(async (users) => {
      await using fresh = await openHarness({ users, limits: { connections: 4 } });
      await fresh.replace(SAMPLE);
      const ann = `Basic ${btoa("ann:one")}`;
      const headers = { authorization: ann };
      const gone = Array.from({ length: 4 }, () => new StrictClient(fresh.port));
      for (const client of gone)
        client.send(requestText("devices?format=events").replace(AUTHORIZATION, ann));
      // At once, while the password is still being checked.
      await Promise.all(
        gone.map((client) => new Promise<void>((resolve) => client.socket.once("connect", () => resolve()))),
      );
      for (const client of gone) client.socket.resetAndDestroy();
      await until(async () => !(await isOverloaded(fresh, { headers })), { what: "room" });
      const open = () => openStreams(fresh, { headers });
      expect(await open()).toBe(0);
      const streams = Array.from({ length: 3 }, () => new StrictClient(fresh.port));
      for (const client of streams)
        client.send(requestText("devices?format=events").replace(AUTHORIZATION, ann));
      await until(async () => (await open()) === 3, { what: "three streams" });
      streams[0]?.socket.resetAndDestroy();
      streams[1]?.socket.destroy();
      streams[2]?.socket.end();
      await until(async () => (await open()) === 0, { what: "no streams" });
    });
  });
});

describe("stop", () => {
  test("closes idle, busy, streaming and half-sent connections, and the port is free at once", async () => {
    const fresh = await openHarness();
    await fresh.apply(MANY_LARGE_DEVICES);
    const idle = new StrictClient(fresh.port);
    await idle.request(requestText("topology"));
    const never = new StrictClient(fresh.port);
    const half = new StrictClient(fresh.port).send("GET /");
    const body = new StrictClient(fresh.port);
    await body.request(requestText("topology", "Content-Length: 500\r\n"));
    const stream = new StrictClient(fresh.port).send(requestText("devices?format=events&id=none"));
    await until(() => stream.unread.includes("event: synced"), { what: "the stream" });
    const busy = new StrictClient(fresh.port);
    busy.socket.once("data", () => busy.socket.pause());
    busy.send(requestText("devices") + requestText("topology"));
    await until(() => busy.socket.isPaused(), { what: "a response in flight" });

    const stopped = fresh.server.stop(5_000);
    for (const client of [idle, never, half, body]) {
      await until(() => client.closedByServer, { what: "the end of an idle connection" });
      client.socket.end();
    }
    const [closing] = await stream.remainingResponses();
    expect(closing?.body).toContain("event: closing");
    stream.socket.end();
    // A client that keeps reading gets its response, and nothing more.
    busy.socket.resume();
    expect((await busy.remainingResponses()).map(({ status }) => status)).toEqual([200]);
    busy.socket.end();
    await stopped;
    const again = createServer();
    await new Promise<void>((resolve, reject) => {
      again.once("error", reject);
      again.listen(fresh.port, "127.0.0.1", resolve);
    });
    again.close();
    expect(fresh.clock.sleeping).toBe(0);
    fresh.log.close();
  });

  test("does not wait longer than the drain time for clients that do not read or do not close", async () => {
    const fresh = await openHarness();
    await fresh.apply(MANY_LARGE_DEVICES);
    const idle = new StrictClient(fresh.port);
    await idle.request(requestText("topology"));
    const stalled = new StrictClient(fresh.port);
    stalled.socket.once("data", () => stalled.socket.pause());
    stalled.send(requestText("devices"));
    await until(() => stalled.socket.isPaused(), { what: "a response in flight" });
    let over = false;
    const stopped = fresh.server.stop(5_000).then(() => {
      over = true;
    });
    await until(() => idle.closedByServer, { what: "the end of an idle connection" });
    await fresh.clock.advance(4_000);
    expect(over).toBe(false);
    await fresh.clock.advance(1_000);
    await stopped;
    stalled.socket.resume();
    await until(() => stalled.error, { what: "a reset" });
    expect(fresh.clock.sleeping).toBe(0);
    idle.socket.destroy();
    fresh.log.close();
  });
});

test("hundreds of idle connections cost little memory, and all are closed", async () => {
  await using fresh = await openHarness();
  const idle = Array.from({ length: 400 }, () => new StrictClient(fresh.port));
  await Promise.all(idle.map((client) => client.request(requestText("/healthz"))));
  expect((await fresh.fetch("topology")).status).toBe(200);
  await fresh.clock.advance(61_000);
  for (const client of idle) {
    await until(() => client.closedByServer, { what: "the end of an idle connection" });
    client.socket.destroy();
  }
});

const rss = (): number => {
  Bun.gc(true);
  return process.memoryUsage.rss();
};

test("connections that read a large list at different times do not each keep its bytes", async () => {
  await using fresh = await openHarness({ limits: { idleTimeoutSeconds: 1_000 }, ringBytes: 1_000_000 });
  await fresh.apply(MANY_LARGE_DEVICES.slice(0, 140));
  const clients = Array.from({ length: 80 }, () => new StrictClient(fresh.port));
  const poll = async (client: StrictClient) => {
    await client.request(requestText("devices"));
    client.dropResponses();
  };
  for (let n = 0; n < 3; n++) for (const client of clients.slice(0, 10)) await poll(client);
  const before = rss();
  for (const [n, client] of clients.entries()) {
    await fresh.apply([setDevice(n, { mfr: "y".repeat(15_000) })]);
    await poll(client);
  }
  // 80 lists of 2 MB are 160 MB.
  expect(rss() - before).toBeLessThan(80_000_000);
  for (const client of clients) client.socket.destroy();
});
