/** The `http` source against a real server: conditional requests, languages, and documents that are refused. */
import { afterEach, describe, expect, test } from "bun:test";
import { silentLogger } from "../../../src/lib/logger.ts";
import { createHttpSource } from "../../../src/sources/http/http.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { MemorySink } from "../../support/memory-sink.ts";
import { until } from "../../support/until.ts";

const INTERVAL_MS = 30_000;

type Respond = (request: Request) => Response;
const network = (...ids: string[]) => JSON.stringify({ devices: ids.map((id) => ({ id })) });

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0)) await cleanUp();
});

/** Counts the outcomes of polls. */
class CountingSink extends MemorySink {
  outcomes = 0;
  override async replace(...[all]: Parameters<MemorySink["replace"]>): Promise<void> {
    await super.replace(all);
    this.outcomes++;
  }
  override async apply(...[changes]: Parameters<MemorySink["apply"]>): Promise<void> {
    await super.apply(changes);
    this.outcomes++;
  }
  override markStale(reason: string): void {
    super.markStale(reason);
    this.outcomes++;
  }
}

/** Starts a server and a source that polls it. `poll` advances the clock to the next poll and waits for its end. */
async function start(path: string, first: Respond) {
  let respond = first;
  const requests: Headers[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      requests.push(new Headers(request.headers));
      return respond(request);
    },
  });
  const clock = new ManualClock();
  const abort = new AbortController();
  const sink = new CountingSink();
  const source = createHttpSource(
    { name: "script", url: new URL(path, server.url).href, intervalSeconds: 30 },
    { clock, log: silentLogger },
  );
  const ended = source.run(sink, abort.signal);
  cleanups.push(async () => {
    abort.abort();
    await ended;
    expect(clock.sleeping).toBe(0);
    await server.stop(true);
  });
  /** A request sleeps too, for its time-out, so the sleep of the loop is that after the outcome. */
  const settled = (outcomes: number) =>
    until(() => sink.outcomes === outcomes && clock.sleeping === 1, { what: "the poll", everyMs: 1 });
  await settled(1);
  return {
    server,
    sink,
    source,
    requests,
    host: server.url.host,
    async poll(next?: Respond, waitMs = INTERVAL_MS) {
      if (next) respond = next;
      const before = sink.outcomes;
      await clock.advance(waitMs);
      await settled(before + 1);
    },
  };
}

const json = (body: string, headers: Record<string, string> = {}) =>
  new Response(body, { headers: { "content-type": "application/json", ...headers } });

describe("requests are conditional", () => {
  for (const [validator, condition, value] of [
    ["etag", "if-none-match", 'W/"1"'],
    ["last-modified", "if-modified-since", "Sun, 15 Nov 2026 01:00:00 GMT"],
  ] as const) {
    test(`with ${validator}, and 304 changes nothing`, async () => {
      const peer = await start("/network.json", () => json(network("a"), { [validator]: value }));
      expect([...peer.sink.devices.keys()]).toEqual(["a"]);
      expect(peer.requests[0]?.get(condition)).toBeNull();
      await peer.poll(() => new Response(null, { status: 304 }));
      expect(peer.requests[1]?.get(condition)).toBe(value);
      expect(peer.sink.changeLog).toEqual(["replace"]);
      expect(peer.source.metrics?.()).toEqual({
        document_polls_total: 2,
        document_not_modified_total: 1,
        document_failed_total: 0,
        document_refused_total: 0,
      });
    });
  }

  test("on the last valid document, so that a refused one is read again", async () => {
    const peer = await start("/network.json", () => json(network("a"), { etag: '"good"' }));
    await peer.poll(() => json('{"devices":[\n{"id":""}]}', { etag: '"bad"' }));
    expect(peer.sink.staleReasons).toEqual([
      `${peer.host}/network.json:2: devices[0].id: must be a name of 1 to 255 characters without spaces, control characters and marks of the text direction`,
    ]);
    // The server responds, so the next poll is after the interval.
    await peer.poll(() => json(network("b"), { etag: '"better"' }));
    expect(peer.requests[2]?.get("if-none-match")).toBe('"good"');
    expect([...peer.sink.devices.keys()]).toEqual(["b"]);
    expect(peer.source.metrics?.().document_refused_total).toBe(1);
  });
});

test("a server that fails is polled less and less often, and the data stays", async () => {
  const peer = await start("/network.json", () => json(network("a")));
  await peer.poll(() => new Response("no", { status: 500 }));
  await peer.poll();
  expect(peer.sink.staleReasons).toHaveLength(2);
  expect(peer.sink.staleReasons[0]).toStartWith(`${peer.host}/network.json: `);
  await peer.poll(() => json(network("a", "b")), 2 * INTERVAL_MS);
  expect([...peer.sink.devices.keys()]).toEqual(["a", "b"]);
  expect(peer.source.metrics?.().document_failed_total).toBe(2);
});

describe("the language of a document is that of", () => {
  const yaml = "devices: [{id: y}]";
  const cases: [name: string, path: string, type: string, body: string, expected: string][] = [
    ["its type", "/network.json", "application/yaml", yaml, "y"],
    ["its type with a parameter", "/x", "application/vnd.network+json; charset=utf-8", network("j"), "j"],
    ["its name", "/network.yml", "text/plain", yaml, "y"],
    ["its content", "/", "text/plain", network("j"), "j"],
    ["its content, else YAML", "/", "application/octet-stream", yaml, "y"],
  ];
  for (const [name, path, type, body, expected] of cases) {
    test(name, async () => {
      const peer = await start(path, () => new Response(body, { headers: { "content-type": type } }));
      expect(peer.sink.staleReasons).toEqual([]);
      expect([...peer.sink.devices.keys()]).toEqual([expected]);
    });
  }

  test("JSON by its type, which is not guessed", async () => {
    const peer = await start("/network.yaml", () => json(yaml));
    expect(peer.sink.staleReasons[0]).toContain(":1: is not JSON: ");
  });
});
