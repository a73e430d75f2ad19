/** One connection without a network: a line that takes as much as the test says, and answers of every kind. */
import { beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Answer } from "../answer.ts";
import { Connection, type Handler, type House, type Line } from "./connection.ts";
import type { Feed } from "./feed.ts";
import type { Fault, Incoming } from "./incoming.ts";
import { Message } from "./outgoing.ts";

const LIMITS = { urlBytes: 300, headBytes: 1000, idleMs: 60_000, headMs: 10_000, lingerMs: 2_000 };
const turn = () => new Promise((resolve) => setImmediate(resolve));
const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

/** Behaves as the runtime's sockets do: closing is told at once, and to write to what is closed gives -1. */
class FakeLine implements Line {
  readonly remoteAddress = "192.0.2.1";
  readonly did: string[] = [];
  text = "";
  room = Number.POSITIVE_INFINITY;
  onClose = () => {};
  #open = true;

  write(bytes: Uint8Array): number {
    if (!this.#open) return -1;
    const taken = Math.min(this.room, bytes.length);
    this.room -= taken;
    this.text += Buffer.from(bytes.subarray(0, taken)).toString("latin1");
    return taken;
  }
  end = () => this.#close("end");
  terminate = () => this.#close("terminate");
  shutdown(): void {
    this.did.push("shutdown");
  }
  pause(): void {
    this.did.push("pause");
  }
  resume(): void {
    this.did.push("resume");
  }
  #close(how: string): void {
    if (!this.#open) return;
    this.#open = false;
    this.did.push(how);
    this.onClose();
  }
}

class FakeFeed implements Feed {
  readonly patient: boolean;
  says: (Uint8Array | "wait" | "end")[] = [];
  closed = 0;
  more = () => {};

  constructor(patient: boolean) {
    this.patient = patient;
  }
  open(more: () => void): void {
    this.more = more;
  }
  next(): Uint8Array | "wait" | "end" {
    if (this.closed > 0) throw new Error("asked after it was closed");
    return this.says.shift() ?? "wait";
  }
  close(): void {
    this.closed++;
  }
  say(...texts: string[]): void {
    this.says.push(...texts.map((text) => (text === "end" ? text : Buffer.from(text))));
    this.more();
  }
}

const text = (body: string, headers: Record<string, string> = {}): Answer => ({ status: 200, headers, body });

class FakeHandler implements Handler {
  readonly asked: string[] = [];
  readonly faults: string[] = [];
  readonly feeds: FakeFeed[] = [];
  readonly later: PromiseWithResolvers<Answer>[] = [];

  respond({ method, target }: Incoming): Message | Answer | Promise<Answer> {
    this.asked.push(`${method} ${target}`);
    switch (target.split("?")[0]) {
      case "/message":
        return new Message(200, {}, Buffer.from("message"));
      case "/unchanged":
        return { status: 304, headers: { ETag: '"x"' }, body: null };
      case "/nothing":
        return { status: 204, headers: {}, body: null };
      case "/feed":
        return { status: 200, headers: {}, body: this.feed(false) };
      case "/counted":
        return { status: 200, headers: { "Content-Length": "5" }, body: this.feed(false) };
      case "/stream":
        return { status: 200, headers: {}, body: this.feed(true) };
      case "/later": {
        const made = Promise.withResolvers<Answer>();
        this.later.push(made);
        return made.promise;
      }
      case "/throws":
        throw new Error("thrown");
      case "/unsafe":
        return { status: 200, headers: { X: "a\r\nSet-Cookie: b" }, body: this.feed(false) };
      case "/relayed":
        return { status: 200, headers: {}, body: null };
      default:
        return text(target);
    }
  }

  feed(patient: boolean): FakeFeed {
    const feed = new FakeFeed(patient);
    this.feeds.push(feed);
    return feed;
  }

  refuse({ code }: Fault): Answer {
    return { status: 400, headers: {}, body: code };
  }

  failed(error: unknown): Answer {
    this.faults.push(error instanceof Error ? error.message : String(error));
    return { status: 500, headers: {}, body: "failed" };
  }
}

class Bench implements House {
  readonly handler = new FakeHandler();
  readonly limits = LIMITS;
  readonly line = new FakeLine();
  readonly connection: Connection;
  stopping = false;
  underWay = 0;
  time = 1_000_000_000_000;

  constructor() {
    this.connection = new Connection(this.line, this);
    this.line.onClose = () => this.connection.closed();
  }

  now(): number {
    return this.time;
  }

  receive(...texts: string[]): void {
    for (const one of texts) this.connection.received(Buffer.from(one, "latin1"));
  }

  /** What came since last asked. */
  take(): string {
    const { text: came } = this.line;
    this.line.text = "";
    return came;
  }

  drain(room = Number.POSITIVE_INFINITY): void {
    this.line.room = room;
    this.connection.drained();
  }

  later(n: number): PromiseWithResolvers<Answer> {
    const made = this.handler.later[n];
    if (!made) throw new Error(`answer ${n} was not asked for`);
    return made;
  }

  feed(n = 0): FakeFeed {
    const feed = this.handler.feeds[n];
    if (!feed) throw new Error(`feed ${n} was not asked for`);
    return feed;
  }

  pass(ms: number): void {
    this.time += ms;
    this.connection.check(this.time);
  }
}

let b: Bench;
beforeEach(() => {
  b = new Bench();
});

const statuses = (came: string) => [...came.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]));
const bodies = (came: string) => came.split(/HTTP\/1\.1 .*?\r\n\r\n/s).slice(1);

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
        return { came: fresh.take(), closed, underWay: fresh.underWay };
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
    expect(b.underWay).toBe(1);
    b.receive(get("/c"));
    b.later(0).resolve(text("made"));
    await turn();
    expect(b.handler.asked).toEqual(["GET /a", "GET /later", "GET /feed"]);
    b.feed().say("x");
    expect(b.handler.asked).toHaveLength(3);
    b.feed().say("end");
    expect(b.handler.asked.slice(3)).toEqual(["GET /b", "GET /c"]);
    expect(bodies(b.take())).toEqual(["/a", "made", "1\r\nx\r\n0\r\n\r\n", "/b", "/c"]);
    expect(b.underWay).toBe(0);
  });

  test("the socket's pace is kept: nothing is asked while an answer is not taken", () => {
    b.line.room = 30;
    b.receive(get("/a") + get("/b") + get("/c"));
    expect(b.handler.asked).toEqual(["GET /a"]);
    b.drain(200);
    expect(b.handler.asked).toEqual(["GET /a", "GET /b", "GET /c"]);
    b.drain();
    expect(bodies(b.take())).toEqual(["/a", "/b", "/c"]);
    expect(b.underWay).toBe(0);
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
    expect(b.underWay).toBe(0);
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
    expect(b.underWay).toBe(0);
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
    expect(b.underWay).toBe(0);
  });
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
    expect(b.underWay).toBe(0);
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
    b.connection.retire();
    expect(b.line.did).toEqual(["shutdown"]);

    b = new Bench();
    b.receive(get("/later") + get("/a"));
    b.connection.retire();
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
    b.connection.cut();
    expect(b.line.did).toEqual(["terminate"]);

    b = new Bench();
    b.receive(get("/a", "Connection: close\r\n"));
    b.connection.cut();
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
    expect(b.underWay).toBe(0);
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
    expect(b.underWay).toBe(0);
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
    expect(b.underWay).toBe(0);
    const feed = b.handler.feed(false);
    b.later(0).resolve({ status: 200, headers: {}, body: feed });
    await turn();
    expect(feed.closed).toBe(1);
    expect(b.take()).toBe("");
    expect(b.underWay).toBe(0);
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
      const settle = (made: PromiseWithResolvers<Answer> | undefined, answer: () => Answer | Error) => {
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
        if (event.what === "retire") connection.retire();
        if (event.what === "cut") connection.cut();
        if (event.what === "gone") line.terminate();
        if (event.what === "stop") bench.stopping = true;
        if (event.what === "turn" || event.what === "resolve" || event.what === "reject") await turn();
        expect(bench.underWay === 0 || bench.underWay === 1).toBe(true);
        expect(failing).toBeLessThan(2);
      }
      for (const made of handler.later)
        settle(made, () => ({ status: 200, headers: {}, body: handler.feed(false) }));
      await turn();
      line.terminate();
      await turn();
      await turn();
      expect(bench.underWay).toBe(0);
      expect(handler.feeds.filter(({ closed }) => closed !== 1)).toEqual([]);
      expect(line.did.filter((did) => did === "terminate" || did === "end")).toHaveLength(1);
      expect(handler.faults.filter((fault) => !/thrown|rejected|gone|header/.test(fault))).toEqual([]);
    }),
    { numRuns: 400 },
  );
});
