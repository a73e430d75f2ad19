/** Whatever comes down a connection, it ends, and no other notices. Always the same cases, so that a fault stays found. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import fc from "fast-check";
import { API, AUTHORIZATION, openHarness, PROPERTY_MS } from "../api/harness.ts";
import { SAMPLE } from "../api/network.ts";
import { until } from "../support/until.ts";
import { ask, isFull, streamsOpen, Talk } from "./strict-client.ts";

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
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ask("topology"),
      ask("devices"),
      ask("devices", "", "HEAD"),
      ask("devices?format=events"),
    ),
  },
  { weight: 1, arbitrary: fc.nat({ max: 20_000 }).map((n) => "x".repeat(n)) },
  { weight: 1, arbitrary: fc.nat({ max: 200 }).map((n) => "X: y\r\n".repeat(n)) },
);
const ending = fc.constantFrom("end", "destroy", "reset");

test(
  "anything at all is answered or not, ends, and disturbs nobody else",
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
    expect(await isFull(fresh)).toBe(false);
    const figures = await (await fresh.fetch("/metrics")).text();
    expect(figures).not.toContain("gazetteer_streams_opened_total 0\n");
    // Nor did any of them meet a fault of ours: a 500, or nothing but a connection cut off.
    expect(figures).not.toContain('status="500"');
  },
  PROPERTY_MS,
);
