import { expect, test } from "bun:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { MemorySink } from "../../../test/support/memory-sink.ts";
import { until } from "../../../test/support/until.ts";
import { silentLogger } from "../../lib/logger.ts";
import type { ClaimChange } from "../../model/claim.ts";
import { createControllerSource } from "./controller.ts";

const OWN_LOG = "own-log";

class CountingSink extends MemorySink {
  readonly calls: string[] = [];
  override async replace(all: Parameters<MemorySink["replace"]>[0]): Promise<void> {
    await super.replace(all);
    this.calls.push(`replace ${this.devices.size}`);
  }
  override async apply(changes: readonly ClaimChange[]): Promise<void> {
    await super.apply(changes);
    this.calls.push(`apply ${changes.length}`);
  }
}

interface Stream {
  /** The query of the request. */
  readonly query: string;
  readonly isOpen: () => boolean;
  send(event: string, data: object, id?: number): void;
  end(): void;
}

/** A service that answers as a Gazetteer does. Its streams are written by the test. */
function startGazetteer() {
  const state = {
    readiness: { status: "ready", logId: "log-1", sources: [] } as Record<string, unknown>,
    streamLog: undefined as string | undefined,
    /** The status of the next streams. */
    streamStatus: 200,
    readinessStatus: 200,
  };
  const streams: Stream[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      const url = new URL(request.url);
      if (url.pathname === "/readyz")
        return Response.json(state.readiness, { status: state.readinessStatus });
      if (url.pathname !== "/controller/v1/topology") return new Response("", { status: 404 });
      if (state.streamStatus !== 200) {
        const type = state.streamStatus === 410 ? "x#revision-expired" : "x#unauthorized";
        const { streamStatus: status } = state;
        if (status === 410) state.streamStatus = 200;
        return Response.json({ type, status }, { status });
      }
      let isOpen = true;
      let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
      const body = new ReadableStream<Uint8Array>({
        start(opened) {
          controller = opened;
          opened.enqueue(Buffer.from(": open\n\n"));
        },
        cancel() {
          isOpen = false;
        },
      });
      request.signal.addEventListener("abort", () => {
        isOpen = false;
      });
      streams.push({
        query: url.search,
        isOpen: () => isOpen,
        send(event, data, id) {
          const idLine = id === undefined ? "" : `id: ${id}\n`;
          controller?.enqueue(Buffer.from(`${idLine}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
        },
        end: () => controller?.close(),
      });
      const log = state.streamLog ?? String(state.readiness.logId);
      return new Response(body, { headers: { "content-type": "text/event-stream", "gazetteer-log": log } });
    },
  });
  return {
    state,
    streams,
    host: `127.0.0.1:${server.port}`,
    /** Waits for the stream with this number, from 1. */
    stream: (number: number) => until(() => streams[number - 1], { what: `stream ${number}` }),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function startSource(host: string, options: { readonly timeoutSeconds?: number } = {}) {
  const clock = new ManualClock();
  const sink = new CountingSink();
  const abort = new AbortController();
  const source = createControllerSource(
    { name: "up", url: `http://${host}/controller/v1`, intervalSeconds: 5, ...options },
    { clock, log: silentLogger, logId: () => OWN_LOG },
  );
  const ended = source.run(sink, abort.signal);
  return {
    sink,
    source,
    clock,
    /** Lets time pass in steps until the condition holds. */
    pass: (condition: () => unknown, what: string) =>
      until(
        async () => {
          if (condition()) return true;
          await clock.advance(500);
          return false;
        },
        { what },
      ),
    async [Symbol.asyncDispose]() {
      abort.abort();
      await ended;
      expect(clock.sleeping).toBe(0);
    },
  };
}

const device = (id: string, fields: object = {}) => ({
  id,
  annotations: {},
  sources: ["x"],
  revision: 1,
  ...fields,
});
const snapshot = (id: string, revision: number) => ({ resource: "devices", revision, value: device(id) });
const change = (id: string, revision: number, fields: object = {}) => ({
  resource: "devices",
  revision,
  time: 1,
  changed: ["mfr"],
  value: device(id, fields),
});

const called = (sink: CountingSink, call: string) => until(() => sink.calls.at(-1) === call, { what: call });

test("all entities, then one call for each revision; it resumes at the last complete one", async () => {
  await using upstream = startGazetteer();
  await using running = startSource(upstream.host);
  const { sink, pass, source } = running;
  const first = await upstream.stream(1);
  expect(first.query).toBe("");
  first.send("snapshot", snapshot("a", 4));
  first.send("snapshot", snapshot("b", 4));
  first.send("synced", { revision: 4 }, 4);
  await called(sink, "replace 2");
  first.send("added", change("c", 5));
  first.send("updated", change("a", 5, { mfr: "Acme" }), 5);
  await called(sink, "apply 2");
  first.send("removed", change("b", 6), 6);
  await called(sink, "apply 1");
  // A revision whose end is lost with the connection.
  first.send("updated", change("a", 7, { mfr: "Other" }));
  first.end();
  await pass(() => upstream.streams.length === 2, "the second connection");
  expect(sink.staleReasons).toEqual([`${upstream.host}: the connection ended`]);
  const second = await upstream.stream(2);
  expect(second.query).toBe("?since=6");
  await called(sink, "apply 0");
  second.send("updated", change("a", 7, { mfr: "Other" }), 7);
  await called(sink, "apply 1");
  expect(sink.devices.get("a")).toEqual({ id: "a", mfr: "Other" });
  expect([...sink.devices.keys()]).toEqual(["a", "c"]);
  expect(sink.upstreamLogs).toEqual(["log-1"]);
  expect(source.metrics?.()).toMatchObject({
    snapshots_total: 1,
    connections_total: 2,
    upstream_revision: 7,
  });
});

test("the list is read again after 410, and from a new log", async () => {
  await using upstream = startGazetteer();
  await using running = startSource(upstream.host);
  const { sink, pass } = running;
  const first = await upstream.stream(1);
  first.send("snapshot", snapshot("a", 4));
  first.send("synced", { revision: 4 }, 4);
  await called(sink, "replace 1");
  upstream.state.streamStatus = 410;
  first.end();
  await pass(() => upstream.streams.length === 2, "the second connection");
  const second = await upstream.stream(2);
  expect(second.query).toBe("");
  second.send("snapshot", snapshot("b", 90));
  second.send("snapshot", snapshot("c", 90));
  second.send("synced", { revision: 90 }, 90);
  await called(sink, "replace 2");
  // The service lost its data: its revisions begin again, and the same numbers mean other changes.
  upstream.state.readiness = { status: "ready", logId: "log-2", sources: [] };
  await pass(() => upstream.streams.length === 3, "the third connection");
  expect(second.isOpen()).toBe(false);
  const third = await upstream.stream(3);
  expect(third.query).toBe("");
  third.send("snapshot", snapshot("d", 95));
  third.send("synced", { revision: 95 }, 95);
  await called(sink, "replace 1");
  expect([...sink.devices.keys()]).toEqual(["d"]);
  expect(sink.upstreamLogs).toEqual(["log-2"]);
});

test("a stream of another log than the service has said is not read", async () => {
  await using upstream = startGazetteer();
  upstream.state.streamLog = "log-9";
  await using running = startSource(upstream.host);
  await until(() => running.sink.staleReasons.length > 0, { what: "the refusal" });
  expect(running.sink.staleReasons).toEqual([`${upstream.host}: the service has another log now`]);
  upstream.state.streamLog = undefined;
  await running.pass(() => upstream.streams.length === 2, "the second connection");
  (await upstream.stream(2)).send("synced", { revision: 1 }, 1);
  await called(running.sink, "replace 0");
});

test("a stream that is silent beyond its heartbeats is cut and resumed, whatever the time-out of requests", async () => {
  await using upstream = startGazetteer();
  await using running = startSource(upstream.host, { timeoutSeconds: 2 });
  const { sink, clock, pass } = running;
  const first = await upstream.stream(1);
  first.send("synced", { revision: 4 }, 4);
  await called(sink, "replace 0");
  await clock.advance(20_000);
  expect(first.isOpen()).toBe(true);
  await pass(() => upstream.streams.length === 2, "the second connection");
  await until(() => !first.isOpen(), { what: "the end of the first connection" });
  expect(sink.staleReasons[0]).toContain("no data");
  expect(upstream.streams[1]?.query).toBe("?since=4");
});

test("a service that starts with a new log is waited for, but not for ever", async () => {
  await using upstream = startGazetteer();
  await using running = startSource(upstream.host);
  const { sink, clock, pass } = running;
  (await upstream.stream(1)).send("synced", { revision: 4 }, 4);
  await called(sink, "replace 0");
  for (const [round, becomesReady] of [true, false].entries()) {
    const connections = upstream.streams.length;
    upstream.state.readiness = { status: "starting", logId: `new-${round}`, sources: [] };
    upstream.state.readinessStatus = 503;
    await pass(() => sink.staleReasons.at(-1) === `${upstream.host} is starting`, "the wait");
    expect(upstream.streams).toHaveLength(connections);
    const startedAt = clock.monotonic();
    if (becomesReady) upstream.state.readiness = { status: "ready", logId: `new-${round}`, sources: [] };
    await pass(() => upstream.streams.length > connections, "the connection");
    const waitedMs = clock.monotonic() - startedAt;
    if (becomesReady) expect(waitedMs).toBeLessThan(20_000);
    else expect(waitedMs).toBeGreaterThan(20_000);
    upstream.streams.at(-1)?.send("synced", { revision: 5 }, 5);
    await until(() => sink.calls.filter((call) => call === "replace 0").length === round + 2, {
      what: "the list",
    });
  }
});

test("a service that cannot send the changes is listed again", async () => {
  await using upstream = startGazetteer();
  await using running = startSource(upstream.host);
  const first = await upstream.stream(1);
  first.send("synced", { revision: 4 }, 4);
  await called(running.sink, "replace 0");
  first.end();
  let connections = 1;
  do {
    await running.pass(() => upstream.streams.length > connections, `connection ${connections + 1}`);
    connections = upstream.streams.length;
    upstream.streams.at(-1)?.send("overflow", { reason: "too-slow" });
  } while (upstream.streams.at(-1)?.query === "?since=4" && connections < 20);
  expect(upstream.streams.at(-1)?.query).toBe("");
});

test("a loop that arises while the stream is read cuts it; its end resumes it", async () => {
  await using upstream = startGazetteer();
  await using running = startSource(upstream.host);
  const { sink, pass, source } = running;
  const first = await upstream.stream(1);
  first.send("synced", { revision: 4 }, 4);
  await called(sink, "replace 0");
  const reader = { name: "down", kind: "controller", upstreamLogs: ["log-3", OWN_LOG] };
  upstream.state.readiness = { status: "ready", logId: "log-1", sources: [reader] };
  await pass(() => sink.staleReasons.length > 0, "the refusal");
  expect(sink.staleReasons[0]).toContain("a loop");
  expect(source.metrics?.()).toMatchObject({ loop: 1 });
  expect(sink.upstreamLogs).toEqual(["log-1", "log-3", OWN_LOG]);
  await until(() => !first.isOpen(), { what: "the end of the stream" });
  upstream.state.readiness = { status: "ready", logId: "log-1", sources: [] };
  await pass(() => upstream.streams.length === 2, "the second connection");
  expect(upstream.streams[1]?.query).toBe("?since=4");
  expect(source.metrics?.()).toMatchObject({ loop: 0 });
});

test("a response that is malformed, wrong credentials, another service at the address", async () => {
  await using upstream = startGazetteer();
  upstream.state.readiness = { status: "ready", logId: "log 1", sources: "none" };
  await using running = startSource(upstream.host);
  const { sink, pass } = running;
  await until(() => sink.staleReasons.length === 1, { what: "the first failure" });
  expect(sink.staleReasons[0]).toBe(`${upstream.host}/readyz: the response is not that of a Gazetteer`);
  upstream.state.readiness = { status: "ready" };
  upstream.state.streamStatus = 401;
  await pass(() => sink.staleReasons.length === 2, "the second failure");
  expect(sink.staleReasons[1]).toBe(
    `${upstream.host}/controller/v1/topology: the credentials are missing or wrong (401)`,
  );
});

test("a malformed entity is dropped and counted, the rest of its revision is applied", async () => {
  await using upstream = startGazetteer();
  await using running = startSource(upstream.host);
  const first = await upstream.stream(1);
  first.send("snapshot", snapshot("a b", 4));
  first.send("snapshot", snapshot("a", 4));
  first.send("synced", { revision: 4 }, 4);
  await called(running.sink, "replace 1");
  first.send("added", change("", 5));
  first.send("added", change("c", 5), 5);
  await called(running.sink, "apply 1");
  expect(running.sink.rejected).toHaveLength(2);
  first.send("updated", change("c", 6, { type: "of a later version" }), 6);
  await until(() => !running.sink.devices.has("c"), { what: "the removal" });
  expect(running.sink.rejected).toHaveLength(3);
});
