/** Random bytes end only their own connection. The cases are the same in every run, so that a failure can be repeated. */

import { expect, test } from "bun:test";
import { connect } from "node:net";
import fc from "fast-check";
import { API, AUTHORIZATION, openHarness, PROPERTY_TIMEOUT_MS } from "../api/harness.ts";
import { SAMPLE } from "../api/network.ts";
import { runs } from "../support/property.ts";
import { until } from "../support/until.ts";
import { isOverloaded, openStreams, requestText, StrictClient } from "./strict-client.ts";

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
      requestText("topology"),
      requestText("devices"),
      requestText("devices", "", "HEAD"),
      requestText("devices?format=events"),
    ),
  },
  { weight: 1, arbitrary: fc.nat({ max: 20_000 }).map((n) => "x".repeat(n)) },
  { weight: 1, arbitrary: fc.nat({ max: 200 }).map((n) => "X: y\r\n".repeat(n)) },
);
const ending = fc.constantFrom("end", "destroy", "reset");

test(
  "random bytes get a response or none, end their connection, and disturb no other client",
  async () => {
    await using fresh = await openHarness({ limits: { connections: 3, streamsPerUser: 1000 } });
    await fresh.replace(SAMPLE);
    await using witness = new StrictClient(fresh.port);
    const expected = (await witness.request(requestText("devices"))).body;
    const one = async (pieces: string[], how: string) => {
      const socket = connect({ port: fresh.port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
      let received = "";
      let over = false;
      socket.on("data", (data) => {
        received += data.toString("latin1");
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
      // A client that half-closes is disconnected, whatever it sent before.
      await until(() => over, { what: "the end", everyMs: 1 });
      socket.destroy();
      expect(received === "" || received.startsWith("HTTP/1.1 ")).toBe(true);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.array(piece, { maxLength: 12 }), ending), { minLength: 1, maxLength: 3 }),
        async (clients) => {
          await Promise.all(clients.map(([pieces, how]) => one(pieces, how)));
          expect((await witness.request(requestText("devices"))).body).toBe(expected);
        },
      ),
      { numRuns: runs(400), seed: 20261115 },
    );
    // Nothing leaks: the limit is three responses in flight, and no stream is open.
    await until(async () => (await openStreams(fresh)) === 0, { what: "no streams" });
    expect(await isOverloaded(fresh)).toBe(false);
    const figures = await (await fresh.fetch("/metrics")).text();
    expect(figures).not.toContain("gazetteer_streams_opened_total 0\n");
    // None of them caused an error of the service: a 500, or a connection without any response.
    expect(figures).not.toContain('status="500"');
  },
  PROPERTY_TIMEOUT_MS,
);
