/** The watch against everything that can go wrong between it and a service, on real sockets. */
import { describe, expect, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { until } from "../support/until.ts";
import { refusal, said, startFake, streams } from "./fake-service.ts";
import { START, short, sinces, take, watching } from "./watch-harness.ts";

describe("a stream that goes well", () => {
  test("snapshot, synced, changes; credentials and query sent", async () => {
    const fake = await startFake(
      streams("hold", ...START, said.change("updated", "a", 6), said.change("removed", "b", 9)),
    );
    const client = createClient({ url: fake.url, credentials: { user: "reader", password: "päss:wörd" } });
    const events = client.watch("devices", { type: ["SWITCH", "ROUTER"], available: true });
    expect(await take(events, "-b@9.")).toBe("=a@1 =b@4 synced@5 ~a@6. -b@9.");
    const [asked] = fake.asked;
    expect(asked?.path).toBe("/controller/v1/devices");
    expect(asked?.query).toEqual({ type: "SWITCH,ROUTER", available: "true" });
    expect(asked?.headers.accept).toBe("text/event-stream");
    const sent = Buffer.from(asked?.headers.authorization?.slice("Basic ".length) ?? "", "base64");
    expect(sent.toString("utf8")).toBe("reader:päss:wörd");
  });

  test("a change says when and what", async () => {
    const fake = await startFake(streams("hold", said.synced(5), said.change("updated", "a", 6)));
    const { events } = watching(fake);
    await events.next();
    expect((await events.next()).value).toEqual({
      type: "updated",
      resource: "devices",
      revision: 6,
      time: 1006,
      changed: ["available"],
      value: expect.objectContaining({ id: "a" }),
      last: true,
    });
    await events.return();
  });

  test("from a given revision on, without a snapshot", async () => {
    const fake = await startFake(streams("hold", said.change("added", "c", 6)));
    expect(await take(watching(fake, { since: 5 }).events, "+c@6.")).toBe("+c@6.");
    expect(sinces(fake)).toEqual(["5"]);
  });

  test("however slowly it comes", async () => {
    const letters = [...`${START.join("")}: heartbeat\n\n${said.change("added", "c", 6)}`];
    const fake = await startFake(streams("hold", ...letters));
    expect(await take(watching(fake).events, "+c@6.")).toBe("=a@1 =b@4 synced@5 +c@6.");
  });

  test("event names and resources of a later version are passed over", async () => {
    const later =
      'id: 6\nevent: added\ndata: {"resource":"tunnels","revision":6}\n\nevent: moved\ndata: x\n\n';
    const fake = await startFake(
      streams("end", ...START, later),
      streams("hold", said.change("added", "c", 7)),
    );
    expect(await take(watching(fake).events, "+c@7.")).toBe("=a@1 =b@4 synced@5 +c@7.");
    expect(sinces(fake)).toEqual([undefined, "6"]);
  });
});

describe("a connection that is lost", () => {
  test("between two revisions: resumes after the last", async () => {
    const fake = await startFake(
      streams("hold", ...START, said.change("added", "c", 6)),
      streams("hold", said.change("added", "d", 7)),
    );
    const { events, states } = watching(fake);
    expect(await take(events, "+c@6.")).toBe("=a@1 =b@4 synced@5 +c@6.");
    fake.cut();
    expect(await take(events, "+d@7.")).toBe("+d@7.");
    expect(sinces(fake)).toEqual([undefined, "6"]);
    await events.return();
    const names = states.map(({ state }) => state);
    expect(names.join(" ")).toBe("connecting connected reconnecting connecting connected closed");
  });

  const half = [said.change("added", "c", 6, false), said.change("added", "d", 6)] as const;

  test("in the middle of a revision: none of it is told, then all", async () => {
    const fake = await startFake(streams("hold", ...START, half[0]), streams("hold", ...half));
    const { events } = watching(fake);
    await take(events, "synced@5");
    const rest = take(events, "+d@6.");
    fake.cut();
    expect(await rest).toBe("+c@6 +d@6.");
    expect(sinces(fake)).toEqual([undefined, "5"]);
  });

  test("also when it ends there in good order", async () => {
    const fake = await startFake(streams("end", ...START, half[0]), streams("hold", ...half));
    expect(await take(watching(fake).events, "+d@6.")).toBe("=a@1 =b@4 synced@5 +c@6 +d@6.");
    expect(sinces(fake)).toEqual([undefined, "5"]);
  });

  test("in the middle of a record, wherever that is", async () => {
    const record = new TextEncoder().encode(said.change("added", "\u{1f5fa}", 6));
    for (let cut = 1; cut < record.length; cut++) {
      const first = streams("end", said.synced(5), record.subarray(0, cut));
      const fake = await startFake(first, streams("hold", record));
      expect(await take(watching(fake).events, "+\u{1f5fa}@6.")).toBe("synced@5 +\u{1f5fa}@6.");
      expect(sinces(fake)).toEqual([undefined, "5"]);
    }
  });

  test("in the middle of the snapshot: a new one, and says so", async () => {
    const fake = await startFake(streams("hold", said.snapshot("a", 1)), streams("hold", ...START));
    const { events } = watching(fake);
    expect(await take(events, "=a@1")).toBe("=a@1");
    fake.cut();
    expect(await take(events, "synced@5")).toBe("reset =a@1 =b@4 synced@5");
    expect(sinces(fake)).toEqual([undefined, undefined]);
  });

  test("without a word: given up when three heartbeats are missing", async () => {
    const fake = await startFake(streams("hold", ...START), streams("hold", said.change("added", "c", 6)));
    const { events, clock, states } = watching(fake);
    expect(await take(events, "synced@5")).toBe("=a@1 =b@4 synced@5");
    const next = events.next();
    await until(() => fake.asked.length === 2 || void clock.silence(), { what: "another connection" });
    expect(short((await next).value ?? { type: "reset" })).toBe("+c@6.");
    expect(states.find(({ state }) => state === "reconnecting")).toMatchObject({
      reason: "no word for 45 s",
    });
    await events.return();
  });

  test("pauses grow while nothing comes of it, and begin anew when something does", async () => {
    const fake = await startFake(
      refusal(502, "bad-gateway"),
      streams("end", ": hello\n\n"),
      streams("end", ...START),
      streams("end"),
      streams("hold", said.change("added", "c", 6)),
    );
    const { events, clock } = watching(fake);
    await take(events, "+c@6.");
    expect(clock.pauses).toEqual([500, 1000, 500, 1000]);
  });
});

describe("an abort ends it quietly", () => {
  test("while waiting for a change", async () => {
    const abort = new AbortController();
    const { events, states } = watching(await startFake(streams("hold", ...START)), { signal: abort.signal });
    await take(events, "synced@5");
    const next = events.next();
    abort.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(states.at(-1)).toEqual({ state: "closed" });
  });

  test("while the consumer has work to do, and with a reason of its own", async () => {
    const abort = new AbortController();
    const { events } = watching(await startFake(streams("hold", ...START)), { signal: abort.signal });
    await events.next();
    abort.abort(new Error("enough"));
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test("before it began: nothing is asked", async () => {
    const fake = await startFake();
    expect(await watching(fake, { signal: AbortSignal.abort() }).events.next()).toEqual({
      done: true,
      value: undefined,
    });
    expect(fake.asked).toEqual([]);
  });

  test("while nobody answers", async () => {
    const abort = new AbortController();
    const client = createClient({
      url: "http://127.0.0.1:9",
      fetch: (_, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    const next = client.watch("hosts", {}, { signal: abort.signal }).next();
    abort.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

test("nothing is read ahead of the consumer", async () => {
  let pulled = 0;
  let cancelled = false;
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled++;
        controller.enqueue(
          encoder.encode(pulled === 1 ? said.synced(0) : said.change("added", `d${pulled}`, pulled)),
        );
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  const client = createClient({
    url: "http://127.0.0.1:9",
    fetch: async () => new Response(body, { headers: { "content-type": "text/event-stream" } }),
  });
  const events = client.watch("devices");
  for (let i = 0; i < 10; i++) await events.next();
  expect(pulled).toBe(10);
  await events.return();
  expect(cancelled).toBe(true);
});
