/** What a connection answers, and in which order. */
import { beforeEach, describe, expect, test } from "bun:test";
import { Bench, bodies, get, statuses, text, turn } from "../../test/support/fake-connection.ts";

let b: Bench;
beforeEach(() => {
  b = new Bench();
});

describe("answers", () => {
  test("the very bytes", () => {
    b.receive(get("/a"));
    const came = b.take();
    expect(came).toStartWith("HTTP/1.1 200 OK\r\n");
    expect(came).toContain("\r\nDate: Sun, 09 Sep 2001 01:46:40 GMT\r\n");
    expect(came).toEndWith("\r\nContent-Length: 2\r\n\r\n/a");
    expect(came).not.toContain("Connection:");
  });

  test("no length for what has no body, and a length or chunks for what has", () => {
    const headOf = (path: string, more = "") => {
      b.receive(get(path, more));
      return b.take().toLowerCase();
    };
    expect(headOf("/unchanged")).not.toMatch(/content-length|transfer-encoding/);
    expect(headOf("/nothing")).not.toMatch(/content-length|transfer-encoding/);
    expect(headOf("/a")).toMatch(/content-length: 2\r\n/);
    const counted = headOf("/counted");
    expect(counted).toMatch(/content-length: 5\r\n/);
    expect(counted).not.toMatch(/transfer-encoding/);
    b.feed(0).say("hello", "end");
    expect(b.take()).toBe("hello");
    const fed = headOf("/feed");
    expect(fed).toMatch(/transfer-encoding: chunked\r\n/);
    expect(fed).not.toMatch(/content-length/);
    b.feed(1).say("hello", "end");
    expect(b.take()).toBe("5\r\nhello\r\n0\r\n\r\n");
    expect(b.line.did).toEqual([]);
  });

  test("HEAD has the head of GET, and its feed is closed without being opened", () => {
    for (const path of ["/a", "/message", "/unchanged", "/nothing", "/counted", "/feed"]) {
      const read = (method: string) => {
        const fresh = new Bench();
        fresh.receive(`${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
        const closed = fresh.handler.feeds.map((feed) => feed.closed);
        return { came: fresh.take(), closed, underWay: fresh.inFlight };
      };
      const head = read("HEAD");
      if (path === "/message") continue; // only ever made for GET
      expect(head.came).toBe(read("GET").came.replace(/\r\n\r\n.*/s, "\r\n\r\n"));
      expect(head.underWay).toBe(0);
      expect(head.closed.every((times) => times === 1)).toBe(true);
    }
  });

  test("HEAD of what another process answers does not claim an empty body", () => {
    b.receive("HEAD /relayed HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(b.take()).toContain("Transfer-Encoding: chunked\r\n");
    b.receive("HEAD /relayed HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const came = b.take();
    expect(came).not.toMatch(/content-length|transfer-encoding/i);
    expect(came).toContain("Connection: close\r\n");
  });

  test("HTTP/1.0 gets no chunks: the end of a feed is the end of the connection", () => {
    b.receive("GET /feed HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    expect(b.take()).toContain("Connection: close\r\n");
    b.feed().say("hello", "end");
    expect(b.take()).toBe("hello");
    expect(b.line.did).toEqual(["shutdown"]);
  });

  test("HTTP/1.0 closes unless asked not to, and says so", () => {
    b.receive("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    expect(b.take()).toContain("Connection: keep-alive\r\n");
    b.receive("GET /a HTTP/1.0\r\n\r\n");
    expect(b.take()).toContain("Connection: close\r\n");
    expect(b.line.did).toEqual(["shutdown"]);
  });

  test("who holds its body back is told to send it, and is answered", () => {
    const head = `PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n`;
    b.receive(head);
    expect(b.take()).toStartWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n");
    b.receive("hello", get("/b"));
    expect(bodies(b.take())).toEqual(["/b"]);
    b.receive(head.replace("1.1", "1.0").replace("Expect", "Connection: keep-alive\r\nExpect"));
    expect(statuses(b.take())).toEqual([200]);
  });

  test("a header that would be two is not sent: 500, and its feed is closed", () => {
    b.receive(get("/unsafe"), get("/a"));
    const came = b.take();
    expect(statuses(came)).toEqual([500, 200]);
    expect(came).not.toContain("Set-Cookie");
    expect(b.feed().closed).toBe(1);
    expect(b.handler.faults).toHaveLength(1);
  });
});

describe("requests that come together", () => {
  test("are answered in order, each when the one before it is sent", async () => {
    b.receive(get("/a") + get("/later") + get("/feed") + get("/b"));
    expect(b.handler.asked).toEqual(["GET /a", "GET /later"]);
    expect(b.inFlight).toBe(1);
    b.receive(get("/c"));
    b.later(0).resolve(text("made"));
    await turn();
    expect(b.handler.asked).toEqual(["GET /a", "GET /later", "GET /feed"]);
    b.feed().say("x");
    expect(b.handler.asked).toHaveLength(3);
    b.feed().say("end");
    expect(b.handler.asked.slice(3)).toEqual(["GET /b", "GET /c"]);
    expect(bodies(b.take())).toEqual(["/a", "made", "1\r\nx\r\n0\r\n\r\n", "/b", "/c"]);
    expect(b.inFlight).toBe(0);
  });

  test("the socket's pace is kept: nothing is asked while an answer is not taken", () => {
    b.line.room = 30;
    b.receive(get("/a") + get("/b") + get("/c"));
    expect(b.handler.asked).toEqual(["GET /a"]);
    b.drain(200);
    expect(b.handler.asked).toEqual(["GET /a", "GET /b", "GET /c"]);
    b.drain();
    expect(bodies(b.take())).toEqual(["/a", "/b", "/c"]);
    expect(b.inFlight).toBe(0);
  });

  test("nothing after a last request is looked at", () => {
    b.receive(get("/a") + get("/b", "Connection: close\r\n") + get("/c"), get("/d"));
    expect(b.handler.asked).toEqual(["GET /a", "GET /b"]);
    expect(b.line.did).toEqual(["shutdown"]);
  });

  test("nothing after a refused request is looked at, also while the refusal is under way", () => {
    b.line.room = 10;
    b.receive(`${get("/a")}GET /b\r\n\r\n${get("/c")}`);
    b.receive(get("/d"));
    b.drain();
    b.receive(get("/e"));
    expect(b.handler.asked).toEqual(["GET /a"]);
    expect(bodies(b.take())).toEqual(["/a", "bad-request"]);
    expect(b.line.did).toEqual(["shutdown"]);
  });

  test("thousands of them leave others their turn, and all are answered", async () => {
    const requests = Array.from({ length: 1000 }, (_, n) => get(`/${n}`)).join("");
    b.receive(requests);
    expect(b.handler.asked.length).toBeLessThan(1000);
    b.receive(get("/last"));
    while (b.handler.asked.length < 1001) await turn();
    expect(b.handler.asked.slice(-2)).toEqual(["GET /999", "GET /last"]);
    expect(statuses(b.take())).toHaveLength(1001);
    expect(b.line.did).toEqual([]);
  });

  test("too much of them is not listened to until some are answered", async () => {
    b.receive(get("/later"));
    const many = get("/b").repeat(20_000);
    b.receive(many.slice(0, 300_000));
    expect(b.line.did).toEqual(["pause"]);
    b.later(0).resolve(text("made"));
    while (b.line.did.length < 2) await turn();
    expect(b.line.did).toEqual(["pause", "resume"]);
    b.receive(many.slice(300_000));
    while (b.handler.asked.length < 20_001) await turn();
    expect(statuses(b.take())).toHaveLength(20_001);
  });

  test("when the last of them is answered, the client is listened to again, to hear that it closes", async () => {
    b.receive(get("/later"));
    b.receive(get("/a", "Connection: close\r\n") + "x".repeat(300_000));
    b.later(0).resolve(text("made"));
    await turn();
    expect(b.line.did).toEqual(["pause", "resume", "shutdown"]);
  });

  test("behind a refused one much is read and thrown away, so that the refusal can be", () => {
    b.receive(`GET /a\r\n\r\n${"x".repeat(300_000)}`);
    b.receive("x".repeat(300_000));
    expect(b.line.did).toEqual(["shutdown"]);
  });

  test("behind a stream there is no use for much: the client is cut off", () => {
    b.receive(get("/stream"));
    b.receive("x".repeat(300_000));
    expect(b.line.did).toEqual(["terminate"]);
    expect(b.feed().closed).toBe(1);
    expect(b.inFlight).toBe(0);
  });
});

describe("a body that is malformed", () => {
  const head = "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";

  test("and came with its head: the request is refused", () => {
    b.receive(`${head}zz\r\n${get("/b")}`);
    expect(bodies(b.take())).toEqual(["bad-request"]);
    expect(b.handler.asked).toEqual([]);
    expect(b.line.did).toEqual(["shutdown"]);
  });

  test("and came after its answer: that was the last", () => {
    b.receive(head, "zz\r\n", get("/b"));
    expect(b.handler.asked).toEqual(["PUT /a"]);
    expect(bodies(b.take())).toEqual(["/a"]);
    expect(b.line.did).toEqual(["shutdown"]);
  });

  test("and came while it is answered: the answer goes to its end and is the last", async () => {
    b.receive(head.replace("/a", "/later"), "zz\r\n", get("/b"));
    b.later(0).resolve(text("made"));
    await turn();
    b.receive(get("/c"));
    expect(b.handler.asked).toEqual(["PUT /later"]);
    const came = b.take();
    expect(bodies(came)).toEqual(["made"]);
    expect(came).toContain("Connection: close\r\n");
    expect(b.line.did).toEqual(["shutdown"]);
  });
});

describe("a request that comes again word for word", () => {
  test("is the same request to whoever answers", () => {
    b.receive(get("/a"), get("/a"), get("/a"));
    expect(bodies(b.take())).toEqual(["/a", "/a", "/a"]);
  });

  test("is not found in the middle of another, in a body, or behind one that is answered", async () => {
    b.receive(get("/a"));
    b.receive("GET /b HTTP/1.1\r\nHost: x\r\nX-", get("/a"));
    expect(b.handler.asked).toEqual(["GET /a"]);
    expect(bodies(b.take())).toEqual(["/a", "bad-request"]);

    b = new Bench();
    b.receive(
      get("/a"),
      `PUT /b HTTP/1.1\r\nHost: x\r\nContent-Length: ${get("/a").length}\r\n\r\n`,
      get("/a"),
    );
    expect(b.handler.asked).toEqual(["GET /a", "PUT /b"]);
    b.receive(get("/a"));
    expect(b.handler.asked).toEqual(["GET /a", "PUT /b", "GET /a"]);

    b = new Bench();
    b.receive(get("/later"), get("/later"));
    expect(b.handler.later).toHaveLength(1);
    b.later(0).resolve(text("one"));
    await turn();
    b.later(1).resolve(text("two"));
    await turn();
    expect(bodies(b.take())).toEqual(["one", "two"]);
  });

  test("split over two packets, and cut short", () => {
    b.receive(get("/a"), get("/a").slice(0, 8), get("/a").slice(8), get("/a"), get("/a").slice(0, -1));
    expect(b.handler.asked).toHaveLength(3);
    b.receive("\n");
    expect(b.handler.asked).toHaveLength(4);
  });
});

describe("a client that sends nothing more", () => {
  test("with nothing under way is let go", () => {
    b.receive(get("/a"));
    b.connection.ended();
    expect(b.line.did).toEqual(["end"]);
  });

  test("in the middle of a head is let go without a word", () => {
    b.receive("GET /a HT");
    b.connection.ended();
    expect(b.line.did).toEqual(["end"]);
    expect(b.take()).toBe("");
  });

  test("gets everything it has asked for", async () => {
    b.receive(get("/later") + get("/feed") + get("/a"));
    b.connection.ended();
    b.later(0).resolve(text("made"));
    await turn();
    b.line.room = 10;
    b.feed().say("x".repeat(100), "end");
    expect(b.line.did).toEqual([]);
    b.drain();
    expect(bodies(b.take())).toEqual(["made", `64\r\n${"x".repeat(100)}\r\n0\r\n\r\n`, "/a"]);
    expect(b.line.did).toEqual(["end"]);
    expect(b.inFlight).toBe(0);
  });

  test("also when it is so much that others get their turn", async () => {
    b.receive(get("/a").repeat(500));
    b.connection.ended();
    while (b.line.did.length === 0) await turn();
    expect(statuses(b.take())).toHaveLength(500);
    expect(b.line.did).toEqual(["end"]);
  });

  test("but not a stream, which would never end", async () => {
    b.receive(get("/stream"));
    b.connection.ended();
    expect(b.line.did).toEqual(["terminate"]);
    expect(b.feed().closed).toBe(1);

    b = new Bench();
    b.receive(get("/later"));
    b.connection.ended();
    const feed = b.handler.feed(true);
    b.later(0).resolve({ status: 200, headers: {}, body: feed });
    await turn();
    expect(b.line.did).toEqual(["terminate"]);
    expect(feed.closed).toBe(1);
    expect(b.inFlight).toBe(0);
  });
});
