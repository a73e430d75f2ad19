/** HTTP/1.1 as the service speaks it, on real sockets: what is refused, what is kept apart, and what it costs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, createServer } from "node:net";
import fc from "fast-check";
import { until } from "../support/until.ts";
import { API, AUTHORIZATION, type Harness, openHarness, PROPERTY_MS } from "./harness.ts";
import { deviceId, SAMPLE } from "./network.ts";
import { ask, type Heard, Talk } from "./talk.ts";
import { withUsersFile } from "./users-file.ts";

let h: Harness;
beforeAll(async () => {
  h = await openHarness();
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

const LINES = `Host: x\r\nAuthorization: ${AUTHORIZATION}\r\n`;
const device = (n: number, more: object = {}) =>
  ({ op: "set", kind: "devices", claim: { id: deviceId(n), ...more } }) as const;
/** A body that no socket's buffers hold: it is fed while it is taken. */
const MUCH = Array.from({ length: 1_800 }, (_, n) => device(n, { mfr: "x".repeat(15_000) }));
const codeOf = ({ body }: Heard): string => /#([a-z-]+)"/.exec(body)?.[1] ?? body;
/** Whether no more answers may be under way; asked each time in other words, for an answer that is not at hand. */
let asked = 0;
const isFull = async (of: Harness, init: RequestInit = {}): Promise<boolean> =>
  (await of.fetch(`hosts?q=${asked++}`, init)).status === 503;
const streamsOpen = async (of: Harness): Promise<number> =>
  Number(/^gazetteer_streams_open (\d+)$/m.exec(await (await of.fetch("/metrics")).text())?.[1]);

describe("refused", () => {
  const first = (line: string) => `${line}\r\n${LINES}\r\n`;
  const lines = (more: string) => `GET ${API}/topology HTTP/1.1\r\n${LINES}${more}\r\n`;
  const TABLE: [name: string, text: string, status: number, code: string][] = [
    ["HTTP/0.9", `GET ${API}/topology\r\n\r\n`, 400, "bad-request"],
    ["a version of its own", first(`GET ${API}/topology HTTP/1.1.1`), 400, "bad-request"],
    ["lower case", first(`GET ${API}/topology http/1.1`), 400, "bad-request"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "http-version"],
    ["HTTP/3", first(`GET ${API}/topology HTTP/3.0`), 505, "http-version"],
    ["TLS", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n", 400, "bad-request"],
    ["CONNECT", first("CONNECT elsewhere:443 HTTP/1.1"), 400, "bad-request"],
    ["an asterisk", first("GET * HTTP/1.1"), 400, "bad-request"],
    ["two spaces", first(`GET  ${API}/topology HTTP/1.1`), 400, "bad-request"],
    ["bare line feeds", lines("").replaceAll("\r\n", "\n"), 400, "bad-request"],
    ["a bare line feed", lines("X: y\n"), 400, "bad-request"],
    ["a bare carriage return", lines("X: y\rZ: z\r\n"), 400, "bad-request"],
    ["NUL", lines("X: \0\r\n"), 400, "bad-request"],
    ["a folded line", lines("X: y\r\n z\r\n"), 400, "bad-request"],
    ["a folded first line", `GET ${API}/topology HTTP/1.1\r\n X: y\r\n${LINES}\r\n`, 400, "bad-request"],
    ["space before a colon", lines("X : y\r\n"), 400, "bad-request"],
    ["no name", lines(": y\r\n"), 400, "bad-request"],
    ["no colon", lines("X\r\n"), 400, "bad-request"],
    [
      "no host",
      `GET ${API}/topology HTTP/1.1\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`,
      400,
      "bad-request",
    ],
    ["two hosts", lines("Host: y\r\n"), 400, "bad-request"],
    ["a host with a path", lines("").replace("Host: x", "Host: x/healthz"), 400, "bad-request"],
    ["a length and chunks", lines("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400, "bad-request"],
    ["chunks and a length", lines("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), 400, "bad-request"],
    ["two lengths", lines("Content-Length: 0\r\nContent-Length: 9\r\n"), 400, "bad-request"],
    ["the same length twice", lines("Content-Length: 0\r\nContent-Length: 0\r\n"), 400, "bad-request"],
    ["a list of lengths", lines("Content-Length: 0, 0\r\n"), 400, "bad-request"],
    ["a length with a sign", lines("Content-Length: +0\r\n"), 400, "bad-request"],
    ["a length too large", lines("Content-Length: 99999999999999999999\r\n"), 400, "bad-request"],
    ["another coding", lines("Transfer-Encoding: gzip, chunked\r\n"), 400, "bad-request"],
    [
      "chunked twice",
      lines("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
      400,
      "bad-request",
    ],
    ["a hidden coding", lines("Transfer-Encoding: \x0bchunked\r\n"), 400, "bad-request"],
    ["chunks in HTTP/1.0", lines("Transfer-Encoding: chunked\r\n").replace("1.1", "1.0"), 400, "bad-request"],
    ["a size that is none", `${lines("Transfer-Encoding: chunked\r\n")}0x0\r\n\r\n`, 400, "bad-request"],
    [
      "a size too large",
      `${lines("Transfer-Encoding: chunked\r\n")}ffffffffffffffff0\r\n`,
      400,
      "bad-request",
    ],
    [
      "a chunk without its end",
      `${lines("Transfer-Encoding: chunked\r\n")}1\r\nx0\r\n\r\n`,
      400,
      "bad-request",
    ],
    [
      "a chunk with a bare line feed",
      `${lines("Transfer-Encoding: chunked\r\n")}0\n\r\n`,
      400,
      "bad-request",
    ],
    ["a long address", first(`GET ${API}/devices?q=${"x".repeat(17_000)} HTTP/1.1`), 414, "uri-too-long"],
    ["a long address that does not end", `GET /${"x".repeat(17_000)}`, 414, "uri-too-long"],
    ["a large head", lines(`X: ${"y".repeat(17_000)}\r\n`), 431, "headers-too-large"],
    ["a large head that does not end", lines(`X: ${"y".repeat(17_000)}`).trimEnd(), 431, "headers-too-large"],
    ["many lines", lines("X: y\r\n".repeat(101)), 431, "headers-too-large"],
  ];

  test.each(TABLE)(
    "%s: one problem, then the connection closes, and nothing after it is read",
    async (...row) => {
      const [, text, status, code] = row;
      // What would be the next request, if somebody looked for one, and a chunked body's end, if it were one.
      for (const after of [ask("/metrics"), `0\r\n\r\n${ask("/metrics")}`, "\r\n\r\n"]) {
        await using talk = new Talk(h.port);
        const answers = await talk.send(text + after).rest();
        expect(answers.map((answer) => [answer.status, codeOf(answer)])).toEqual([[status, code]]);
        expect(answers[0]?.headers.get("content-type")).toBe("application/problem+json");
        expect(answers[0]?.headers.get("connection")).toBe("close");
        expect(JSON.parse(answers[0]?.body ?? "")).toMatchObject({ status, code: status });
        expect(talk.error).toBeUndefined();
      }
    },
  );

  test("a request that is refused does not take the one before it with it", async () => {
    await using talk = new Talk(h.port);
    const answers = await talk.send(`${ask("topology")}GET / HTTP/1.1\r\n\r\n${ask("/metrics")}`).rest();
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  });

  test("a client that sends on after it was refused still gets to read why", async () => {
    await using talk = new Talk(h.port);
    await talk.sendApart([`POST / HTTP/1.1\r\n\r\n`, ...Array<string>(50).fill("x".repeat(60_000))]);
    expect((await talk.rest()).map(codeOf)).toEqual(["bad-request"]);
  });
});

test("limits are met to the byte: an address and a head of exactly so many are taken", async () => {
  await using talk = new Talk(h.port);
  const longest = `${API}/devices?q=`;
  const address = longest + "x".repeat(8192 - longest.length);
  expect((await talk.answerTo(ask(address))).status).toBe(200);
  expect(codeOf(await talk.answerTo(ask(`${address}x`)))).toBe("uri-too-long");
  const plain = ask("topology").length - 4;
  const filled = ask("topology", `X: ${"y".repeat(16_384 - plain - 5)}\r\n`);
  expect(filled.length - 4).toBe(16_384);
  expect((await talk.answerTo(filled)).status).toBe(200);
  expect(codeOf(await talk.answerTo(filled.replace("X: ", "X: y")))).toBe("headers-too-large");
});

describe("what is sent together", () => {
  const withBody = (path: string, body: string) =>
    `${ask(path, `Content-Length: ${body.length}\r\n`)}${body}`;
  const chunked = (path: string, chunks: readonly string[]) =>
    [
      ask(path, "Transfer-Encoding: chunked\r\n", "POST"),
      ...chunks.map((chunk) => `${chunk.length.toString(16)};x="y"\r\n${chunk}\r\n`),
      "0\r\nX-Sum: 1\r\n\r\n",
    ].join("");
  /** Without what differs from time to time. */
  const plain = ({ status, headers, body }: Heard) => ({
    status,
    headers: [...headers].filter(([name]) => name !== "date"),
    body: body.replace(/urn:uuid:[\w-]+/g, "urn:uuid"),
  });

  const request = fc.oneof(
    fc
      .constantFrom("topology", "devices", "hosts?limit=1", "nothing", "devices?typ=x", "/healthz")
      .map((path) => ask(path)),
    fc.constantFrom("topology", "devices?format=csv").map((path) => ask(path, "", "HEAD")),
    fc.constantFrom('"x"', "*").map((tag) => ask("topology", `If-None-Match: ${tag}\r\n`)),
    fc.constant(ask("devices", "Accept-Encoding: gzip\r\n")),
    fc.constant(ask("topology", "", "OPTIONS")),
    fc.constant(`\r\n${ask("topology")}`),
    fc.string({ unit: "binary-ascii" }).map((body) => withBody("links", body)),
    fc.array(fc.string({ unit: "binary-ascii", minLength: 1 })).map((chunks) => chunked("links", chunks)),
    fc.constant(withBody("topology", ask("/metrics"))),
    fc.constant(`GET ${API}/topology HTTP/1.1\r\nHost: x\r\n\r\n`),
    fc.constant(`GET ${API}/topology HTTP/1.0\r\nConnection: keep-alive\r\n${LINES}\r\n`),
    fc.constant(`${ask("topology", "Content-Length: 5\r\nExpect: 100-continue\r\n")}hello`),
  );

  test(
    "any requests, cut anywhere, have the answers that they have one by one",
    async () => {
      const methodOf = (text: string) => text.trimStart().split(" ")[0] ?? "";
      await fc.assert(
        fc.asyncProperty(
          fc.array(request, { minLength: 1, maxLength: 12 }),
          fc.array(fc.nat(), { maxLength: 20 }),
          async (requests, at) => {
            const methods = requests.map(methodOf);
            await using apart = new Talk(h.port, methods);
            const expected: Heard[] = [];
            for (const one of requests) expected.push(await apart.answerTo(one));
            const text = requests.join("");
            const cuts = [0, ...at.map((n) => n % text.length).sort((a, b) => a - b), text.length];
            await using together = new Talk(h.port, methods);
            await together.sendApart(cuts.slice(1).map((end, i) => text.slice(cuts[i], end)));
            const heard = await together.answers(requests.length);
            expect(heard.map(plain)).toEqual(expected.map(plain));
            expect(together.unread).toBe("");
          },
        ),
        { numRuns: 60 },
      );
    },
    PROPERTY_MS,
  );

  test("byte by byte", async () => {
    await using talk = new Talk(h.port);
    const texts = [
      ask("topology"),
      withBody("topology", "{}"),
      chunked("topology", ["abc"]),
      ask("topology"),
    ];
    await talk.sendApart([...texts.join("")]);
    expect((await talk.answers(4)).map(({ status }) => status)).toEqual([200, 200, 405, 200]);
  });

  test("behind one whose password is being checked: in order, also when the client says nothing more", async () => {
    await withUsersFile(async (users) => {
      await using fresh = await openHarness({ users });
      await fresh.replace(SAMPLE);
      await using talk = new Talk(fresh.port);
      const as = (user: string, path: string) => ask(path).replace(AUTHORIZATION, `Basic ${btoa(user)}`);
      talk.send(
        as("ann:one", "topology") +
          as("ann:wrong", "topology") +
          as("bob:two", "devices") +
          as("ann:one", "/healthz"),
      );
      talk.socket.end();
      const answers = await talk.rest();
      expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 200]);
      expect(answers[2]?.body).toStartWith('{"devices":');
    });
  });

  test("ten thousand in one go, most of them ahead of what the client reads", async () => {
    await using talk = new Talk(h.port);
    talk.socket.pause();
    talk.send(ask("devices").repeat(10_000), ask("topology", "Connection: close\r\n"));
    await h.fetch("topology"); // others are served meanwhile
    talk.socket.resume();
    const answers = await talk.rest();
    expect(answers).toHaveLength(10_001);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(new Set(answers.slice(0, -1).map(({ body }) => body)).size).toBe(1);
  });

  test("Connection: close in the middle is the end", async () => {
    await using talk = new Talk(h.port);
    const answers = await talk
      .send(ask("topology") + ask("devices", "Connection: close\r\n") + ask("/metrics"))
      .rest();
    expect(answers.map(({ headers }) => headers.get("connection"))).toEqual([undefined, "close"]);
  });

  test("behind a stream, much is not kept: the stream is ended", async () => {
    await using talk = new Talk(h.port);
    const open = await streamsOpen(h);
    talk.send(ask("devices?format=events"));
    await until(() => talk.unread.includes("event: synced"), { what: "the stream" });
    expect(await streamsOpen(h)).toBe(open + 1);
    talk.send(ask("topology"));
    talk.send("x".repeat(600_000));
    await until(() => talk.over, { what: "the end of the stream" });
    await until(async () => (await streamsOpen(h)) === open, { what: "one stream fewer" });
  });
});

describe("a request that comes again word for word", () => {
  test("has its answer of now: other data, another revision, a condition that holds or not", async () => {
    await using fresh = await openHarness();
    await fresh.replace(SAMPLE);
    await using talk = new Talk(fresh.port);
    const text = ask("devices");
    const revisions: (string | undefined)[] = [];
    for (let n = 0; n < 5; n++) {
      for (let times = 0; times < 4; times++) {
        const { headers, body } = await talk.answerTo(text);
        revisions.push(headers.get("gazetteer-revision"));
        expect(body.includes(deviceId(70 + n))).toBe(false);
        expect(n === 0 || body.includes(deviceId(69 + n))).toBe(true);
      }
      await fresh.apply([device(70 + n)]);
    }
    expect([...new Set(revisions)]).toEqual(["1", "2", "3", "4", "5"]);

    const tag = (await talk.answerTo(text)).headers.get("etag");
    const conditional = ask("devices", `If-None-Match: ${tag}\r\n`);
    const statuses = async () => [
      (await talk.answerTo(conditional)).status,
      (await talk.answerTo(conditional)).status,
      (await talk.answerTo(conditional)).status,
    ];
    expect(await statuses()).toEqual([304, 304, 304]);
    await fresh.apply([device(80)]);
    expect(await statuses()).toEqual([200, 200, 200]);
    await fresh.replace({ devices: [] }, "second");
    expect(await statuses()).toEqual([200, 200, 200]);
  });

  test("is refused from the moment its password is another", async () => {
    await withUsersFile(async (users, write) => {
      await using fresh = await openHarness({ users });
      await fresh.replace(SAMPLE);
      await using ann = new Talk(fresh.port);
      await using bob = new Talk(fresh.port);
      const as = (user: string) => ask("devices").replace(AUTHORIZATION, `Basic ${btoa(user)}`);
      const times = async (talk: Talk, text: string) =>
        [await talk.answerTo(text), await talk.answerTo(text), await talk.answerTo(text)].map(
          ({ status }) => status,
        );
      expect(await times(ann, as("ann:one"))).toEqual([200, 200, 200]);
      expect(await times(bob, as("bob:two"))).toEqual([200, 200, 200]);
      await write("ann:TWO\nbob:TWO\n");
      expect(await times(ann, as("ann:one"))).toEqual([401, 401, 401]);
      expect(await times(bob, as("bob:two"))).toEqual([200, 200, 200]);
      expect(await times(ann, as("ann:two"))).toEqual([200, 200, 200]);
      // Other paths with the same lines, too.
      await write("ann:ONE\nbob:TWO\n");
      expect(await times(ann, as("ann:two").replace("devices", "hosts"))).toEqual([401, 401, 401]);
    });
  });

  test("is not taken from the middle of another request", async () => {
    await using talk = new Talk(h.port);
    await talk.answerTo(ask("topology"));
    await talk.sendApart([`GET ${API}/devices HTTP/1.1\r\nX-`, ask("topology")]);
    expect((await talk.rest()).map(({ status }) => status)).toEqual([200, 400]);
  });
});

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
      await fresh.apply(MUCH.map((_, n) => device(n, { mfr: noise() })));
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
      const metric = async () => {
        const text = await (await fresh.fetch("/metrics", { headers })).text();
        return /^gazetteer_streams_open (\d+)$/m.exec(text)?.[1];
      };
      expect(await metric()).toBe("0");
      const streams = Array.from({ length: 3 }, () => new Talk(fresh.port));
      for (const talk of streams) talk.send(ask("devices?format=events").replace(AUTHORIZATION, ann));
      await until(async () => (await metric()) === "3", { what: "three streams" });
      streams[0]?.socket.resetAndDestroy();
      streams[1]?.socket.destroy();
      streams[2]?.socket.end();
      await until(async () => (await metric()) === "0", { what: "no streams" });
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

describe("anything at all", () => {
  const piece = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
    },
    {
      weight: 10,
      arbitrary: fc.constantFrom(
        "GET ",
        "HEAD ",
        "POST ",
        "/",
        `${API}/topology`,
        "*",
        " HTTP/1.1",
        " HTTP/1.0",
        " HTTP/2.0",
        "\r\n",
        "\r\n\r\n",
        "\n",
        "\r",
        "\0",
        "Host: x\r\n",
        "Host : x\r\n",
        ` x: y\r\n`,
        `Authorization: ${AUTHORIZATION}\r\n`,
        "Content-Length: 5\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 999999999\r\n",
        "Connection: close\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\n\r\n",
        "5\r\nhello\r\n",
        "0\r\n\r\n",
        "0\r\n",
        "ffffffff\r\n",
        "Expect: 100-continue\r\n",
        "?format=events",
        "?limit=1",
        "#",
        "%",
        "\x80\xff",
      ),
    },
    { weight: 3, arbitrary: fc.constantFrom(ask("topology"), ask("devices"), ask("devices", "", "HEAD")) },
    { weight: 1, arbitrary: fc.nat({ max: 20_000 }).map((n) => "x".repeat(n)) },
    { weight: 1, arbitrary: fc.nat({ max: 200 }).map((n) => "X: y\r\n".repeat(n)) },
  );
  const ending = fc.constantFrom("end", "destroy", "reset");

  test(
    "is answered in whole answers or not at all, ends, and disturbs nobody else",
    async () => {
      await using fresh = await openHarness({ limits: { connections: 3, streamsPerUser: 1000 } });
      await fresh.replace(SAMPLE);
      await using witness = new Talk(fresh.port);
      const expected = (await witness.answerTo(ask("devices"))).body;
      const one = async (pieces: string[], how: string) => {
        const socket = connect({ port: fresh.port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
        let came = "";
        let over = false;
        socket.on("data", (data) => {
          came += data.toString("latin1");
        });
        for (const event of ["end", "close", "error"])
          socket.on(event, () => {
            over = true;
          });
        for (const text of pieces) {
          socket.write(Buffer.from(text, "latin1"));
          await new Promise((resolve) => setImmediate(resolve));
        }
        if (how === "destroy") socket.destroy();
        else if (how === "reset") socket.resetAndDestroy();
        else socket.end();
        // A client that says nothing more is let go, whatever it said before.
        await until(() => over, { what: "the end", everyMs: 1 });
        socket.destroy();
        expect(came === "" || came.startsWith("HTTP/1.1 ")).toBe(true);
      };
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.array(piece, { maxLength: 12 }), ending), { minLength: 1, maxLength: 3 }),
          async (clients) => {
            await Promise.all(clients.map(([pieces, how]) => one(pieces, how)));
            expect((await witness.answerTo(ask("devices"))).body).toBe(expected);
          },
        ),
        { numRuns: 400, seed: 20261115 },
      );
      // Nothing is left of them: there are only three places, and no stream.
      await until(async () => (await streamsOpen(fresh)) === 0, { what: "no streams" });
      expect((await fresh.fetch("topology")).status).toBe(200);
    },
    PROPERTY_MS,
  );
});
