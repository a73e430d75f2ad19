/** How a connection ends: time-outs, stop, errors, and random sequences of events. */

import { beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  bodies,
  ConnectionHarness,
  get,
  nextTurn,
  statuses,
  text,
} from "../../test/support/connection-harness.ts";
import { runs } from "../../test/support/property.ts";
import type { Response } from "./response.ts";

let harness: ConnectionHarness;
beforeEach(() => {
  harness = new ConnectionHarness();
});

describe("time-outs", () => {
  test("an idle connection is closed, and the client gets a short time to close its side", () => {
    harness.advance(59_999);
    expect(harness.socket.calls).toEqual([]);
    harness.advance(1);
    expect(harness.socket.calls).toEqual(["shutdown"]);
    harness.advance(1_999);
    expect(harness.socket.calls).toEqual(["shutdown"]);
    harness.advance(1);
    expect(harness.socket.calls).toEqual(["shutdown", "end"]);
    expect(harness.takeOutput()).toBe("");
  });

  test("a response restarts the idle time-out", () => {
    harness.advance(50_000);
    harness.receive(get("/a"));
    harness.advance(59_999);
    harness.receive(get("/a"));
    harness.advance(59_999);
    expect(harness.socket.calls).toEqual([]);
  });

  test("the time-out of a head starts with its first byte, and no further byte extends it", () => {
    harness.advance(50_000);
    for (const byte of "GET /a HT") {
      harness.receive(byte);
      harness.advance(1_100);
    }
    expect(harness.takeOutput()).toBe("");
    harness.receive("T");
    harness.advance(100);
    expect(bodies(harness.takeOutput())).toEqual(["request-timeout"]);
    expect(harness.socket.calls).toEqual(["shutdown"]);
    harness.receive("P/1.1\r\nHost: x\r\n\r\n");
    expect(harness.handler.requests).toEqual([]);
  });

  test("an empty line does not start the time-out of a head", () => {
    harness.receive("\r\n");
    harness.advance(10_000);
    expect(harness.takeOutput()).toBe("");
    expect(harness.socket.calls).toEqual([]);
  });

  test("the time-out of a pipelined head starts after the response before it", async () => {
    harness.receive(`${get("/deferred")}GET`);
    harness.advance(1_000_000);
    harness.deferredResponse(0).resolve(text("deferred"));
    await nextTurn();
    harness.advance(9_999);
    expect(bodies(harness.takeOutput())).toEqual(["deferred"]);
    harness.advance(1);
    expect(bodies(harness.takeOutput())).toEqual(["request-timeout"]);
  });

  test("a request body may take long, but not pause longer than the idle time-out", () => {
    harness.receive("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n");
    for (let n = 0; n < 10; n++) {
      harness.advance(50_000);
      harness.receive("x");
    }
    expect(harness.socket.calls).toEqual([]);
    harness.advance(60_000);
    expect(harness.socket.calls).toEqual(["shutdown"]);
  });

  test("a slow handler and a silent body source cause no time-out", () => {
    harness.receive(get("/deferred"));
    harness.advance(1_000_000);
    expect(harness.socket.calls).toEqual([]);
    harness = new ConnectionHarness();
    harness.receive(get("/source"));
    harness.advance(1_000_000);
    expect(harness.socket.calls).toEqual([]);
  });

  /** A response that the client takes `bytes` of every second, for `seconds`. */
  function readSlowly(bytes: number, seconds: number): void {
    for (let n = 0; n < seconds && harness.socket.calls.length === 0; n++) {
      harness.socket.writable = bytes;
      harness.advance(1_000);
    }
  }

  test("a client that reads less than the minimum over 30 s is disconnected, one that reads more is not", () => {
    harness.socket.writable = 100;
    harness.receive(get("/source"));
    harness.bodySource().push("x".repeat(1_000_000));
    // The socket reports that it is writable only now and then: what counts is what it accepts.
    readSlowly(3_100, 600);
    expect(harness.socket.calls).toEqual([]);
    expect(harness.counters.slowReaders).toBe(0);
    readSlowly(2_900, 61);
    expect(harness.socket.calls).toEqual(["terminate"]);
    expect(harness.counters.slowReaders).toBe(1);
    expect(harness.bodySource().closeCount).toBe(1);
    expect(harness.inFlight).toBe(0);
  });

  test("a client that reads nothing is disconnected; neither its bytes nor new body bytes count as progress", () => {
    harness.socket.writable = 100;
    harness.receive(get("/source"));
    harness.bodySource().push("x".repeat(10_000));
    harness.advance(250);
    harness.advance(29_000);
    harness.receive(get("/a"));
    harness.bodySource().push("more");
    expect(harness.socket.calls).toEqual([]);
    harness.advance(1_000);
    expect(harness.socket.calls).toEqual(["terminate"]);
  });

  test("the rate is measured only while the socket is full", () => {
    harness.socket.writable = 100;
    harness.receive(get("/source"));
    harness.bodySource().push("x".repeat(10_000));
    harness.advance(250);
    harness.advance(29_000);
    harness.drain();
    harness.advance(10_000);
    harness.socket.writable = 100;
    harness.bodySource().push("x".repeat(10_000));
    harness.advance(250);
    harness.advance(29_000);
    expect(harness.socket.calls).toEqual([]);
    expect(harness.counters.slowReaders).toBe(0);
  });

  test("a client of an event stream that reads nothing is not disconnected", () => {
    harness.socket.writable = 100;
    harness.receive(get("/stream"));
    harness.bodySource().push("x".repeat(10_000));
    harness.advance(1_000_000);
    expect(harness.socket.calls).toEqual([]);
  });
});

describe("stop", () => {
  test("an idle connection closes at once, a busy one after its response", async () => {
    harness.connection.closeAfterResponse();
    expect(harness.socket.calls).toEqual(["shutdown"]);

    harness = new ConnectionHarness();
    harness.receive(get("/deferred") + get("/a"));
    harness.connection.closeAfterResponse();
    expect(harness.socket.calls).toEqual([]);
    harness.deferredResponse(0).resolve(text("deferred"));
    await nextTurn();
    const output = harness.takeOutput();
    expect(bodies(output)).toEqual(["deferred"]);
    expect(output).toContain("Connection: close\r\n");
    expect(harness.socket.calls).toEqual(["shutdown"]);
  });

  test("a response sent while the server stops has Connection: close", () => {
    harness.stopping = true;
    harness.receive(get("/a") + get("/b"));
    expect(harness.takeOutput()).toContain("Connection: close\r\n");
    expect(harness.handler.requests).toEqual(["GET /a"]);
    expect(harness.socket.calls).toEqual(["shutdown"]);
  });

  test("destroy loses unsent bytes only", () => {
    harness.socket.writable = 10;
    harness.receive(get("/a"));
    harness.connection.destroy();
    expect(harness.socket.calls).toEqual(["terminate"]);

    harness = new ConnectionHarness();
    harness.receive(get("/a", "Connection: close\r\n"));
    harness.connection.destroy();
    expect(harness.socket.calls).toEqual(["shutdown", "end"]);
  });
});

describe("errors", () => {
  test("an exception of the handler is a 500, and the connection stays open", async () => {
    harness.receive(get("/throws"), get("/deferred"), get("/a"));
    harness.deferredResponse(0).reject(new Error("rejected"));
    await nextTurn();
    expect(statuses(harness.takeOutput())).toEqual([500, 500, 200]);
    expect(harness.handler.errors).toEqual(["thrown", "rejected"]);
    expect(harness.inFlight).toBe(0);
  });

  test("an error of a body source terminates the connection, because the body is incomplete", () => {
    harness.receive(get("/source"));
    harness.bodySource().next = () => {
      throw new Error("gone");
    };
    harness.bodySource().onReadable();
    expect(harness.socket.calls).toEqual(["terminate"]);
    expect(harness.handler.errors).toEqual(["gone"]);
    expect(harness.bodySource().closeCount).toBe(1);
    expect(harness.inFlight).toBe(0);
    expect(harness.takeOutput()).not.toContain("0\r\n\r\n");
  });

  test("an error of the socket terminates its connection, wherever it occurs", async () => {
    const broken = () => {
      throw new Error("broken");
    };
    harness.receive(get("/deferred"));
    harness.socket.write = broken;
    harness.deferredResponse(0).resolve(text("deferred"));
    await nextTurn();
    expect(harness.socket.calls).toEqual(["terminate"]);

    harness = new ConnectionHarness();
    harness.receive("GET");
    harness.socket.write = broken;
    harness.advance(10_000);
    expect(harness.socket.calls).toEqual(["terminate"]);

    harness = new ConnectionHarness();
    harness.receive(get("/a").repeat(100));
    harness.socket.write = broken;
    await nextTurn();
    expect(harness.socket.calls).toEqual(["terminate"]);
    expect(harness.handler.errors).toEqual(["broken"]);
  });

  test("a response for a client that is gone is dropped and its body source closed", async () => {
    harness.receive(get("/deferred"));
    harness.socket.terminate();
    expect(harness.inFlight).toBe(0);
    const source = harness.handler.addBodySource(false);
    harness.deferredResponse(0).resolve({ status: 200, headers: {}, body: source });
    await nextTurn();
    expect(source.closeCount).toBe(1);
    expect(harness.takeOutput()).toBe("");
    expect(harness.inFlight).toBe(0);
  });
});

/** Everything that can happen to a connection. */
const connectionEvent = fc.oneof(
  fc
    .constantFrom(
      "/a",
      "/serialized",
      "/not-modified",
      "/deferred",
      "/source",
      "/stream",
      "/source-with-length",
      "/throws",
      "/unsafe",
    )
    .map((path) => ({ what: "receive" as const, text: get(path) })),
  fc.constant({ what: "receive" as const, text: get("/a", "Connection: close\r\n") }),
  fc
    .constantFrom(
      "GET",
      "\r\n",
      "\n",
      "HEAD /source HTTP/1.1\r\nHost: x\r\n\r\n",
      get("/deferred") + get("/source"),
    )
    .map((piece) => ({ what: "receive" as const, text: piece })),
  fc
    .constantFrom("resolve", "reject", "resolve with source", "push", "end source", "fail source", "turn")
    .map((what) => ({ what })),
  fc
    .constantFrom("client end", "close after response", "destroy", "client gone", "stop")
    .map((what) => ({ what })),
  fc.constantFrom(0, 10, 100, 1e6).map((room) => ({ what: "drain" as const, room })),
  fc.constantFrom(1_000, 10_000, 60_000).map((ms) => ({ what: "pass" as const, ms })),
);

test("in any sequence of events, in-flight counts balance and every body source is closed once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(connectionEvent, { maxLength: 40 }),
      fc.nat({ max: 200 }),
      async (events, room) => {
        const harness = new ConnectionHarness();
        const { handler, connection, socket } = harness;
        let failing = 0;
        socket.writable = room;
        const settled = new Set<unknown>();
        const settle = (
          deferred: PromiseWithResolvers<Response> | undefined,
          result: () => Response | Error,
        ) => {
          if (!deferred || settled.has(deferred)) return;
          settled.add(deferred);
          const value = result();
          if (value instanceof Error) deferred.reject(value);
          else deferred.resolve(value);
        };
        for (const event of events) {
          const source = handler.bodySources.at(-1);
          if (event.what === "receive" && "text" in event) harness.receive(event.text);
          if (event.what === "drain" && "room" in event) harness.drain(event.room);
          if (event.what === "pass" && "ms" in event) harness.advance(event.ms);
          const deferred = handler.deferred.at(-1);
          const responseWithSource = () => ({ status: 200, headers: {}, body: handler.addBodySource(true) });
          if (event.what === "resolve") settle(deferred, () => text("deferred"));
          if (event.what === "resolve with source") settle(deferred, responseWithSource);
          if (event.what === "reject") settle(deferred, () => new Error("rejected"));
          if (event.what === "push") source?.push("some", "", "more");
          if (event.what === "end source") source?.push("end");
          if (event.what === "fail source" && source && source.closeCount === 0) {
            source.next = () => {
              failing++;
              throw new Error("gone");
            };
            source.onReadable();
          }
          if (event.what === "client end") connection.onEnd();
          if (event.what === "close after response") connection.closeAfterResponse();
          if (event.what === "destroy") connection.destroy();
          if (event.what === "client gone") socket.terminate();
          if (event.what === "stop") harness.stopping = true;
          if (event.what === "turn" || event.what === "resolve" || event.what === "reject") await nextTurn();
          expect(harness.inFlight === 0 || harness.inFlight === 1).toBe(true);
          expect(failing).toBeLessThan(2);
        }
        for (const deferred of handler.deferred)
          settle(deferred, () => ({ status: 200, headers: {}, body: handler.addBodySource(false) }));
        await nextTurn();
        socket.terminate();
        await nextTurn();
        await nextTurn();
        expect(harness.inFlight).toBe(0);
        expect(handler.bodySources.filter(({ closeCount }) => closeCount !== 1)).toEqual([]);
        expect(socket.calls.filter((did) => did === "terminate" || did === "end")).toHaveLength(1);
        expect(handler.errors.filter((message) => !/thrown|rejected|gone|header/.test(message))).toEqual([]);
      },
    ),
    { numRuns: runs(400) },
  );
});
