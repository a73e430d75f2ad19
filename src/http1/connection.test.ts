/** The responses of a connection, their framing and their order. */
import { beforeEach, describe, expect, test } from "bun:test";
import {
  bodies,
  ConnectionHarness,
  FakeHandler,
  FakeSocket,
  get,
  nextTurn,
  ORIGIN,
  statuses,
  text,
} from "../../test/support/connection-harness.ts";
import { CommonHeaders } from "./common-headers.ts";
import { Connection } from "./connection.ts";

let harness: ConnectionHarness;
beforeEach(() => {
  harness = new ConnectionHarness();
});

describe("responses", () => {
  test("have the common headers of the handler of the connection, not of the server", () => {
    const handler = Object.assign(new FakeHandler(), { commonHeaders: new CommonHeaders({ "X-Own": "1" }) });
    const socket = new FakeSocket();
    new Connection(socket, harness, ORIGIN, handler).onData(Buffer.from(get("/a")));
    expect(socket.output).toContain("\r\nX-Own: 1\r\n");
  });

  test("status line, Date, Content-Length and body", () => {
    harness.receive(get("/a"));
    const output = harness.takeOutput();
    expect(output).toStartWith("HTTP/1.1 200 OK\r\n");
    expect(output).toContain("\r\nDate: Sun, 09 Sep 2001 01:46:40 GMT\r\n");
    expect(output).toEndWith("\r\nContent-Length: 2\r\n\r\n/a");
    expect(output).not.toContain("Connection:");
  });

  test("204 and 304 have no framing headers, other responses a length or chunks", () => {
    const headOf = (path: string, more = "") => {
      harness.receive(get(path, more));
      return harness.takeOutput().toLowerCase();
    };
    expect(headOf("/not-modified")).not.toMatch(/content-length|transfer-encoding/);
    expect(headOf("/no-content")).not.toMatch(/content-length|transfer-encoding/);
    expect(headOf("/a")).toMatch(/content-length: 2\r\n/);
    const withLength = headOf("/source-with-length");
    expect(withLength).toMatch(/content-length: 5\r\n/);
    expect(withLength).not.toMatch(/transfer-encoding/);
    harness.bodySource(0).push("hello", "end");
    expect(harness.takeOutput()).toBe("hello");
    const withSource = headOf("/source");
    expect(withSource).toMatch(/transfer-encoding: chunked\r\n/);
    expect(withSource).not.toMatch(/content-length/);
    harness.bodySource(1).push("hello", "end");
    expect(harness.takeOutput()).toBe("5\r\nhello\r\n0\r\n\r\n");
    expect(harness.socket.calls).toEqual([]);
  });

  test("HEAD has the head of GET, and the body source is closed without being read", () => {
    for (const path of [
      "/a",
      "/serialized",
      "/not-modified",
      "/no-content",
      "/source-with-length",
      "/source",
    ]) {
      const read = (method: string) => {
        const fresh = new ConnectionHarness();
        fresh.receive(`${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
        const closeCounts = fresh.handler.bodySources.map((source) => source.closeCount);
        return { output: fresh.takeOutput(), closeCounts, inFlight: fresh.inFlight };
      };
      const head = read("HEAD");
      if (path === "/serialized") continue; // only valid for GET
      expect(head.output).toBe(read("GET").output.replace(/\r\n\r\n.*/s, "\r\n\r\n"));
      expect(head.inFlight).toBe(0);
      expect(head.closeCounts.every((count) => count === 1)).toBe(true);
    }
  });

  test("HEAD of a relayed response does not claim an empty body", () => {
    harness.receive("HEAD /relayed HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(harness.takeOutput()).toContain("Transfer-Encoding: chunked\r\n");
    harness.receive("HEAD /relayed HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const output = harness.takeOutput();
    expect(output).not.toMatch(/content-length|transfer-encoding/i);
    expect(output).toContain("Connection: close\r\n");
  });

  test("HTTP/1.0 gets no chunks: the end of the body is the end of the connection", () => {
    harness.receive("GET /source HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    expect(harness.takeOutput()).toContain("Connection: close\r\n");
    harness.bodySource().push("hello", "end");
    expect(harness.takeOutput()).toBe("hello");
    expect(harness.socket.calls).toEqual(["shutdown"]);
  });

  test("HTTP/1.0 closes by default, and keeps open with Connection: keep-alive", () => {
    harness.receive("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    expect(harness.takeOutput()).toContain("Connection: keep-alive\r\n");
    harness.receive("GET /a HTTP/1.0\r\n\r\n");
    expect(harness.takeOutput()).toContain("Connection: close\r\n");
    expect(harness.socket.calls).toEqual(["shutdown"]);
  });

  test("a request with Expect: 100-continue gets 100 and its response", () => {
    const head = `PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n`;
    harness.receive(head);
    expect(harness.takeOutput()).toStartWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n");
    harness.receive("hello", get("/b"));
    expect(bodies(harness.takeOutput())).toEqual(["/b"]);
    harness.receive(head.replace("1.1", "1.0").replace("Expect", "Connection: keep-alive\r\nExpect"));
    expect(statuses(harness.takeOutput())).toEqual([200]);
  });

  test("a header value with a line break is not sent: 500, and the body source is closed", () => {
    harness.receive(get("/unsafe"), get("/a"));
    const output = harness.takeOutput();
    expect(statuses(output)).toEqual([500, 200]);
    expect(output).not.toContain("Set-Cookie");
    expect(harness.bodySource().closeCount).toBe(1);
    expect(harness.handler.errors).toHaveLength(1);
  });
});

describe("pipelined requests", () => {
  test("are handled in order, each when the response before is sent", async () => {
    harness.receive(get("/a") + get("/deferred") + get("/source") + get("/b"));
    expect(harness.handler.requests).toEqual(["GET /a", "GET /deferred"]);
    expect(harness.inFlight).toBe(1);
    harness.receive(get("/c"));
    harness.deferredResponse(0).resolve(text("deferred"));
    await nextTurn();
    expect(harness.handler.requests).toEqual(["GET /a", "GET /deferred", "GET /source"]);
    harness.bodySource().push("x");
    expect(harness.handler.requests).toHaveLength(3);
    harness.bodySource().push("end");
    expect(harness.handler.requests.slice(3)).toEqual(["GET /b", "GET /c"]);
    expect(bodies(harness.takeOutput())).toEqual(["/a", "deferred", "1\r\nx\r\n0\r\n\r\n", "/b", "/c"]);
    expect(harness.inFlight).toBe(0);
  });

  test("backpressure: no request is handled while the socket has not accepted a response", () => {
    harness.socket.writable = 30;
    harness.receive(get("/a") + get("/b") + get("/c"));
    expect(harness.handler.requests).toEqual(["GET /a"]);
    harness.drain(200);
    expect(harness.handler.requests).toEqual(["GET /a", "GET /b", "GET /c"]);
    harness.drain();
    expect(bodies(harness.takeOutput())).toEqual(["/a", "/b", "/c"]);
    expect(harness.inFlight).toBe(0);
  });

  test("nothing behind a request with Connection: close is handled", () => {
    harness.receive(get("/a") + get("/b", "Connection: close\r\n") + get("/c"), get("/d"));
    expect(harness.handler.requests).toEqual(["GET /a", "GET /b"]);
    expect(harness.closingCalls).toEqual(["shutdown"]);
  });

  test("nothing behind a malformed request is handled, also while its error response is in flight", () => {
    harness.socket.writable = 10;
    harness.receive(`${get("/a")}GET /b\r\n\r\n${get("/c")}`);
    harness.receive(get("/d"));
    harness.drain();
    harness.receive(get("/e"));
    expect(harness.handler.requests).toEqual(["GET /a"]);
    expect(bodies(harness.takeOutput())).toEqual(["/a", "bad-request"]);
    expect(harness.closingCalls).toEqual(["shutdown"]);
  });

  test("thousands of requests yield to other connections, and all get responses", async () => {
    const requests = Array.from({ length: 1000 }, (_, n) => get(`/${n}`)).join("");
    harness.receive(requests);
    expect(harness.handler.requests.length).toBeLessThan(1000);
    harness.receive(get("/last"));
    while (harness.handler.requests.length < 1001) await nextTurn();
    expect(harness.handler.requests.slice(-2)).toEqual(["GET /999", "GET /last"]);
    expect(statuses(harness.takeOutput())).toHaveLength(1001);
    expect(harness.socket.calls).toEqual([]);
  });

  test("a client that pipelines too much is not read from until some requests are handled", async () => {
    harness.receive(get("/deferred"));
    const many = get("/b").repeat(20_000);
    harness.receive(many.slice(0, 300_000));
    expect(harness.socket.calls).toEqual(["pause"]);
    harness.deferredResponse(0).resolve(text("deferred"));
    while (harness.socket.calls.length < 2) await nextTurn();
    expect(harness.socket.calls).toEqual(["pause", "resume"]);
    harness.receive(many.slice(300_000));
    while (harness.handler.requests.length < 20_001) await nextTurn();
    expect(statuses(harness.takeOutput())).toHaveLength(20_001);
  });

  test("after the last response the client is read from again, to notice that it closes", async () => {
    harness.receive(get("/deferred"));
    harness.receive(get("/a", "Connection: close\r\n") + "x".repeat(300_000));
    harness.deferredResponse(0).resolve(text("deferred"));
    await nextTurn();
    expect(harness.socket.calls).toEqual(["pause", "resume", "shutdown"]);
  });

  test("bytes behind a malformed request are read and dropped, so that the client gets the error response", () => {
    harness.receive(`GET /a\r\n\r\n${"x".repeat(300_000)}`);
    harness.receive("x".repeat(300_000));
    expect(harness.closingCalls).toEqual(["shutdown"]);
  });

  test("a client that pipelines too much behind an event stream is disconnected", () => {
    harness.receive(get("/stream"));
    harness.receive("x".repeat(300_000));
    expect(harness.socket.calls).toEqual(["terminate"]);
    expect(harness.bodySource().closeCount).toBe(1);
    expect(harness.inFlight).toBe(0);
  });
});

describe("a malformed request body", () => {
  const head = "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";

  test("that arrives with its head: 400", () => {
    harness.receive(`${head}zz\r\n${get("/b")}`);
    expect(bodies(harness.takeOutput())).toEqual(["bad-request"]);
    expect(harness.handler.requests).toEqual([]);
    expect(harness.socket.calls).toEqual(["shutdown"]);
  });

  test("that arrives after its response: the connection closes", () => {
    harness.receive(head, "zz\r\n", get("/b"));
    expect(harness.handler.requests).toEqual(["PUT /a"]);
    expect(bodies(harness.takeOutput())).toEqual(["/a"]);
    expect(harness.closingCalls).toEqual(["shutdown"]);
  });

  test("that arrives while the response is in flight: that response is the last", async () => {
    harness.receive(head.replace("/a", "/deferred"), "zz\r\n", get("/b"));
    harness.deferredResponse(0).resolve(text("deferred"));
    await nextTurn();
    harness.receive(get("/c"));
    expect(harness.handler.requests).toEqual(["PUT /deferred"]);
    const output = harness.takeOutput();
    expect(bodies(output)).toEqual(["deferred"]);
    expect(harness.closingCalls).toEqual(["shutdown"]);
  });
});

describe("a repeated request", () => {
  test("is handled each time", () => {
    harness.receive(get("/a"), get("/a"), get("/a"));
    expect(bodies(harness.takeOutput())).toEqual(["/a", "/a", "/a"]);
  });

  test("is not recognised inside another request, inside a body, or while a response is in flight", async () => {
    harness.receive(get("/a"));
    harness.receive("GET /b HTTP/1.1\r\nHost: x\r\nX-", get("/a"));
    expect(harness.handler.requests).toEqual(["GET /a"]);
    expect(bodies(harness.takeOutput())).toEqual(["/a", "bad-request"]);

    harness = new ConnectionHarness();
    harness.receive(
      get("/a"),
      `PUT /b HTTP/1.1\r\nHost: x\r\nContent-Length: ${get("/a").length}\r\n\r\n`,
      get("/a"),
    );
    expect(harness.handler.requests).toEqual(["GET /a", "PUT /b"]);
    harness.receive(get("/a"));
    expect(harness.handler.requests).toEqual(["GET /a", "PUT /b", "GET /a"]);

    harness = new ConnectionHarness();
    harness.receive(get("/deferred"), get("/deferred"));
    expect(harness.handler.deferred).toHaveLength(1);
    harness.deferredResponse(0).resolve(text("one"));
    await nextTurn();
    harness.deferredResponse(1).resolve(text("two"));
    await nextTurn();
    expect(bodies(harness.takeOutput())).toEqual(["one", "two"]);
  });

  test("may be split over two packets or be incomplete", () => {
    harness.receive(get("/a"), get("/a").slice(0, 8), get("/a").slice(8), get("/a"), get("/a").slice(0, -1));
    expect(harness.handler.requests).toHaveLength(3);
    harness.receive("\n");
    expect(harness.handler.requests).toHaveLength(4);
  });
});

describe("a client that closes its sending side", () => {
  test("while the connection is idle is disconnected", () => {
    harness.receive(get("/a"));
    harness.connection.onEnd();
    expect(harness.socket.calls).toEqual(["end"]);
  });

  test("in the middle of a head is disconnected without a response", () => {
    harness.receive("GET /a HT");
    harness.connection.onEnd();
    expect(harness.socket.calls).toEqual(["end"]);
    expect(harness.takeOutput()).toBe("");
  });

  test("gets the responses to all its requests", async () => {
    harness.receive(get("/deferred") + get("/source") + get("/a"));
    harness.connection.onEnd();
    harness.deferredResponse(0).resolve(text("deferred"));
    await nextTurn();
    harness.socket.writable = 10;
    harness.bodySource().push("x".repeat(100), "end");
    expect(harness.socket.calls).toEqual([]);
    harness.drain();
    expect(bodies(harness.takeOutput())).toEqual(["deferred", `64\r\n${"x".repeat(100)}\r\n0\r\n\r\n`, "/a"]);
    expect(harness.socket.calls).toEqual(["end"]);
    expect(harness.inFlight).toBe(0);
  });

  test("gets them also when they take more than one turn", async () => {
    harness.receive(get("/a").repeat(500));
    harness.connection.onEnd();
    while (harness.socket.calls.length === 0) await nextTurn();
    expect(statuses(harness.takeOutput())).toHaveLength(500);
    expect(harness.socket.calls).toEqual(["end"]);
  });

  test("gets no endless event stream", async () => {
    harness.receive(get("/stream"));
    harness.connection.onEnd();
    expect(harness.socket.calls).toEqual(["terminate"]);
    expect(harness.bodySource().closeCount).toBe(1);

    harness = new ConnectionHarness();
    harness.receive(get("/deferred"));
    harness.connection.onEnd();
    const source = harness.handler.addBodySource(true);
    harness.deferredResponse(0).resolve({ status: 200, headers: {}, body: source });
    await nextTurn();
    expect(harness.socket.calls).toEqual(["terminate"]);
    expect(source.closeCount).toBe(1);
    expect(harness.inFlight).toBe(0);
  });
});
