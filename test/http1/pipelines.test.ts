/** Requests that come together, in pieces, or again: each has its own answer, in order, and the answer of now. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { API, AUTHORIZATION, type Harness, openHarness, PROPERTY_MS } from "../api/harness.ts";
import { deviceId, SAMPLE, setDevice } from "../api/network.ts";
import { withUsersFile } from "../api/users-file.ts";
import { until } from "../support/until.ts";
import { ask, type Heard, LINES, streamsOpen, Talk } from "./strict-client.ts";

let h: Harness;
beforeAll(async () => {
  h = await openHarness();
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

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
      await fresh.apply([setDevice(70 + n)]);
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
    await fresh.apply([setDevice(80)]);
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
