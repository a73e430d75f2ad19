/** How connections end: by their own time, by clients that go, by a stop; and that nothing is left of them. */
import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { AUTHORIZATION, openHarness } from "../api/harness.ts";
import { MUCH, SAMPLE, setDevice } from "../api/network.ts";
import { withUsersFile } from "../api/users-file.ts";
import { until } from "../support/until.ts";
import { ask, codeOf, isFull, streamsOpen, Talk } from "./strict-client.ts";

describe("time", () => {
  test("a head that does not come to its end is a 408, however busily it goes on", async () => {
    await using fresh = await openHarness();
    await using talk = new Talk(fresh.port);
    // All but the last bytes: one a second is too slow.
    for (const byte of ask("topology").slice(0, 9)) {
      await talk.sendApart([byte]);
      await fresh.fetch("/healthz");
      await fresh.clock.advance(1_000);
    }
    expect(talk.over).toBe(false);
    await fresh.clock.advance(3_000);
    expect((await talk.rest()).map(codeOf)).toEqual(["request-timeout"]);
  });

  test("a connection that says nothing is closed without a word, a stream is not", async () => {
    await using fresh = await openHarness();
    await fresh.replace(SAMPLE);
    await using silent = new Talk(fresh.port);
    await using used = new Talk(fresh.port);
    await using stream = new Talk(fresh.port);
    await used.answerTo(ask("topology"));
    stream.send(ask("devices?format=events"));
    await until(() => stream.unread.includes("event: synced"), { what: "the stream" });
    await fresh.clock.advance(59_000);
    expect([silent.over, used.over]).toEqual([false, false]);
    await fresh.clock.advance(2_000);
    expect(await silent.rest()).toEqual([]);
    expect(await used.rest()).toHaveLength(1);
    await fresh.clock.advance(600_000);
    expect(stream.over).toBe(false);
    expect(await streamsOpen(fresh)).toBe(1);
  });

  test("a reader that takes nothing of an answer is cut off, and costs no place among those under way", async () => {
    await using fresh = await openHarness({ limits: { connections: 1 } });
    await fresh.apply(MUCH);
    await using talk = new Talk(fresh.port);
    talk.socket.pause();
    talk.send(ask("devices"));
    await until(() => isFull(fresh), { what: "an answer under way" });
    await fresh.clock.advance(30_000);
    expect(await isFull(fresh)).toBe(true);
    await fresh.clock.advance(40_000);
    await until(async () => !(await isFull(fresh)), { what: "no answer under way" });
    talk.socket.resume();
    await until(() => talk.over, { what: "the end" });
    expect(talk.error?.message).toContain("ECONNRESET");
  });

  test("a slow reader of a last answer gets all of it, although we have closed", async () => {
    await using fresh = await openHarness();
    await fresh.apply(MUCH.slice(0, 100));
    await using talk = new Talk(fresh.port);
    talk.socket.pause();
    talk.send(ask("devices", "Connection: close\r\n"));
    await fresh.fetch("topology"); // the answer to the first is made by now, and with the system
    await fresh.clock.advance(30_000);
    talk.socket.resume();
    const [answer] = await talk.rest();
    expect(answer?.body.length).toBeGreaterThan(1_500_000);
    expect(talk.error).toBeUndefined();
  });
});

describe("clients that go", () => {
  test("half-closing after the request: the whole answer comes, also a large one", async () => {
    await using fresh = await openHarness();
    await fresh.apply(MUCH);
    await using talk = new Talk(fresh.port);
    talk.send(ask("devices") + ask("topology"));
    talk.socket.end();
    const [large, small] = await talk.rest();
    expect(large?.body.length).toBeGreaterThan(27_000_000);
    expect(JSON.parse(large?.body ?? "").devices).toHaveLength(1_800);
    expect(small?.status).toBe(200);
  });

  test.each(["gzip", "br", "zstd", "identity"])(
    "resetting in the middle of a body in %s frees its place",
    async (coding) => {
      await using fresh = await openHarness({ limits: { connections: 5 } });
      const noise = () => Buffer.from(crypto.getRandomValues(new Uint8Array(11_000))).toString("base64");
      await fresh.apply(MUCH.map((_, n) => setDevice(n, { mfr: noise() })));
      for (let n = 0; n < 3; n++) {
        const talks = Array.from({ length: 5 }, () => new Talk(fresh.port));
        for (const talk of talks) {
          talk.socket.once("data", () => talk.socket.pause());
          talk.send(ask("devices", `Accept-Encoding: ${coding}\r\n`));
        }
        await until(() => isFull(fresh), { what: "five under way" });
        for (const talk of talks) talk.socket.resetAndDestroy();
        await until(async () => !(await isFull(fresh)), { what: "none under way" });
      }
    },
  );

  test("resetting streams, and while a password is checked, leaves nothing open", async () => {
    await withUsersFile(async (users) => {
      await using fresh = await openHarness({ users, limits: { connections: 4 } });
      await fresh.replace(SAMPLE);
      const ann = `Basic ${btoa("ann:one")}`;
      const headers = { authorization: ann };
      const gone = Array.from({ length: 4 }, () => new Talk(fresh.port));
      for (const talk of gone) talk.send(ask("devices?format=events").replace(AUTHORIZATION, ann));
      // At once: the password is still being checked.
      await Promise.all(
        gone.map((talk) => new Promise<void>((resolve) => talk.socket.once("connect", () => resolve()))),
      );
      for (const talk of gone) talk.socket.resetAndDestroy();
      await until(async () => !(await isFull(fresh, { headers })), { what: "room" });
      const open = () => streamsOpen(fresh, { headers });
      expect(await open()).toBe(0);
      const streams = Array.from({ length: 3 }, () => new Talk(fresh.port));
      for (const talk of streams) talk.send(ask("devices?format=events").replace(AUTHORIZATION, ann));
      await until(async () => (await open()) === 3, { what: "three streams" });
      streams[0]?.socket.resetAndDestroy();
      streams[1]?.socket.destroy();
      streams[2]?.socket.end();
      await until(async () => (await open()) === 0, { what: "no streams" });
    });
  });
});

describe("stopping", () => {
  test("ends what is idle, busy, streaming, half sent or half asked, and the port is free at once", async () => {
    const fresh = await openHarness();
    await fresh.apply(MUCH);
    const idle = new Talk(fresh.port);
    await idle.answerTo(ask("topology"));
    const never = new Talk(fresh.port);
    const half = new Talk(fresh.port).send("GET /");
    const body = new Talk(fresh.port);
    await body.answerTo(ask("topology", "Content-Length: 500\r\n"));
    const stream = new Talk(fresh.port).send(ask("devices?format=events&id=nobody"));
    await until(() => stream.unread.includes("event: synced"), { what: "the stream" });
    const busy = new Talk(fresh.port);
    busy.socket.once("data", () => busy.socket.pause());
    busy.send(ask("devices") + ask("topology"));
    await until(() => busy.socket.isPaused(), { what: "an answer under way" });

    const stopped = fresh.server.stop(5_000);
    for (const talk of [idle, never, half, body]) {
      await until(() => talk.over, { what: "the end of an idle connection" });
      talk.socket.end();
    }
    const [told] = await stream.rest();
    expect(told?.body).toContain("event: closing");
    stream.socket.end();
    // A reader that goes on reading has its answer, and no more than that.
    busy.socket.resume();
    expect((await busy.rest()).map(({ status }) => status)).toEqual([200]);
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

  test("does not wait longer than it is told for those who do not read, or do not close", async () => {
    const fresh = await openHarness();
    await fresh.apply(MUCH);
    const idle = new Talk(fresh.port);
    await idle.answerTo(ask("topology"));
    const stalled = new Talk(fresh.port);
    stalled.socket.once("data", () => stalled.socket.pause());
    stalled.send(ask("devices"));
    await until(() => stalled.socket.isPaused(), { what: "an answer under way" });
    let over = false;
    const stopped = fresh.server.stop(5_000).then(() => {
      over = true;
    });
    await until(() => idle.over, { what: "the end of an idle connection" });
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

test("hundreds of connections that do nothing cost next to nothing, and are all let go", async () => {
  await using fresh = await openHarness();
  const idle = Array.from({ length: 400 }, () => new Talk(fresh.port));
  await Promise.all(idle.map((talk) => talk.answerTo(ask("/healthz"))));
  expect((await fresh.fetch("topology")).status).toBe(200);
  await fresh.clock.advance(61_000);
  for (const talk of idle) {
    await until(() => talk.over, { what: "the end of an idle connection" });
    talk.socket.destroy();
  }
});

const rss = (): number => {
  Bun.gc(true);
  return process.memoryUsage.rss();
};

test("connections that have read a large list at different times do not each hold on to theirs", async () => {
  await using fresh = await openHarness({ limits: { idleTimeoutSeconds: 1_000 }, ringBytes: 1_000_000 });
  await fresh.apply(MUCH.slice(0, 140));
  const talks = Array.from({ length: 80 }, () => new Talk(fresh.port));
  const poll = async (talk: Talk) => {
    await talk.answerTo(ask("devices"));
    talk.forget();
  };
  for (let n = 0; n < 3; n++) for (const talk of talks.slice(0, 10)) await poll(talk);
  const before = rss();
  for (const [n, talk] of talks.entries()) {
    await fresh.apply([setDevice(n, { mfr: "y".repeat(15_000) })]);
    await poll(talk);
  }
  // 80 lists of 2 MB are 160 MB.
  expect(rss() - before).toBeLessThan(80_000_000);
  for (const talk of talks) talk.socket.destroy();
});
