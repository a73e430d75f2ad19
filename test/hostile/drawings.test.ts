/**
 * Drawings, at the socket: one user's drawings delay no other request, users take turns, a client that goes away or does
 * not read delays nobody else, and what exists for one user is bounded. Most tests have a thread that draws when the test
 * lets it, so that nothing depends on how long a drawing takes.
 */
import { describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { Drawings } from "../../src/api/endpoints/drawings.ts";
import { API, type Harness, openHarness } from "../api/harness.ts";
import { deviceId } from "../api/network.ts";
import { withUsersFile } from "../api/users-file.ts";
import { until } from "../support/until.ts";

const TIMEOUT_MS = 120_000;
const ANN = `Basic ${btoa("ann:one")}`;
const BOB = `Basic ${btoa("bob:two")}`;
const SVG = "topology?format=svg";
const MB = 1024 * 1024;

/** A ring: its layout takes long for its size. */
const ring = (count: number) => {
  const at = (n: number, port: number) => ({ device: deviceId(1 + (n % count)), port });
  return {
    devices: Array.from({ length: count }, (_, n) => ({ id: deviceId(n + 1) })),
    links: Array.from({ length: count }, (_, n) => ({ src: at(n, 1), dst: at(n + 1, 2) })),
  };
};

/** A thread whose drawings are complete when the test says so. */
class ManualThread implements Disposable {
  readonly #name = `drawings ${crypto.randomUUID()}`;
  readonly #channel = new BroadcastChannel(this.#name);
  readonly drawings: Drawings;
  begun = 0;

  constructor(bytes = 6) {
    const code = `
      const channel = new BroadcastChannel(${JSON.stringify(this.#name)});
      let current;
      const respond = (n, response) => postMessage({ type: "done", n, response });
      onmessage = ({ data: { operation, n } }) => {
        if (operation === "draw") {
          current = n;
          channel.postMessage("begun");
        } else if (operation === "next") respond(n, new Uint8Array(${Math.min(bytes, 65_536)}).fill(32));
        else respond(n);
      };
      channel.onmessage = ({ data }) => {
        if (data === "complete") respond(current, ${bytes});
        if (data === "crash") process.exit(1);
      };`;
    const worker = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
    this.drawings = new Drawings({ worker });
    this.#channel.onmessage = ({ data }) => {
      if (data === "begun") this.begun++;
    };
  }

  /** Waits until so many drawings have begun in all. */
  async hasBegun(count: number): Promise<void> {
    await until(() => this.begun === count, { what: `drawing ${count} to begin`, everyMs: 1 });
  }

  complete(): void {
    this.#channel.postMessage("complete");
  }

  crash(): void {
    this.#channel.postMessage("crash");
  }

  [Symbol.dispose](): void {
    this.#channel.close();
    this.drawings[Symbol.dispose]();
  }
}

async function withService(drawings: Drawings, body: (service: Harness) => Promise<void>, devices = 3) {
  await withUsersFile(async (users) => {
    await using service = await openHarness({ users, drawings });
    await service.replace(ring(devices));
    // Both passwords are hashed before the test: later logins are look-ups.
    for (const authorization of [ANN, BOB]) await get(service, "topology", authorization);
    await body(service);
  });
}

async function get(service: Harness, path: string, authorization: string) {
  const response = await service.fetch(path, { headers: { authorization } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const usageOf = (service: Harness, user: string) =>
  [...service.scheduler.usage()].find(({ owner }) => owner === `user:${user}`);
const running = (service: Harness, user: string): number => usageOf(service, user)?.running ?? 0;

const untilRunning = (service: Harness, user: string, count: number) =>
  until(() => running(service, user) === count, { what: `${count} reads of ${user}`, everyMs: 1 });

/** Waits until the drawings have asked for their turn: before, their input is rendered. */
const untilQueued = (service: Harness, user: string, count: number) =>
  until(() => usageOf(service, user)?.waiting === count, {
    what: `${count} drawings of ${user}`,
    everyMs: 1,
  });

/** A request on a socket of its own, of which nothing is read. */
function request(service: Harness, path: string, authorization: string): Socket {
  const socket = connect({ port: service.port, host: "127.0.0.1" }).pause();
  socket.on("error", () => {});
  socket.write(`GET ${API}/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
  return socket;
}

describe("drawings of one user", () => {
  test(
    "are made beside the event loop: another user reads meanwhile",
    async () => {
      using drawings = new Drawings();
      await withService(
        drawings,
        async (service) => {
          let drawn = 0;
          const all = Array.from({ length: 3 }, () => get(service, SVG, ANN).then(() => drawn++));
          await until(() => running(service, "ann") > 0, { what: "a drawing under way", everyMs: 1 });
          let reads = 0;
          for (; drawn === 0; reads++) expect((await get(service, `hosts?q=${reads}`, BOB)).status).toBe(200);
          // On the event loop a drawing is one step: a few reads are between two steps, not hundreds.
          await Promise.all(all);
        },
        400,
      );
    },
    TIMEOUT_MS,
  );

  test("alternate with those of another user", async () => {
    using thread = new ManualThread();
    await withService(thread.drawings, async (service) => {
      const order: string[] = [];
      const draw = (user: string, authorization: string) =>
        get(service, SVG, authorization).then(() => order.push(user));
      const all = [1, 2, 3, 4].map(() => draw("ann", ANN));
      await untilQueued(service, "ann", 4);
      all.push(draw("bob", BOB), draw("bob", BOB));
      await untilQueued(service, "bob", 2);
      for (let n = 1; n <= 6; n++) {
        await thread.hasBegun(n);
        thread.complete();
        await until(() => order.length === n, { what: `response ${n}`, everyMs: 1 });
      }
      await Promise.all(all);
      expect(order).toEqual(["ann", "ann", "bob", "ann", "bob", "ann"]);
    });
  });

  test("are refused beyond sixteen, and another user's is not", async () => {
    using thread = new ManualThread();
    await withService(thread.drawings, async (service) => {
      const sockets = Array.from({ length: 16 }, () => request(service, SVG, ANN));
      await untilRunning(service, "ann", 16);
      const refused = await get(service, SVG, ANN);
      expect(refused.status).toBe(503);
      expect(refused.text).toContain("#overloaded");
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      const drawn = get(service, SVG, BOB);
      await untilRunning(service, "bob", 1);
      for (const n of [1, 2, 3]) {
        await thread.hasBegun(n);
        thread.complete();
      }
      expect((await drawn).status).toBe(200);
      for (const socket of sockets) socket.destroy();
    });
  });

  test("that are not read delay no other user, and no more are drawn for the one who does not read", async () => {
    using thread = new ManualThread(64 * MB);
    await withService(thread.drawings, async (service) => {
      const silent = request(service, SVG, ANN);
      await thread.hasBegun(1);
      thread.complete();
      await untilRunning(service, "ann", 0);
      expect((await get(service, SVG, ANN)).status).toBe(503);
      const other = request(service, SVG, BOB).resume();
      const received = until(() => other.bytesRead > 64 * MB, { what: "the drawing of another user" });
      await thread.hasBegun(2);
      thread.complete();
      await received;
      silent.destroy();
      other.destroy();
    });
  });
});

describe("a client that goes away", () => {
  test("leaves the queue", async () => {
    using thread = new ManualThread();
    await withService(thread.drawings, async (service) => {
      const first = get(service, SVG, BOB);
      await thread.hasBegun(1);
      const sockets = Array.from({ length: 5 }, () => request(service, SVG, ANN));
      await untilRunning(service, "ann", 5);
      for (const socket of sockets) socket.resetAndDestroy();
      await untilRunning(service, "ann", 0);
      const second = get(service, SVG, BOB);
      thread.complete();
      expect((await first).status).toBe(200);
      await thread.hasBegun(2);
      thread.complete();
      expect((await second).status).toBe(200);
      expect(thread.begun).toBe(2);
    });
  });

  test("frees the thread that draws for it", async () => {
    using thread = new ManualThread();
    await withService(thread.drawings, async (service) => {
      const socket = request(service, SVG, ANN);
      await thread.hasBegun(1);
      const drawn = get(service, SVG, BOB);
      await untilRunning(service, "bob", 1);
      socket.resetAndDestroy();
      // The first drawing is never complete.
      await thread.hasBegun(2);
      thread.complete();
      expect((await drawn).status).toBe(200);
      expect(thread.drawings.threadsStarted).toBe(2);
    });
  });
});

test("a thread that crashes is a 500 for its request, and the next one has a new thread", async () => {
  using thread = new ManualThread();
  await withService(thread.drawings, async (service) => {
    const failed = get(service, SVG, ANN);
    await thread.hasBegun(1);
    thread.crash();
    const { status, text } = await failed;
    expect(status).toBe(500);
    expect(text).toContain("#internal");
    const next = get(service, SVG, ANN);
    await thread.hasBegun(2);
    thread.complete();
    expect((await next).status).toBe(200);
    expect(thread.drawings.threadsStarted).toBe(2);
  });
});

test("a drawing above a megabyte has the version as its tag, and is drawn again for each request but a conditional one", async () => {
  using thread = new ManualThread(3 * MB);
  await withService(thread.drawings, async (service) => {
    const draw = async (count: number, headers: Record<string, string> = {}) => {
      const pending = service.fetch(SVG, {
        headers: { authorization: ANN, "accept-encoding": "identity", ...headers },
      });
      if (count > 0) {
        await thread.hasBegun(count);
        thread.complete();
      }
      const response = await pending;
      return {
        status: response.status,
        etag: response.headers.get("etag") ?? "",
        text: await response.text(),
      };
    };
    const first = await draw(1);
    expect(first.text.length).toBeGreaterThanOrEqual(3 * MB);
    expect(first.etag).toEndWith('r"');
    expect((await draw(2)).etag).toBe(first.etag);
    expect((await draw(0, { "if-none-match": first.etag })).status).toBe(304);
  });
});
