/** The watch and its connections, on real sockets: streams, lost connections, aborts. */
import { describe, expect, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { until } from "../support/until.ts";
import { problemResponse, records, startFakeService, streamResponse } from "./fake-service.ts";
import { formatEvent, INITIAL_RECORDS, readUntil, sinceParameters, startWatch } from "./watch-harness.ts";

describe("one connection", () => {
  test("gives snapshot, synced and changes, and sends credentials and query", async () => {
    const service = await startFakeService(
      streamResponse(
        "hold",
        ...INITIAL_RECORDS,
        records.change("updated", "a", 6),
        records.change("removed", "b", 9),
      ),
    );
    const client = createClient({ url: service.url, credentials: { user: "reader", password: "päss:wörd" } });
    const events = client.watch("devices", { type: ["SWITCH", "ROUTER"], available: true });
    expect(await readUntil(events, "-b@9.")).toBe("=a@1 =b@4 synced@5 ~a@6. -b@9.");
    const [request] = service.requests;
    expect(request?.path).toBe("/controller/v1/devices");
    expect(request?.query).toEqual({ type: "SWITCH,ROUTER", available: "true" });
    expect(request?.headers.accept).toBe("text/event-stream");
    const sent = Buffer.from(request?.headers.authorization?.slice("Basic ".length) ?? "", "base64");
    expect(sent.toString("utf8")).toBe("reader:päss:wörd");
  });

  test("a change has time, value and changed fields", async () => {
    const service = await startFakeService(
      streamResponse("hold", records.synced(5), records.change("updated", "a", 6)),
    );
    const { events } = startWatch(service);
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

  test("with since it starts at that revision, without a snapshot", async () => {
    const service = await startFakeService(streamResponse("hold", records.change("added", "c", 6)));
    expect(await readUntil(startWatch(service, { since: 5 }).events, "+c@6.")).toBe("+c@6.");
    expect(sinceParameters(service)).toEqual(["5"]);
  });

  test("a stream that arrives character by character", async () => {
    const characters = [...`${INITIAL_RECORDS.join("")}: heartbeat\n\n${records.change("added", "c", 6)}`];
    const service = await startFakeService(streamResponse("hold", ...characters));
    expect(await readUntil(startWatch(service).events, "+c@6.")).toBe("=a@1 =b@4 synced@5 +c@6.");
  });

  test("unknown event names and resources are skipped", async () => {
    const unknown =
      'id: log.1.6\nevent: added\ndata: {"resource":"tunnels","revision":6}\n\nevent: moved\ndata: x\n\n';
    const service = await startFakeService(
      streamResponse("end", ...INITIAL_RECORDS, unknown),
      streamResponse("hold", records.change("added", "c", 7)),
    );
    expect(await readUntil(startWatch(service).events, "+c@7.")).toBe("=a@1 =b@4 synced@5 +c@7.");
    expect(sinceParameters(service)).toEqual([undefined, "6"]);
  });
});

describe("a lost connection", () => {
  test("between two revisions: resumes after the last one", async () => {
    const service = await startFakeService(
      streamResponse("hold", ...INITIAL_RECORDS, records.change("added", "c", 6)),
      streamResponse("hold", records.change("added", "d", 7)),
    );
    const { events, states } = startWatch(service);
    expect(await readUntil(events, "+c@6.")).toBe("=a@1 =b@4 synced@5 +c@6.");
    service.dropConnections();
    expect(await readUntil(events, "+d@7.")).toBe("+d@7.");
    expect(sinceParameters(service)).toEqual([undefined, "6"]);
    await events.return();
    const names = states.map(({ state }) => state);
    expect(names.join(" ")).toBe("connecting connected reconnecting connecting connected closed");
  });

  const revision6 = [records.change("added", "c", 6, false), records.change("added", "d", 6)] as const;

  test("in the middle of a revision: none of its changes is emitted, then all", async () => {
    const service = await startFakeService(
      streamResponse("hold", ...INITIAL_RECORDS, revision6[0]),
      streamResponse("hold", ...revision6),
    );
    const { events } = startWatch(service);
    await readUntil(events, "synced@5");
    const rest = readUntil(events, "+d@6.");
    service.dropConnections();
    expect(await rest).toBe("+c@6 +d@6.");
    expect(sinceParameters(service)).toEqual([undefined, "5"]);
  });

  test("a response that ends in the middle of a revision: the same", async () => {
    const service = await startFakeService(
      streamResponse("end", ...INITIAL_RECORDS, revision6[0]),
      streamResponse("hold", ...revision6),
    );
    expect(await readUntil(startWatch(service).events, "+d@6.")).toBe("=a@1 =b@4 synced@5 +c@6 +d@6.");
    expect(sinceParameters(service)).toEqual([undefined, "5"]);
  });

  test("at any byte of a record", async () => {
    const record = new TextEncoder().encode(records.change("added", "\u{1f5fa}", 6));
    for (let cut = 1; cut < record.length; cut++) {
      const first = streamResponse("end", records.synced(5), record.subarray(0, cut));
      const service = await startFakeService(first, streamResponse("hold", record));
      expect(await readUntil(startWatch(service).events, "+\u{1f5fa}@6.")).toBe("synced@5 +\u{1f5fa}@6.");
      expect(sinceParameters(service)).toEqual([undefined, "5"]);
    }
  });

  test("in the middle of the snapshot: reset and a new snapshot", async () => {
    const service = await startFakeService(
      streamResponse("hold", records.snapshot("a", 1)),
      streamResponse("hold", ...INITIAL_RECORDS),
    );
    const { events } = startWatch(service);
    expect(await readUntil(events, "=a@1")).toBe("=a@1");
    service.dropConnections();
    expect(await readUntil(events, "synced@5")).toBe("reset =a@1 =b@4 synced@5");
    expect(sinceParameters(service)).toEqual([undefined, undefined]);
  });

  test("no data for three heartbeats: the watch reconnects", async () => {
    const service = await startFakeService(
      streamResponse("hold", ...INITIAL_RECORDS),
      streamResponse("hold", records.change("added", "c", 6)),
    );
    const { events, clock, states } = startWatch(service);
    expect(await readUntil(events, "synced@5")).toBe("=a@1 =b@4 synced@5");
    const next = events.next();
    await until(() => service.requests.length === 2 || void clock.expireIdleTimeouts(), {
      what: "another connection",
    });
    expect(formatEvent((await next).value ?? { type: "reset" })).toBe("+c@6.");
    expect(states.find(({ state }) => state === "reconnecting")).toMatchObject({
      reason: "no data for 45 s",
    });
    await events.return();
  });

  test("backoffs grow without progress and are reset by progress", async () => {
    const service = await startFakeService(
      problemResponse(502, "bad-gateway"),
      streamResponse("end", ": hello\n\n"),
      streamResponse("end", ...INITIAL_RECORDS),
      streamResponse("end"),
      streamResponse("hold", records.change("added", "c", 6)),
    );
    const { events, clock } = startWatch(service);
    await readUntil(events, "+c@6.");
    expect(clock.backoffsMs).toEqual([500, 1000, 500, 1000]);
  });
});

describe("an abort ends the watch without an error", () => {
  test("while waiting for a change", async () => {
    const abort = new AbortController();
    const { events, states } = startWatch(
      await startFakeService(streamResponse("hold", ...INITIAL_RECORDS)),
      { signal: abort.signal },
    );
    await readUntil(events, "synced@5");
    const next = events.next();
    abort.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(states.at(-1)).toEqual({ state: "closed" });
  });

  test("while the consumer is busy, and with a reason", async () => {
    const abort = new AbortController();
    const { events } = startWatch(await startFakeService(streamResponse("hold", ...INITIAL_RECORDS)), {
      signal: abort.signal,
    });
    await events.next();
    abort.abort(new Error("enough"));
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test("before the first event: no request is sent", async () => {
    const service = await startFakeService();
    expect(await startWatch(service, { signal: AbortSignal.abort() }).events.next()).toEqual({
      done: true,
      value: undefined,
    });
    expect(service.requests).toEqual([]);
  });

  test("before the response", async () => {
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

test("nothing is read before the consumer asks for it", async () => {
  let pulled = 0;
  let cancelled = false;
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled++;
        controller.enqueue(
          encoder.encode(pulled === 1 ? records.synced(0) : records.change("added", `d${pulled}`, pulled)),
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
