/** What a connection does for a client before and after authentication: bodies, discarded bytes, work in one turn. */
import { beforeEach, describe, expect, test } from "bun:test";
import { bodies, ConnectionHarness, get, nextTurn, statuses } from "../../test/support/connection-harness.ts";

let harness: ConnectionHarness;
beforeEach(() => {
  harness = new ConnectionHarness();
});

const put = (path: string, headers: string) => `PUT ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const counted = (path: string, bytes: number) => put(path, `Content-Length: ${bytes}\r\n`);
const chunked = (path: string) => put(path, "Transfer-Encoding: chunked\r\n");
const KB = 1024;
const MB = 1024 * KB;

/** Sends in pieces, with a turn of the loop after each, as a network does. */
async function send(text: string, pieceBytes = 16 * KB): Promise<void> {
  for (let at = 0; at < text.length && harness.socket.calls.length === 0; at += pieceBytes) {
    harness.receive(text.slice(at, at + pieceBytes));
    await nextTurn();
  }
}

describe("a request body", () => {
  test.each([
    ["/refused", 64 * KB],
    ["/a", MB],
  ])("of %s is skipped up to %p bytes, and the connection stays", async (path, bytes) => {
    await send(counted(path, bytes) + "x".repeat(bytes) + get("/next"));
    const output = harness.takeOutput();
    expect(bodies(output)).toEqual([path, "/next"]);
    expect(output).not.toContain("Connection: close");
    expect(harness.counters.longBodies).toBe(0);
  });

  test.each([
    ["/refused", 64 * KB],
    ["/a", MB],
  ])("of %s that is longer than %p bytes: the response has Connection: close", async (path, bytes) => {
    harness.receive(counted(path, bytes + 1));
    const output = harness.takeOutput();
    expect(bodies(output)).toEqual([path]);
    expect(output).toContain("Connection: close\r\n");
    expect(harness.socket.calls).toEqual(["shutdown"]);
    expect(harness.counters.longBodies).toBe(1);
    harness.receive(get("/next"));
    expect(harness.handler.requests).toEqual([`PUT ${path}`]);
  });

  test.each([
    ["one-byte chunks", "1\r\nx\r\n"],
    ["chunks with extensions", `1;${"y".repeat(1000)}\r\nx\r\n`],
    ["large chunks", `2000\r\n${"x".repeat(0x2000)}\r\n`],
  ])("of %s is bounded as well, framing included", async (_, chunk) => {
    const repeat = (bytes: number) => chunk.repeat(Math.ceil(bytes / chunk.length));
    await send(chunked("/refused") + repeat(66 * KB));
    await nextTurn();
    while (harness.socket.calls.length === 0) await nextTurn();
    expect(harness.socket.calls).toEqual(["shutdown"]);
    expect(harness.counters.longBodies).toBe(1);
    expect(statuses(harness.takeOutput())).toEqual([401]);

    harness = new ConnectionHarness();
    await send(`${chunked("/a") + repeat(66 * KB)}0\r\n\r\n${get("/next")}`);
    while (harness.handler.requests.length < 2) await nextTurn();
    expect(bodies(harness.takeOutput())).toEqual(["/a", "/next"]);
  });

  test("of endless trailers is malformed where they are longer than a head", async () => {
    const trailer = "X: y\r\n";
    await send(`${chunked("/a")}0\r\n${trailer.repeat(100)}\r\n${get("/next")}`);
    await nextTurn();
    expect(bodies(harness.takeOutput())).toEqual(["/a", "/next"]);
    await send(`${chunked("/a")}0\r\n${trailer.repeat(200)}`);
    while (harness.socket.calls.length === 0) await nextTurn();
    expect(harness.socket.calls).toEqual(["shutdown"]);
  });

  test("is parsed in slices: a turn of the loop handles a bounded number of chunks", async () => {
    harness.receive(`${chunked("/refused") + "1\r\nx\r\n".repeat(5_000)}0\r\n\r\n${get("/refused/next")}`);
    let turns = 0;
    for (; harness.handler.requests.length < 2; turns++) await nextTurn();
    // 10,000 lines, 256 in a slice, one slice in a turn.
    expect(turns).toBeGreaterThanOrEqual(38);
    expect(statuses(harness.takeOutput())).toEqual([401, 401]);
  });

  test("that arrives before its response is decided is not read further than the buffer", async () => {
    harness.receive(counted("/deferred", MB));
    for (let n = 0; n < 64; n++) harness.receive("x".repeat(16 * KB));
    expect(harness.socket.calls).toEqual(["pause"]);
    harness.deferredResponse(0).resolve({ status: 200, headers: {}, body: "done" });
    while (harness.socket.calls.length < 2) await nextTurn();
    expect(harness.socket.calls).toEqual(["pause", "resume"]);
    harness.receive(get("/next"));
    expect(bodies(harness.takeOutput())).toEqual(["done", "/next"]);
  });
});

describe("Expect: 100-continue", () => {
  const expects = (path: string, bytes: number) =>
    put(path, `Content-Length: ${bytes}\r\nExpect: 100-continue\r\n`);

  test("of a refused request gets no 100, and the connection closes: the body may not come", () => {
    harness.receive(expects("/refused", 5));
    const output = harness.takeOutput();
    expect(output).toStartWith("HTTP/1.1 401");
    expect(output).toContain("Connection: close\r\n");
    harness.receive(get("/next"));
    expect(harness.handler.requests).toEqual(["PUT /refused"]);
  });

  test("with a body that is too long gets no 100", () => {
    harness.receive(expects("/a", MB + 1));
    expect(harness.takeOutput()).toStartWith("HTTP/1.1 200");
    expect(harness.socket.calls).toEqual(["shutdown"]);
  });
});

describe("after the last response", () => {
  test("at most 1 MB is discarded", () => {
    harness.receive(counted("/refused", 100 * MB));
    for (let n = 0; n < 16; n++) harness.receive("x".repeat(64 * KB));
    expect(harness.closingCalls).toEqual(["shutdown"]);
    harness.receive("x");
    expect(harness.closingCalls).toEqual(["shutdown", "end"]);
  });

  test("one read is discarded in a turn, within the shared quota", async () => {
    harness.receive(counted("/refused", 100 * MB));
    harness.receive("x".repeat(64 * KB));
    expect(harness.socket.calls).toEqual(["shutdown", "pause"]);
    await nextTurn();
    expect(harness.socket.calls).toEqual(["shutdown", "pause", "resume"]);
  });

  test("bytes are discarded for the linger time-out, and do not extend it", () => {
    harness.receive(counted("/refused", 100 * MB));
    for (let n = 0; n < 20; n++) {
      harness.receive("x");
      harness.advance(100);
    }
    expect(harness.closingCalls).toEqual(["shutdown", "end"]);
  });

  test("a client that sends on while the response is in flight is not read from", () => {
    harness.socket.writable = 10;
    harness.receive(counted("/refused", 100 * MB));
    for (let n = 0; n < 17; n++) harness.receive("x".repeat(64 * KB));
    expect(harness.socket.calls).toEqual(["pause"]);
    harness.drain();
    expect(harness.socket.calls).toEqual(["pause", "resume", "shutdown"]);
  });
});

describe("work in one turn", () => {
  const pathsPerTurn = async (path: string, count: number) => {
    const perTurn: number[] = [];
    harness.receive(get(path).repeat(count));
    for (let done = 0; done < count; await nextTurn()) {
      perTurn.push(harness.handler.requests.length - done);
      done = harness.handler.requests.length;
    }
    return perTurn;
  };

  test("an anonymous connection handles one request in a turn, also with responses that are promises", async () => {
    expect(Math.max(...(await pathsPerTurn("/refused", 50)))).toBe(1);
    harness = new ConnectionHarness();
    const refused = { status: 401, headers: {}, body: "no" };
    const { handler } = harness;
    handler.handle = (request) => {
      handler.requests.push(request.target);
      return Promise.resolve(refused);
    };
    expect(Math.max(...(await pathsPerTurn("/refused", 50)))).toBe(1);
    expect(statuses(harness.takeOutput())).toHaveLength(50);
  });

  test("an authenticated connection handles 16", async () => {
    harness.receive(get("/first"));
    harness.handler.requests.length = 0;
    const perTurn = await pathsPerTurn("/a", 100);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(16);
    expect(perTurn.length).toBeLessThan(10);
  });

  test("all connections together handle no more than the shared quota", async () => {
    harness = new ConnectionHarness({ anonymousUnits: 3, authenticatedUnits: 5 });
    const anonymous = Array.from({ length: 10 }, () => harness.connect());
    const authenticated = Array.from({ length: 10 }, () => harness.connect());
    const { requests } = harness.handler;
    const count = (path: string) => requests.filter((request) => request === `GET ${path}`).length;
    for (const connection of authenticated) connection.onData(Buffer.from(get("/first")));
    while (count("/first") < 10) await nextTurn();
    await nextTurn();
    for (const connection of anonymous) connection.onData(Buffer.from(get("/refused").repeat(5)));
    for (const connection of authenticated) connection.onData(Buffer.from(get("/a").repeat(5)));
    for (let before = [0, 0]; count("/refused") < 50 || count("/a") < 50; await nextTurn()) {
      const now = [count("/refused"), count("/a")];
      expect((now[0] ?? 0) - (before[0] ?? 0)).toBeLessThanOrEqual(3);
      expect((now[1] ?? 0) - (before[1] ?? 0)).toBeLessThanOrEqual(5);
      before = now;
    }
    // Anonymous connections do not use the quota of authenticated ones, which are done long before.
    expect(requests.lastIndexOf("GET /a")).toBeLessThan(requests.lastIndexOf("GET /refused"));
  });

  test("empty lines before a request count like bytes of its head", () => {
    harness.receive("\r\n".repeat(400), get("/a"), "\r\n".repeat(400));
    expect(bodies(harness.takeOutput())).toEqual(["/a"]);
    harness.receive("\r\n".repeat(400));
    expect(bodies(harness.takeOutput())).toEqual(["bad-request"]);
  });
});

describe("in flight", () => {
  test("responses of anonymous connections do not count", () => {
    harness.socket.writable = 10;
    harness.receive(get("/refused"));
    expect(harness.inFlight).toBe(0);
    harness.drain();
    expect(harness.inFlight).toBe(0);
  });

  test("the response to the first authenticated request counts from then on, but not for itself", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const seen: number[] = [];
    harness.handler.handle = async (_, connection) => {
      await promise;
      connection.markAuthenticated();
      seen.push(harness.inFlight, connection.inFlight);
      return { status: 200, headers: {}, body: "done" };
    };
    harness.receive(get("/a"));
    expect(harness.inFlight).toBe(0);
    resolve();
    await nextTurn();
    expect(seen).toEqual([1, 0]);
    expect(harness.inFlight).toBe(0);
  });
});

describe("evict", () => {
  test("an anonymous connection is closed unless a handler works for it", () => {
    expect(harness.connection.evict()).toBe(true);
    expect(harness.socket.calls).toEqual(["terminate"]);
    expect(harness.connection.evict()).toBe(false);

    harness = new ConnectionHarness();
    harness.socket.writable = 10;
    harness.receive(get("/refused"));
    expect(harness.connection.evict()).toBe(true);

    harness = new ConnectionHarness();
    harness.handler.handle = () => new Promise(() => {});
    harness.receive(get("/refused"));
    expect(harness.connection.evict()).toBe(false);
  });

  test("an authenticated one is closed when it is idle, or only waits for the client to close", () => {
    harness.receive(get("/a"));
    expect(harness.connection.evict()).toBe(true);
    expect(harness.socket.calls).toEqual(["end"]);

    harness = new ConnectionHarness();
    harness.receive(get("/source"));
    expect(harness.connection.evict()).toBe(false);

    harness = new ConnectionHarness();
    harness.receive(get("/a", "Connection: close\r\n"));
    expect(harness.connection.evict()).toBe(true);
    expect(harness.socket.calls).toEqual(["shutdown", "end"]);
  });
});

describe("received bytes that anonymous connections hold", () => {
  test("are counted until they are handled, authenticated or gone", async () => {
    harness.receive(get("/refused").repeat(100));
    expect(harness.anonymousBytes).toBeGreaterThan(0);
    while (harness.handler.requests.length < 100) await nextTurn();
    expect(harness.anonymousBytes).toBe(0);
    harness.receive(get("/refused").repeat(100));
    expect(harness.anonymousBytes).toBeGreaterThan(0);
    harness.socket.terminate();
    expect(harness.anonymousBytes).toBe(0);

    harness = new ConnectionHarness();
    harness.receive(get("/a").repeat(100));
    expect(harness.anonymousBytes).toBe(0);
  });
});
