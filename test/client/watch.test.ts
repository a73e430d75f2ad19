/** The watch against everything that can go wrong between it and a service, on real sockets. */
import { describe, expect, test } from "bun:test";
import type { ConnectionState, WatchEvent } from "../../src/client/answers.ts";
import { createClient } from "../../src/client/client.ts";
import type { WatchOptions } from "../../src/client/watch.ts";
import { until } from "../support/until.ts";
import { answers, type FakeService, refusal, said, startFake, streams } from "./fake-service.ts";
import { HastyClock } from "./hasty-clock.ts";

/** With `random` at 1 the first pauses are 500, 1000, 2000 … */
function watching(fake: FakeService, options: WatchOptions = {}) {
  const clock = new HastyClock();
  const states: ConnectionState[] = [];
  const client = createClient({ url: fake.url, credentials: "reader:secret", clock, random: () => 1 });
  const onState = (state: ConnectionState) => states.push(state);
  return { clock, states, events: client.watch("devices", {}, { onState, ...options }) };
}

/** `+a@7.` is the last change of revision 7, which added a; `=` is a value of the snapshot. */
function short(event: WatchEvent<"devices">): string {
  if (event.type === "synced") return `synced@${event.revision}`;
  if (event.type === "reset") return "reset";
  const sign = { snapshot: "=", added: "+", updated: "~", removed: "-" }[event.type];
  const last = event.type !== "snapshot" && event.last ? "." : "";
  return `${sign}${event.value.id}@${event.revision}${last}`;
}

/** Takes events up to and including the one named. */
async function take(events: AsyncGenerator<WatchEvent<"devices">, void, void>, end: string): Promise<string> {
  const taken: string[] = [];
  while (taken.at(-1) !== end) {
    const { value } = await events.next();
    taken.push(value ? short(value) : "over");
    if (!value) break;
  }
  return taken.join(" ");
}

const sinces = (fake: FakeService) => fake.asked.map(({ query }) => query.since);
const START = [said.snapshot("a", 1), said.snapshot("b", 4), said.synced(5)];

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

describe("what the service says about the stream", () => {
  test("410: everything anew, at once", async () => {
    const fake = await startFake(
      streams("end", ...START),
      refusal(410, "revision-expired"),
      streams("hold", said.snapshot("z", 90), said.synced(99), said.change("added", "c", 100)),
    );
    const { events, clock } = watching(fake);
    expect(await take(events, "+c@100.")).toBe("=a@1 =b@4 synced@5 reset =z@90 synced@99 +c@100.");
    expect(sinces(fake)).toEqual([undefined, "5", undefined]);
    expect(clock.pauses).toEqual([500]);
  });

  test("410 for a revision that the caller gave: the same", async () => {
    const fake = await startFake(refusal(410, "revision-expired"), streams("hold", ...START));
    expect(await take(watching(fake, { since: 2 }).events, "synced@5")).toBe("reset =a@1 =b@4 synced@5");
  });

  test("it counts from the beginning again: everything anew", async () => {
    const fake = await startFake(
      streams("end", ...START),
      refusal(400, "revision-unknown"),
      streams("hold", said.synced(1)),
    );
    expect(await take(watching(fake).events, "synced@1")).toBe("=a@1 =b@4 synced@5 reset synced@1");
  });

  test("a snapshot unasked is a new beginning too", async () => {
    const fake = await startFake(
      streams("end", ...START),
      streams("hold", said.snapshot("z", 2), said.synced(3)),
    );
    expect(await take(watching(fake).events, "synced@3")).toBe("=a@1 =b@4 synced@5 reset =z@2 synced@3");
  });

  test("overflow: resumes at once", async () => {
    const fake = await startFake(
      streams("end", ...START, said.change("added", "c", 6), said.overflow(6)),
      streams("hold", said.change("added", "d", 7)),
    );
    const { events, clock } = watching(fake);
    expect(await take(events, "+d@7.")).toBe("=a@1 =b@4 synced@5 +c@6. +d@7.");
    expect(clock.pauses).toEqual([]);
    expect(sinces(fake)).toEqual([undefined, "6"]);
  });

  test("overflow before anything was told: everything anew, after a pause", async () => {
    const fake = await startFake(
      streams("end", ...START),
      streams("end", said.change("added", "c", 6, false), said.overflow(5)),
      streams("hold", said.synced(6)),
    );
    const { events, clock } = watching(fake);
    expect(await take(events, "synced@6")).toBe("=a@1 =b@4 synced@5 reset synced@6");
    expect(clock.pauses).toEqual([500, 1000]);
  });

  test("closing: waits as long as asked, and a little longer", async () => {
    const fake = await startFake(
      streams("hold", ...START, said.closing(7000)),
      streams("hold", said.change("added", "c", 6)),
    );
    const { events, clock, states } = watching(fake);
    expect(await take(events, "+c@6.")).toBe("=a@1 =b@4 synced@5 +c@6.");
    expect(clock.pauses).toEqual([7500]);
    expect(states[2]).toEqual({
      state: "reconnecting",
      afterMs: 7500,
      reason: "the service ends the stream (shutdown)",
    });
  });

  test("no hint keeps it away for ever", async () => {
    const fake = await startFake(
      streams("hold", said.synced(5), said.closing(1e15)),
      streams("hold", said.synced(5)),
    );
    const { events, clock } = watching(fake);
    await events.next();
    await events.next();
    expect(clock.pauses).toEqual([300_500]);
    await events.return();
  });

  test("503 and 429 with Retry-After: waits that long", async () => {
    const fake = await startFake(
      refusal(503, "overloaded", { "retry-after": "3" }),
      refusal(429, "too-many-streams", { "retry-after": "1" }),
      streams("hold", ...START),
    );
    const { events, clock } = watching(fake);
    expect(await take(events, "synced@5")).toBe("=a@1 =b@4 synced@5");
    expect(clock.pauses).toEqual([3500, 2000]);
  });

  test("a revision told twice is told once", async () => {
    const fake = await startFake(
      streams("end", ...START, said.change("added", "c", 6), said.change("added", "c", 6)),
      streams("hold", said.change("added", "c", 6), said.change("added", "d", 8)),
    );
    expect(await take(watching(fake).events, "+d@8.")).toBe("=a@1 =b@4 synced@5 +c@6. +d@8.");
  });

  test("the end of a revision lost on the way is noticed, and asked for again", async () => {
    const fake = await startFake(
      streams("hold", ...START, said.change("added", "c", 6, false), said.change("added", "e", 7)),
      streams(
        "hold",
        said.change("added", "c", 6, false),
        said.change("added", "d", 6),
        said.change("added", "e", 7),
      ),
    );
    const { events, states } = watching(fake);
    expect(await take(events, "+e@7.")).toBe("=a@1 =b@4 synced@5 +c@6 +d@6. +e@7.");
    expect(sinces(fake)).toEqual([undefined, "5"]);
    expect(states[2]).toMatchObject({ reason: "revision 6 of the stream has no end" });
  });

  test("an id without data is a place to resume at", async () => {
    const fake = await startFake(
      streams("end", ...START, "id: 40\n\n"),
      streams("hold", said.change("added", "c", 41)),
    );
    await take(watching(fake).events, "+c@41.");
    expect(sinces(fake)).toEqual([undefined, "40"]);
  });
});

describe("what no further try would mend is thrown", () => {
  const refusals: [status: number, code: string][] = [
    [400, "bad-parameter"],
    [401, "credentials-required"],
    [403, "forbidden"],
    [404, "not-found"],
    [406, "not-acceptable"],
  ];
  test.each(refusals)("%d %s", async (status, code) => {
    const { events, states } = watching(await startFake(refusal(status, code)));
    const error = await events.next().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ClientError", status, code, detail: `because of ${code}` });
    expect(states.at(-1)).toEqual({ state: "closed" });
  });

  test("also when it happens later: credentials taken away", async () => {
    const fake = await startFake(
      streams("end", ...START, said.closing(0, "credentials")),
      refusal(401, "credentials-required"),
    );
    await expect(take(watching(fake).events, "never")).rejects.toMatchObject({ status: 401 });
  });

  test("a revision that the caller made up", async () => {
    const fake = await startFake(refusal(400, "revision-unknown"));
    await expect(take(watching(fake, { since: 1_000_000 }).events, "never")).rejects.toMatchObject({
      code: "revision-unknown",
    });
  });

  const garbage: [name: string, text: string][] = [
    ["not JSON", "event: added\ndata: {\n\n"],
    ["not an object", "event: added\ndata: 7\n\n"],
    ["no value", 'event: added\ndata: {"resource":"devices","revision":6,"time":1}\n\n'],
    [
      "a revision that is none",
      'event: snapshot\ndata: {"resource":"devices","revision":"6","value":{}}\n\n',
    ],
    ["synced without one", "event: synced\ndata: {}\n\n"],
    [
      "updated without what",
      'event: updated\ndata: {"resource":"devices","revision":6,"time":1,"value":{}}\n\n',
    ],
  ];
  test.each(garbage)("a record that is %s", async (_, text) => {
    const fake = await startFake(streams("hold", said.synced(5), text));
    await expect(take(watching(fake).events, "never")).rejects.toMatchObject({ status: 0, code: "protocol" });
  });

  test("changes before anything they could change", async () => {
    const fake = await startFake(streams("hold", said.change("added", "a", 1)));
    await expect(take(watching(fake).events, "never")).rejects.toThrow("begins with a change");
  });

  test("an answer that is no stream", async () => {
    const fake = await startFake(answers("<h1>Welcome!</h1>", { "content-type": "text/html" }));
    await expect(take(watching(fake).events, "never")).rejects.toThrow("text/html and no stream of events");
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
