/** How a connection ends: its time, a stop, faults, and anything in any order. */
import { beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Bench, bodies, get, statuses, text, turn } from "../../test/support/fake-connection.ts";
import type { Response } from "./response.ts";

let b: Bench;
beforeEach(() => {
  b = new Bench();
});

describe("time", () => {
  test("a connection that says nothing is closed, and its other side waited for a little", () => {
    b.pass(59_999);
    expect(b.line.did).toEqual([]);
    b.pass(1);
    expect(b.line.did).toEqual(["shutdown"]);
    b.pass(1_999);
    expect(b.line.did).toEqual(["shutdown"]);
    b.pass(1);
    expect(b.line.did).toEqual(["shutdown", "end"]);
    expect(b.take()).toBe("");
  });

  test("an answer begins the time anew", () => {
    b.pass(50_000);
    b.receive(get("/a"));
    b.pass(59_999);
    b.receive(get("/a"));
    b.pass(59_999);
    expect(b.line.did).toEqual([]);
  });

  test("a head has its time from its first byte, and no byte extends it", () => {
    b.pass(50_000);
    for (const byte of "GET /a HT") {
      b.receive(byte);
      b.pass(1_100);
    }
    expect(b.take()).toBe("");
    b.receive("T");
    b.pass(100);
    expect(bodies(b.take())).toEqual(["request-timeout"]);
    expect(b.line.did).toEqual(["shutdown"]);
    b.receive("P/1.1\r\nHost: x\r\n\r\n");
    expect(b.handler.asked).toEqual([]);
  });

  test("an empty line is not the beginning of a head", () => {
    b.receive("\r\n");
    b.pass(10_000);
    expect(b.take()).toBe("");
    expect(b.line.did).toEqual([]);
  });

  test("the next head has its time, too, also one that was sent ahead", async () => {
    b.receive(`${get("/later")}GET`);
    b.pass(1_000_000);
    b.later(0).resolve(text("made"));
    await turn();
    b.pass(9_999);
    expect(bodies(b.take())).toEqual(["made"]);
    b.pass(1);
    expect(bodies(b.take())).toEqual(["request-timeout"]);
  });

  test("a body may take long, but not pause for long", () => {
    b.receive("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n");
    for (let n = 0; n < 10; n++) {
      b.pass(50_000);
      b.receive("x");
    }
    expect(b.line.did).toEqual([]);
    b.pass(60_000);
    expect(b.line.did).toEqual(["shutdown"]);
  });

  test("an answer that is not made yet, or has nothing to say, is waited for", () => {
    b.receive(get("/later"));
    b.pass(1_000_000);
    expect(b.line.did).toEqual([]);
    b = new Bench();
    b.receive(get("/feed"));
    b.pass(1_000_000);
    expect(b.line.did).toEqual([]);
  });

  test("a reader that takes nothing is cut off; one that takes a little is not", () => {
    b.line.room = 100;
    b.receive(get("/feed"));
    b.feed().say("x".repeat(10_000));
    for (let n = 0; n < 10; n++) {
      b.pass(59_000);
      b.drain(10);
    }
    expect(b.line.did).toEqual([]);
    b.pass(30_000);
    // Neither what it sends nor what there would be to tell it counts for reading.
    b.receive(get("/a"));
    b.feed().say("more");
    b.pass(30_000);
    expect(b.line.did).toEqual(["terminate"]);
    expect(b.feed().closed).toBe(1);
    expect(b.inFlight).toBe(0);
  });

  test("a reader of a stream is not", () => {
    b.line.room = 100;
    b.receive(get("/stream"));
    b.feed().say("x".repeat(10_000));
    b.pass(1_000_000);
    expect(b.line.did).toEqual([]);
  });
});

describe("stopping", () => {
  test("what is idle closes at once, what is under way when it is sent", async () => {
    b.connection.closeAfterResponse();
    expect(b.line.did).toEqual(["shutdown"]);

    b = new Bench();
    b.receive(get("/later") + get("/a"));
    b.connection.closeAfterResponse();
    expect(b.line.did).toEqual([]);
    b.later(0).resolve(text("made"));
    await turn();
    const came = b.take();
    expect(bodies(came)).toEqual(["made"]);
    expect(came).toContain("Connection: close\r\n");
    expect(b.line.did).toEqual(["shutdown"]);
  });

  test("an answer given while the house stops says that it is the last", () => {
    b.stopping = true;
    b.receive(get("/a") + get("/b"));
    expect(b.take()).toContain("Connection: close\r\n");
    expect(b.handler.asked).toEqual(["GET /a"]);
    expect(b.line.did).toEqual(["shutdown"]);
  });

  test("cutting loses what is not sent, and nothing that is", () => {
    b.line.room = 10;
    b.receive(get("/a"));
    b.connection.destroy();
    expect(b.line.did).toEqual(["terminate"]);

    b = new Bench();
    b.receive(get("/a", "Connection: close\r\n"));
    b.connection.destroy();
    expect(b.line.did).toEqual(["shutdown", "end"]);
  });
});

describe("what goes wrong", () => {
  test("in answering is a 500, and the connection goes on", async () => {
    b.receive(get("/throws"), get("/later"), get("/a"));
    b.later(0).reject(new Error("rejected"));
    await turn();
    expect(statuses(b.take())).toEqual([500, 500, 200]);
    expect(b.handler.faults).toEqual(["thrown", "rejected"]);
    expect(b.inFlight).toBe(0);
  });

  test("in a feed cuts the connection: what was sent of it has no end", () => {
    b.receive(get("/feed"));
    b.feed().next = () => {
      throw new Error("gone");
    };
    b.feed().more();
    expect(b.line.did).toEqual(["terminate"]);
    expect(b.handler.faults).toEqual(["gone"]);
    expect(b.feed().closed).toBe(1);
    expect(b.inFlight).toBe(0);
    expect(b.take()).not.toContain("0\r\n\r\n");
  });

  test("in a line costs that connection, whoever called", async () => {
    const broken = () => {
      throw new Error("broken");
    };
    b.receive(get("/later"));
    b.line.write = broken;
    b.later(0).resolve(text("made"));
    await turn();
    expect(b.line.did).toEqual(["terminate"]);

    b = new Bench();
    b.receive("GET");
    b.line.write = broken;
    b.pass(10_000);
    expect(b.line.did).toEqual(["terminate"]);

    b = new Bench();
    b.receive(get("/a").repeat(100));
    b.line.write = broken;
    await turn();
    expect(b.line.did).toEqual(["terminate"]);
    expect(b.handler.faults).toEqual(["broken"]);
  });

  test("for a client that is gone, an answer is not sent and its feed is closed", async () => {
    b.receive(get("/later"));
    b.line.terminate();
    expect(b.inFlight).toBe(0);
    const feed = b.handler.feed(false);
    b.later(0).resolve({ status: 200, headers: {}, body: feed });
    await turn();
    expect(feed.closed).toBe(1);
    expect(b.take()).toBe("");
    expect(b.inFlight).toBe(0);
  });
});

/** Everything that can happen to a connection, in any order. */
const happening = fc.oneof(
  fc
    .constantFrom(
      "/a",
      "/message",
      "/unchanged",
      "/later",
      "/feed",
      "/stream",
      "/counted",
      "/throws",
      "/unsafe",
    )
    .map((path) => ({ what: "receive" as const, text: get(path) })),
  fc.constant({ what: "receive" as const, text: get("/a", "Connection: close\r\n") }),
  fc
    .constantFrom("GET", "\r\n", "\n", "HEAD /feed HTTP/1.1\r\nHost: x\r\n\r\n", get("/later") + get("/feed"))
    .map((piece) => ({ what: "receive" as const, text: piece })),
  fc
    .constantFrom("resolve", "reject", "fed", "feed", "end feed", "fail feed", "turn")
    .map((what) => ({ what })),
  fc.constantFrom("ended", "retire", "cut", "gone", "stop").map((what) => ({ what })),
  fc.constantFrom(0, 10, 100, 1e6).map((room) => ({ what: "drain" as const, room })),
  fc.constantFrom(1_000, 10_000, 60_000).map((ms) => ({ what: "pass" as const, ms })),
);

test("whatever happens, everything is counted, closed once, and over when the client is gone", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 40 }), fc.nat({ max: 200 }), async (events, room) => {
      const bench = new Bench();
      const { handler, connection, line } = bench;
      let failing = 0;
      line.room = room;
      const settled = new Set<unknown>();
      const settle = (made: PromiseWithResolvers<Response> | undefined, answer: () => Response | Error) => {
        if (!made || settled.has(made)) return;
        settled.add(made);
        const how = answer();
        if (how instanceof Error) made.reject(how);
        else made.resolve(how);
      };
      for (const event of events) {
        const feed = handler.feeds.at(-1);
        if (event.what === "receive" && "text" in event) bench.receive(event.text);
        if (event.what === "drain" && "room" in event) bench.drain(event.room);
        if (event.what === "pass" && "ms" in event) bench.pass(event.ms);
        const made = handler.later.at(-1);
        const fed = () => ({ status: 200, headers: {}, body: handler.feed(true) });
        if (event.what === "resolve") settle(made, () => text("made"));
        if (event.what === "fed") settle(made, fed);
        if (event.what === "reject") settle(made, () => new Error("rejected"));
        if (event.what === "feed") feed?.say("some", "", "more");
        if (event.what === "end feed") feed?.say("end");
        if (event.what === "fail feed" && feed && feed.closed === 0) {
          feed.next = () => {
            failing++;
            throw new Error("gone");
          };
          feed.more();
        }
        if (event.what === "ended") connection.ended();
        if (event.what === "retire") connection.closeAfterResponse();
        if (event.what === "cut") connection.destroy();
        if (event.what === "gone") line.terminate();
        if (event.what === "stop") bench.stopping = true;
        if (event.what === "turn" || event.what === "resolve" || event.what === "reject") await turn();
        expect(bench.inFlight === 0 || bench.inFlight === 1).toBe(true);
        expect(failing).toBeLessThan(2);
      }
      for (const made of handler.later)
        settle(made, () => ({ status: 200, headers: {}, body: handler.feed(false) }));
      await turn();
      line.terminate();
      await turn();
      await turn();
      expect(bench.inFlight).toBe(0);
      expect(handler.feeds.filter(({ closed }) => closed !== 1)).toEqual([]);
      expect(line.did.filter((did) => did === "terminate" || did === "end")).toHaveLength(1);
      expect(handler.faults.filter((fault) => !/thrown|rejected|gone|header/.test(fault))).toEqual([]);
    }),
    { numRuns: 400 },
  );
});
