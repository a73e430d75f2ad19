/** Pipelined, split and repeated requests: each gets its own, current response, in order. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { API, AUTHORIZATION, type Harness, openHarness, PROPERTY_TIMEOUT_MS } from "../api/harness.ts";
import { deviceId, SAMPLE, setDevice } from "../api/network.ts";
import { withUsersFile } from "../api/users-file.ts";
import { runs } from "../support/property.ts";
import { until } from "../support/until.ts";
import {
  COMMON_HEADERS,
  openStreams,
  type ReceivedResponse,
  requestText,
  StrictClient,
} from "./strict-client.ts";

let h: Harness;
beforeAll(async () => {
  h = await openHarness();
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

describe("pipelined requests", () => {
  const withBody = (path: string, body: string) =>
    `${requestText(path, `Content-Length: ${body.length}\r\n`)}${body}`;
  const chunked = (path: string, chunks: readonly string[]) =>
    [
      requestText(path, "Transfer-Encoding: chunked\r\n", "POST"),
      ...chunks.map((chunk) => `${chunk.length.toString(16)};x="y"\r\n${chunk}\r\n`),
      "0\r\nX-Sum: 1\r\n\r\n",
    ].join("");
  /** Without headers that differ from run to run. */
  const plain = ({ status, headers, body }: ReceivedResponse) => ({
    status,
    headers: [...headers].filter(([name]) => name !== "date"),
    body: body.replace(/urn:uuid:[\w-]+/g, "urn:uuid"),
  });

  const request = fc.oneof(
    fc
      .constantFrom("topology", "devices", "hosts?limit=1", "nothing", "devices?typ=x", "/healthz")
      .map((path) => requestText(path)),
    fc.constantFrom("topology", "devices?format=csv").map((path) => requestText(path, "", "HEAD")),
    fc.constantFrom('"x"', "*").map((tag) => requestText("topology", `If-None-Match: ${tag}\r\n`)),
    fc.constant(requestText("devices", "Accept-Encoding: gzip\r\n")),
    fc.constant(requestText("topology", "", "OPTIONS")),
    fc.constant(`\r\n${requestText("topology")}`),
    fc.string({ unit: "binary-ascii" }).map((body) => withBody("links", body)),
    fc.array(fc.string({ unit: "binary-ascii", minLength: 1 })).map((chunks) => chunked("links", chunks)),
    fc.constant(withBody("topology", requestText("/metrics"))),
    fc.constant(`GET ${API}/topology HTTP/1.1\r\nHost: x\r\n\r\n`),
    fc.constant(`GET ${API}/topology HTTP/1.0\r\nConnection: keep-alive\r\n${COMMON_HEADERS}\r\n`),
    fc.constant(`${requestText("topology", "Content-Length: 5\r\nExpect: 100-continue\r\n")}hello`),
  );

  test(
    "any requests, cut anywhere, get the responses that they get one by one",
    async () => {
      const methodOf = (text: string) => text.trimStart().split(" ")[0] ?? "";
      await fc.assert(
        fc.asyncProperty(
          fc.array(request, { minLength: 1, maxLength: 12 }),
          fc.array(fc.nat(), { maxLength: 20 }),
          async (requests, at) => {
            const methods = requests.map(methodOf);
            await using apart = new StrictClient(h.port, methods);
            const expected: ReceivedResponse[] = [];
            for (const one of requests) expected.push(await apart.request(one));
            const text = requests.join("");
            const cuts = [0, ...at.map((n) => n % text.length).sort((a, b) => a - b), text.length];
            await using together = new StrictClient(h.port, methods);
            await together.sendSeparately(cuts.slice(1).map((end, i) => text.slice(cuts[i], end)));
            const received = await together.responses(requests.length);
            expect(received.map(plain)).toEqual(expected.map(plain));
            expect(together.unread).toBe("");
          },
        ),
        { numRuns: runs(60) },
      );
    },
    PROPERTY_TIMEOUT_MS,
  );

  test("byte by byte", async () => {
    await using client = new StrictClient(h.port);
    const texts = [
      requestText("topology"),
      withBody("topology", "{}"),
      chunked("topology", ["abc"]),
      requestText("topology"),
    ];
    await client.sendSeparately([...texts.join("")]);
    expect((await client.responses(4)).map(({ status }) => status)).toEqual([200, 200, 405, 200]);
  });

  test("behind one whose password is being checked: in order, also when the client half-closes", async () => {
    await withUsersFile(async (users) => {
      await using fresh = await openHarness({ users });
      await fresh.replace(SAMPLE);
      await using client = new StrictClient(fresh.port);
      const as = (user: string, path: string) =>
        requestText(path).replace(AUTHORIZATION, `Basic ${btoa(user)}`);
      client.send(
        as("ann:one", "topology") +
          as("ann:wrong", "topology") +
          as("bob:two", "devices") +
          as("ann:one", "/healthz"),
      );
      client.socket.end();
      const responses = await client.remainingResponses();
      expect(responses.map(({ status }) => status)).toEqual([200, 401, 200, 200]);
      expect(responses[2]?.body).toStartWith('{"devices":');
    });
  });

  test("ten thousand at once, most of them before the client reads", async () => {
    await using client = new StrictClient(h.port);
    client.socket.pause();
    client.send(requestText("devices").repeat(10_000), requestText("topology", "Connection: close\r\n"));
    await h.fetch("topology"); // other clients are served meanwhile
    client.socket.resume();
    const responses = await client.remainingResponses();
    expect(responses).toHaveLength(10_001);
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    expect(new Set(responses.slice(0, -1).map(({ body }) => body)).size).toBe(1);
  });

  test("nothing behind Connection: close is handled", async () => {
    await using client = new StrictClient(h.port);
    const responses = await client
      .send(
        requestText("topology") + requestText("devices", "Connection: close\r\n") + requestText("/metrics"),
      )
      .remainingResponses();
    expect(responses.map(({ headers }) => headers.get("connection"))).toEqual([undefined, "close"]);
  });

  test("a client that pipelines too much behind an event stream is disconnected", async () => {
    await using client = new StrictClient(h.port);
    const open = await openStreams(h);
    client.send(requestText("devices?format=events"));
    await until(() => client.unread.includes("event: synced"), { what: "the stream" });
    expect(await openStreams(h)).toBe(open + 1);
    client.send(requestText("topology"));
    client.send("x".repeat(600_000));
    await until(() => client.closedByServer, { what: "the end of the stream" });
    await until(async () => (await openStreams(h)) === open, { what: "one stream fewer" });
  });
});

describe("a repeated request", () => {
  test("gets a current response: other data, another revision, a condition that holds or not", async () => {
    await using fresh = await openHarness();
    await fresh.replace(SAMPLE);
    await using client = new StrictClient(fresh.port);
    const text = requestText("devices");
    const revisions: (string | undefined)[] = [];
    for (let n = 0; n < 5; n++) {
      for (let times = 0; times < 4; times++) {
        const { headers, body } = await client.request(text);
        revisions.push(headers.get("gazetteer-revision"));
        expect(body.includes(deviceId(70 + n))).toBe(false);
        expect(n === 0 || body.includes(deviceId(69 + n))).toBe(true);
      }
      await fresh.apply([setDevice(70 + n)]);
    }
    expect([...new Set(revisions)]).toEqual(["1", "2", "3", "4", "5"]);

    const tag = (await client.request(text)).headers.get("etag");
    const conditional = requestText("devices", `If-None-Match: ${tag}\r\n`);
    const statuses = async () => [
      (await client.request(conditional)).status,
      (await client.request(conditional)).status,
      (await client.request(conditional)).status,
    ];
    expect(await statuses()).toEqual([304, 304, 304]);
    await fresh.apply([setDevice(80)]);
    expect(await statuses()).toEqual([200, 200, 200]);
    await fresh.replace({ devices: [] }, "second");
    expect(await statuses()).toEqual([200, 200, 200]);
  });

  test("gets 401 as soon as its password has changed", async () => {
    await withUsersFile(async (users, write) => {
      await using fresh = await openHarness({ users });
      await fresh.replace(SAMPLE);
      await using ann = new StrictClient(fresh.port);
      await using bob = new StrictClient(fresh.port);
      const as = (user: string) => requestText("devices").replace(AUTHORIZATION, `Basic ${btoa(user)}`);
      const times = async (client: StrictClient, text: string) =>
        [await client.request(text), await client.request(text), await client.request(text)].map(
          ({ status }) => status,
        );
      expect(await times(ann, as("ann:one"))).toEqual([200, 200, 200]);
      expect(await times(bob, as("bob:two"))).toEqual([200, 200, 200]);
      await write("ann:TWO\nbob:TWO\n");
      expect(await times(ann, as("ann:one"))).toEqual([401, 401, 401]);
      expect(await times(bob, as("bob:two"))).toEqual([200, 200, 200]);
      expect(await times(ann, as("ann:two"))).toEqual([200, 200, 200]);
      // Also other paths with the same header lines.
      await write("ann:ONE\nbob:TWO\n");
      expect(await times(ann, as("ann:two").replace("devices", "hosts"))).toEqual([401, 401, 401]);
    });
  });

  test("is not recognised inside another request", async () => {
    await using client = new StrictClient(h.port);
    await client.request(requestText("topology"));
    await client.sendSeparately([`GET ${API}/devices HTTP/1.1\r\nX-`, requestText("topology")]);
    expect((await client.remainingResponses()).map(({ status }) => status)).toEqual([200, 400]);
  });
});
