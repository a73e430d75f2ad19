import { expect, test } from "bun:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { MemorySink } from "../../../test/support/memory-sink.ts";
import { until } from "../../../test/support/until.ts";
import { silentLogger } from "../../lib/logger.ts";
import type { ClaimChange } from "../../model/claim.ts";
import { type ControllerOptions, createControllerSource } from "./controller.ts";

const A = "of:00000000000000a1";
const NETWORK = {
  devices: [{ id: A }, { id: "of:00000000000000b2" }],
  ports: [{ element: A, port: "[eth1](1)" }],
  links: [{ src: { device: A, port: "1" }, dst: { device: "of:00000000000000b2", port: "1" } }],
  hosts: [{ mac: "00:00:00:00:00:01", vlan: "-1", locations: [{ elementId: A, port: "2" }] }],
};

class CountingSink extends MemorySink {
  calls: string[] = [];
  override async replace(all: Parameters<MemorySink["replace"]>[0]): Promise<void> {
    await super.replace(all);
    this.calls.push("replace");
  }
  override async apply(changes: readonly ClaimChange[]): Promise<void> {
    await super.apply(changes);
    this.calls.push(`apply ${changes.length}`);
  }
}

type Answer = (path: string, request: Request) => Response | undefined;

/** A service with the four reads. `answer` comes first. */
function startUpstream() {
  const state: { network: Record<string, unknown>; answer: Answer; paths: string[] } = {
    network: NETWORK,
    answer: () => undefined,
    paths: [],
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const path = new URL(request.url).pathname;
      state.paths.push(path);
      const special = state.answer(path, request);
      if (special) return special;
      if (path === "/onos/v1/topology") return Response.json({ time: 1, devices: 2, links: 1, clusters: 1 });
      const kind = { devices: "devices", "devices/ports": "ports", links: "links", hosts: "hosts" }[
        path.replace("/onos/v1/", "")
      ];
      return kind === undefined
        ? new Response("<html>", { status: 404 })
        : Response.json({ [kind]: state.network[kind] });
    },
  });
  return {
    state,
    url: `http://127.0.0.1:${server.port}/onos/v1`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function startSource(url: string, options: Partial<ControllerOptions> = {}) {
  const clock = new ManualClock();
  const sink = new CountingSink();
  const abort = new AbortController();
  const source = createControllerSource(
    { name: "onos", url, intervalSeconds: 5, ...options },
    { clock, log: silentLogger },
  );
  const ended = source.run(sink, abort.signal);
  let outcomes = 0;
  return {
    source,
    sink,
    clock,
    /** Waits for the outcome of the next poll: claims, or a failure. The first poll begins by itself. */
    async nextPoll(waitMs = 0) {
      if (waitMs > 0) {
        // The loop sleeps, and no request does.
        await until(() => clock.sleeping === 1, { what: "the source to wait" });
        await clock.advance(waitMs);
      }
      outcomes++;
      await until(() => sink.calls.length + sink.staleReasons.length >= outcomes, {
        what: `poll ${outcomes}`,
      });
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await ended;
      expect(clock.sleeping).toBe(0);
    },
  };
}

test("first set, updates, failure that keeps the data, recovery", async () => {
  await using upstream = startUpstream();
  await using running = startSource(upstream.url);
  const { sink, nextPoll, source } = running;
  await nextPoll();
  expect([...sink.devices.keys()]).toEqual([A, "of:00000000000000b2"]);
  expect([...sink.ports.values()]).toEqual([{ element: A, port: "1", annotations: { portName: "eth1" } }]);
  expect(sink.links.size).toBe(1);
  expect([...sink.hosts.keys()]).toEqual(["00:00:00:00:00:01/None"]);
  upstream.state.network = { ...NETWORK, hosts: [] };
  await nextPoll(5000);
  expect(sink.hosts.size).toBe(0);
  // Of four reads the third fails: nothing of this poll is claimed.
  upstream.state.network = { devices: [], ports: [], links: [], hosts: [] };
  upstream.state.answer = (path) => (path.endsWith("/links") ? new Response("", { status: 500 }) : undefined);
  await nextPoll(5000);
  expect(sink.staleReasons).toEqual([
    `${new URL(upstream.url).host}/onos/v1/links: responds with status 500`,
  ]);
  expect(sink.devices.size).toBe(2);
  upstream.state.answer = () => undefined;
  upstream.state.network = NETWORK;
  await nextPoll(5000);
  expect(sink.hosts.size).toBe(1);
  expect(source.metrics?.()).toMatchObject({ polls_total: 4, failed_polls_total: 1 });
});

test("what is upstream is found out at the start and after a failure, not at each poll", async () => {
  await using upstream = startUpstream();
  await using running = startSource(upstream.url);
  await running.nextPoll();
  await running.nextPoll(5000);
  expect(upstream.state.paths.filter((path) => path === "/readyz")).toHaveLength(1);
  upstream.state.answer = (path) =>
    path.endsWith("/hosts") ? new Response("{", { status: 200 }) : undefined;
  await running.nextPoll(5000);
  expect(running.sink.staleReasons[0]).toEndWith(
    "/onos/v1/hosts: the response is not a JSON object with a list of hosts",
  );
  await running.nextPoll(5000);
  expect(upstream.state.paths.filter((path) => path === "/readyz")).toHaveLength(2);
});

test("a service that responds to /readyz with something endless is ONOS all the same", async () => {
  await using upstream = startUpstream();
  upstream.state.answer = (path) =>
    path === "/readyz" ? new Response("x".repeat(1024 * 1024 + 1)) : undefined;
  await using running = startSource(upstream.url);
  await running.nextPoll();
  expect(running.sink.devices.size).toBe(2);
});

test("malformed records are dropped one by one and counted", async () => {
  await using upstream = startUpstream();
  upstream.state.network = { ...NETWORK, devices: [...NETWORK.devices, { id: "a b" }, 7], ports: [{}] };
  await using running = startSource(upstream.url);
  await running.nextPoll();
  expect(running.sink.devices.size).toBe(2);
  expect(running.sink.rejected).toHaveLength(3);
});

test("a service without a list of ports", async () => {
  await using upstream = startUpstream();
  upstream.state.answer = (path) => (path.endsWith("/ports") ? new Response("", { status: 404 }) : undefined);
  await using running = startSource(upstream.url);
  await running.nextPoll();
  expect(running.sink.devices.size).toBe(2);
  expect(running.sink.ports.size).toBe(0);
});

test("requests are conditional where the service has entity tags", async () => {
  await using upstream = startUpstream();
  const tags: (string | null)[] = [];
  let version = '"1"';
  upstream.state.answer = (path, request) => {
    if (!/\/(devices|ports|links|hosts)$/.test(path)) return undefined;
    const kind = path.split("/").at(-1) ?? "";
    const tag = request.headers.get("if-none-match");
    tags.push(tag);
    if (tag === version) return new Response(null, { status: 304 });
    return Response.json({ [kind]: upstream.state.network[kind] }, { headers: { etag: version } });
  };
  await using running = startSource(upstream.url);
  const { sink, nextPoll } = running;
  await nextPoll();
  await nextPoll(5000);
  expect(tags).toEqual([null, null, null, null, '"1"', '"1"', '"1"', '"1"']);
  expect(sink.calls).toEqual(["replace", "apply 0"]);
  version = '"2"';
  upstream.state.network = { ...NETWORK, links: [] };
  await nextPoll(5000);
  expect(sink.calls).toEqual(["replace", "apply 0", "replace"]);
  expect(sink.links.size).toBe(0);
  expect(sink.hosts.size).toBe(1);
});

test("a change that was read in a poll that failed is claimed by the next one, also when nothing is sent again", async () => {
  await using upstream = startUpstream();
  let tag = '"1"';
  let isFailing = false;
  upstream.state.answer = (path, request) => {
    const kind = path.split("/").at(-1) ?? "";
    if (!(kind in NETWORK)) return undefined;
    if (isFailing && kind === "hosts") return new Response("", { status: 500 });
    const etag = kind === "devices" ? tag : '"1"';
    if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304 });
    return Response.json({ [kind]: upstream.state.network[kind] }, { headers: { etag } });
  };
  await using running = startSource(upstream.url);
  const { sink, nextPoll } = running;
  await nextPoll();
  upstream.state.network = { ...NETWORK, devices: [...NETWORK.devices, { id: "of:00000000000000c3" }] };
  tag = '"2"';
  isFailing = true;
  await nextPoll(5000);
  expect(sink.devices.size).toBe(2);
  isFailing = false;
  await nextPoll(5000);
  expect(sink.devices.size).toBe(3);
  await nextPoll(5000);
  expect(sink.calls).toEqual(["replace", "replace", "apply 0"]);
});

test("wrong credentials", async () => {
  await using upstream = startUpstream();
  upstream.state.answer = () => new Response("", { status: 401 });
  await using running = startSource(upstream.url, { credentials: "onos:secret" });
  await running.nextPoll();
  expect(running.sink.staleReasons).toEqual([
    `${new URL(upstream.url).host}/onos/v1/topology: the credentials are missing or wrong (401)`,
  ]);
});

test("a stop in the middle of a request", async () => {
  await using upstream = startUpstream();
  upstream.state.answer = (path) =>
    path.endsWith("/links")
      ? new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))
      : undefined;
  const running = startSource(upstream.url);
  await until(() => upstream.state.paths.some((path) => path.endsWith("/links")), { what: "the request" });
  await running[Symbol.asyncDispose]();
  expect(running.sink.calls).toEqual([]);
  expect(running.sink.staleReasons).toEqual([]);
});
