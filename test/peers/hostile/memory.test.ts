/**
 * Memory that exists because of responses: it is counted, stays within the budget, and is released whatever becomes of the
 * response. What is asserted are the account's own numbers, from `/metrics`.
 */
import { describe, expect, test } from "bun:test";
import { CHUNK_BYTES } from "../../../src/api/response/body-producer.ts";
import { READ_BYTES } from "../../../src/lib/memory-budget.ts";
import { Scheduler } from "../../../src/lib/scheduler.ts";
import type { Harness } from "../../api/harness.ts";
import { API } from "../../api/harness.ts";
import { deviceId, setDevice } from "../../api/network.ts";
import { ANN, as, BOB, metric, withTwoUsers } from "../../hostile/two-users.ts";
import { type SlowRequest, slowRequest } from "../../http1/raw-request.ts";
import { until } from "../../support/until.ts";

const MB = 1_000_000;
const HELD_BY_ANN = 'gazetteer_user_bytes_held{user="ann"}';

/** 1200 devices of 15 kB: a response is larger than what the kernel buffers for a client that does not read. */
const createDevices = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: deviceId(i), mfr: String(i).padStart(15_000, "x") }));
const DEVICES = createDevices(1200);

/** Each is another query, which has a response of its own. */
const slowQuery = (n: number) => `${API}/devices?sort=-id&annotations.none${n}=`;

/** Requests of ann that nobody reads. Some are refused, and some may wait for the first. */
class SlowReaders {
  readonly #port: number;
  readonly #readers: SlowRequest[] = [];
  served = 0;
  readonly refused: { readonly head: string; readonly reader: SlowRequest }[] = [];

  constructor(h: Harness) {
    this.#port = h.port;
  }

  open(count: number): void {
    for (let n = 0; n < count; n++) {
      const reader = slowRequest(this.#port, slowQuery(this.#readers.length), ANN);
      this.#readers.push(reader);
      void reader.started.then((head) => {
        if (head.startsWith("HTTP/1.1 503 ")) this.refused.push({ head, reader });
        else this.served++;
      });
    }
  }

  abort(): void {
    for (const reader of this.#readers) reader.abort();
  }
}

describe("a user whose responses are not read", () => {
  test("gets 503 over the budget, and holds no more; others are served; when the responses are gone, so are the bytes", async () => {
    const responseBytesPerUser = MB;
    await withTwoUsers({ limits: { responseBytesPerUser } }, async (h) => {
      await h.replace({ devices: DEVICES });
      const slow = new SlowReaders(h);
      slow.open(20);
      const rounds: { readonly served: number; readonly held: number }[] = [];
      await until(
        async () => {
          // A socket may have taken more since a refusal. Then there is room for one more.
          slow.open(1);
          const { served } = slow;
          const held = await metric(h, HELD_BY_ANN);
          rounds.push({ served, held });
          const isFull = held + CHUNK_BYTES + READ_BYTES > responseBytesPerUser;
          return isFull && served > 0 && slow.refused.length > 0;
        },
        { what: "refusals at the budget", deadlineMs: 120_000 },
      );
      for (const { served, held } of rounds) {
        // A chunk is reserved for each that is served, before there is any.
        expect(held).toBeGreaterThanOrEqual(served * CHUNK_BYTES);
        // The oldest one may go over the budget, by its chunks in the socket, and its list of ids.
        expect(held).toBeLessThan(responseBytesPerUser + 2 * MB);
      }
      for (const { head, reader } of slow.refused) {
        expect(head).toMatch(/^retry-after: [1-9]\d*$/im);
        const problem = JSON.parse((await reader.finish()).toString());
        expect(problem).toMatchObject({ type: "/docs/errors#over-budget" });
      }
      expect(
        await metric(h, 'gazetteer_user_refusals_total{user="ann",reason="over-budget"}'),
      ).toBeGreaterThan(0);
      expect((await h.fetch("devices?sort=mfr", as(BOB))).status).toBe(200);
      slow.abort();
      await until(async () => (await metric(h, HELD_BY_ANN)) === 0, { what: "the bytes to be released" });
      expect((await h.fetch("devices?available=true", as(ANN))).status).toBe(200);
    });
  });

  test.each([
    ["the body that all readers of its version share", 1200],
    ["the pages, where they are too many for one body,", 1800],
  ])("holds %s once it was replaced", async (_, count) => {
    const devices = createDevices(count);
    const bytes = count * 15_000;
    await withTwoUsers({}, async (h) => {
      await h.replace({ devices });
      const slow = slowRequest(h.port, `${API}/devices`, ANN);
      await slow.started;
      // What it has of the pages, or of the body, is in memory without it.
      const before = await metric(h, HELD_BY_ANN);
      expect(before).toBeLessThan(MB);
      for (let round = 0; round < 2; round++) {
        await h.apply(devices.map(({ mfr }, n) => setDevice(n, { mfr: `${round}${mfr}` })));
        // In the same encoding: then the body of the new version takes the place of the old one.
        await (await h.fetch("devices", as(BOB, { "Accept-Encoding": "identity" }))).arrayBuffer();
      }
      const held = (await metric(h, HELD_BY_ANN)) - before;
      // At most the whole collection, however often it was replaced.
      expect(held).toBeGreaterThan(0.8 * bytes);
      expect(held).toBeLessThan(1.3 * bytes);
      slow.abort();
      await until(async () => (await metric(h, HELD_BY_ANN)) === 0, { what: "the pages to be released" });
    });
  });
});

test("a list of problems that a stream has not sent yet counts", async () => {
  await withTwoUsers({}, async (h) => {
    // The text of a problem has the name.
    const devices = DEVICES.map(({ id, mfr }) => ({ id, available: false, annotations: { name: mfr } }));
    await h.replace({ devices });
    const slow = slowRequest(h.port, `${API}/topology/problems?format=events`, ANN);
    await slow.started;
    expect(await metric(h, HELD_BY_ANN)).toBeGreaterThan(DEVICES.length * 15_000);
    slow.abort();
    await until(async () => (await metric(h, HELD_BY_ANN)) === 0, { what: "the list to be released" });
  });
});

test("a user with nothing outstanding is never refused for the size of one request", async () => {
  await withTwoUsers({ limits: { responseBytesPerUser: 100_000, responseBytes: 100_000 } }, async (h) => {
    await h.replace({ devices: DEVICES });
    for (const target of ["devices", "devices?sort=mfr", "devices?q=x", "topology?format=graphml"]) {
      const response = await h.fetch(target, as(ANN));
      expect([target, response.status]).toEqual([target, 200]);
      await response.arrayBuffer();
      await until(async () => (await metric(h, HELD_BY_ANN)) === 0, { what: "the response to be over" });
    }
  });
});

/** A scheduler that does nothing from `hold` until `goOn`, except for the first step of a computation. */
function createHeldScheduler() {
  let now = 0;
  let held: (() => void)[] | undefined;
  const scheduler = new Scheduler({
    // Each step takes longer than a turn may.
    now: () => {
      now += 100;
      return now;
    },
    nextTurn: (callback) => {
      if (held) held.push(callback);
      else setImmediate(callback);
    },
  });
  const hold = () => {
    held = [];
  };
  const goOn = () => {
    const callbacks = held ?? [];
    held = undefined;
    for (const callback of callbacks) setImmediate(callback);
  };
  return { scheduler, hold, goOn };
}

test("reads that begin together count before they hold anything: those that do not fit are refused at once", async () => {
  const { scheduler, hold, goOn } = createHeldScheduler();
  const admitted = 10;
  const limits = { responseBytesPerUser: admitted * READ_BYTES };
  await withTwoUsers({ limits, scheduler }, async (h) => {
    await h.replace({ devices: DEVICES });
    // The credential is known from then on.
    await (await h.fetch("devices?limit=1", as(ANN))).arrayBuffer();
    hold();
    const statuses: string[] = [];
    const readers = Array.from({ length: 4 * admitted }, (_, n) => slowRequest(h.port, slowQuery(n), ANN));
    const answered = readers.map(async (reader) => {
      statuses.push((await reader.started).slice(9, 12));
      return reader.finish();
    });
    await until(() => statuses.length === 3 * admitted, { what: "the refusals" });
    expect(new Set(statuses)).toEqual(new Set(["503"]));
    // Now the others are computed. For their bodies more is reserved: the oldest one is served in any case.
    goOn();
    await Promise.all(answered);
    expect(statuses).toContain("200");
    await until(async () => (await metric(h, HELD_BY_ANN)) === 0, { what: "the bytes to be released" });
  });
});

test("responses over the budget are complete once they are read: none waits for ever", async () => {
  await withTwoUsers({ limits: { responseBytesPerUser: 100_000 } }, async (h) => {
    await h.replace({ devices: DEVICES });
    // Sent at once, so that several are admitted before the first one counts.
    const targets = Array.from({ length: 8 }, (_, n) => slowQuery(n));
    const statuses = await Promise.all(
      targets.map(async (target) => {
        const response = await h.fetch(target, as(ANN));
        const body = await response.text();
        if (response.status === 200) expect(JSON.parse(body).devices).toHaveLength(DEVICES.length);
        return response.status;
      }),
    );
    expect(statuses).toContain(200);
    expect(statuses.every((status) => status === 200 || status === 503)).toBe(true);
    await until(async () => (await metric(h, HELD_BY_ANN)) === 0, { what: "all responses to be over" });
  });
});

test("the account returns to zero after clients that go away at any moment", async () => {
  await withTwoUsers({}, async (h) => {
    await h.replace({ devices: DEVICES });
    await h.apply(DEVICES.slice(0, 500).map((_, n) => setDevice(n)));
    const targets = [
      "devices",
      "devices?sort=mfr",
      "devices?q=xx",
      "devices?diff=1..2",
      "devices?since=1&fold=true",
    ];
    const more = [
      "topology?format=graphml",
      "devices?format=events",
      "devices?at=1",
      "devices?format=csv&q=x",
    ];
    const encodings = ["identity", "gzip", "br", "zstd"];
    const all = [...targets, ...more];
    for (let n = 0; n < 72; n++) {
      const abort = new AbortController();
      const target = all[n % all.length] ?? "";
      const init = as(ANN, { "accept-encoding": encodings[n % encodings.length] ?? "" });
      const response = h.fetch(target, { ...init, signal: abort.signal });
      // Aborted before the response, at its head, or within its body.
      const when = Math.floor(n / all.length) % 3;
      if (when > 0) await response;
      if (when > 1) await (await response).body?.getReader().read();
      abort.abort();
      await response.catch(() => {});
    }
    await until(async () => (await metric(h, HELD_BY_ANN)) === 0, { what: "all accounts to be released" });
  });
});
