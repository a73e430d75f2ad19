/** The source against a server that behaves as OpenDaylight does, from the first list to the restart of the server. */
import { expect, test } from "bun:test";
import { errorResponse, FakeRestconf, INVENTORY, NETWORKS, TOPOLOGY } from "./fake-restconf.ts";
import { rowOf } from "./networks.ts";
import { INTERVAL_MS, SourceUnderTest } from "./source-under-test.ts";

const SWITCHES = ["of:0000000000000001", "of:0000000000000002", "of:0000000000000003"];
const [A, B, C] = SWITCHES;
const LINKS = [`${A}/2-${B}/1`, `${B}/1-${A}/2`, `${B}/2-${C}/1`, `${C}/1-${B}/2`];

function startServer(switches = 3): FakeRestconf {
  const server = FakeRestconf.start();
  show(server, switches);
  return server;
}

function show(server: FakeRestconf, switches: number): void {
  const { topology, inventory } = rowOf(switches);
  server.data.set(TOPOLOGY, topology).set(INVENTORY, inventory);
}

/** Until the stream is open and the list that its snapshot causes is done. */
const settled = async (server: FakeRestconf, source: SourceUnderTest) => {
  await source.until(() => server.openStreams === 1 && source.replaces >= 2, "the stream and a second list");
};

test("lists switches, links and ports, sends no cookie back, reads the inventory with fields", async () => {
  await using server = startServer();
  await using source = new SourceUnderTest(server);
  await settled(server, source);
  expect(source.ids()).toEqual({ devices: SWITCHES, links: LINKS, hosts: [] });
  expect(source.sink.devices.get(A ?? "")).toMatchObject({
    aliases: ["openflow:1"],
    annotations: { name: "s1" },
  });
  expect(source.sink.ports.get(`${A}/local`)).toMatchObject({ portSpeed: 10_000 });
  expect(source.sink.rejected).toEqual([]);
  expect(source.sink.staleReasons).toEqual([]);
  expect(server.cookiesReceived).toEqual([]);
  const reads = server.requests.filter((line) => line.includes(INVENTORY));
  expect(reads.length).toBeGreaterThan(0);
  for (const line of reads) expect(line).toContain("fields=node(id;");
});

test("a change on the stream is listed at once: a link that vanishes is removed, and back when it is", async () => {
  await using server = startServer();
  await using source = new SourceUnderTest(server, { intervalSeconds: 3600 });
  await settled(server, source);
  const { topology } = rowOf(3);
  server.data.set(TOPOLOGY, { topology: [{ ...flowOf(topology), link: [] }] });
  server.sendChange();
  await source.until(() => source.sink.links.size === 0, "the loss of all links");
  expect(source.ids().devices).toEqual(SWITCHES);
  show(server, 3);
  server.sendChange();
  await source.until(() => source.sink.links.size === 4, "the links");
  // Each within the first interval: no poll was due.
  expect(source.clock.monotonic()).toBeLessThan(3_600_000);
  expect(source.count("stream_events_total")).toBe(3);
});

test("a link whose port is down is INACTIVE", async () => {
  await using server = startServer(2);
  const { inventory } = rowOf(2);
  const text = JSON.stringify(inventory).replaceAll('"link-down":false', '"link-down":true');
  server.data.set(INVENTORY, JSON.parse(text));
  await using source = new SourceUnderTest(server);
  await settled(server, source);
  expect([...source.sink.links.values()].map(({ state }) => state)).toEqual(["INACTIVE", "INACTIVE"]);
});

test("a switch that disconnects is removed", async () => {
  await using server = startServer();
  await using source = new SourceUnderTest(server);
  await settled(server, source);
  show(server, 2);
  server.sendChange();
  await source.until(() => source.sink.devices.size === 2, "the loss of a switch");
  expect(source.ids()).toEqual({ devices: SWITCHES.slice(0, 2), links: LINKS.slice(0, 2), hosts: [] });
  expect([...source.sink.ports.keys()].filter((id) => id.startsWith(C ?? ""))).toEqual([]);
});

test("heartbeats cause no list, and several events together one", async () => {
  await using server = startServer();
  await using source = new SourceUnderTest(server);
  await settled(server, source);
  const before = source.replaces;
  server.send(": ping\n\n");
  server.send("da");
  server.send("ta: {");
  for (let i = 0; i < 5; i++) server.send("}\n\ndata: {}");
  await source.until(() => source.count("stream_events_total") === 7, "the events", 0);
  await source.until(() => source.replaces > before, "a list");
  await source.clock.advance(5000);
  await source.until(() => server.openStreams === 1, "the stream");
  expect(source.replaces).toBe(before + 1);
});

test("after a break of the stream the source lists again and follows a new one", async () => {
  await using server = startServer();
  await using source = new SourceUnderTest(server);
  await settled(server, source);
  show(server, 2);
  server.breakStreams();
  await source.until(() => source.sink.devices.size === 2, "the change during the break");
  await source.until(() => server.openStreams === 1, "another stream");
  expect(source.count("stream_breaks_total")).toBe(1);
  expect(source.sink.staleReasons).toEqual([]);
  expect(server.countOf("create-data-change-event-subscription")).toBe(2);
});

test("a server that closes each stream at once is not listed without a pause", async () => {
  await using server = startServer();
  server.intercept = ({ pathname }) =>
    pathname.includes("/streams/") ? new Response("data: x\n\n") : undefined;
  await using source = new SourceUnderTest(server, { intervalSeconds: 3600 });
  await source.until(() => source.clock.monotonic() >= 120_000, "two minutes");
  expect(source.count("stream_breaks_total")).toBeGreaterThan(1);
  expect(source.count("polls_total")).toBeLessThan(40);
});

test("without a stream the source polls, and does not try to subscribe each time", async () => {
  await using server = startServer();
  server.offersStream = false;
  await using source = new SourceUnderTest(server);
  await source.until(() => source.replaces === 1, "a list");
  show(server, 2);
  await source.until(() => source.sink.devices.size === 2, "the change", 1000);
  expect(source.clock.monotonic()).toBeGreaterThanOrEqual(INTERVAL_MS);
  await source.until(() => source.replaces === 4, "more lists", 1000);
  expect(server.countOf("create-data-change-event-subscription")).toBe(1);
});

test("a server that is killed: the data stays; restarted, it is taken when all is discovered again", async () => {
  await using server = startServer();
  await using source = new SourceUnderTest(server, { intervalSeconds: 600, restartGraceSeconds: 3600 });
  await settled(server, source);
  await server.kill();
  await source.until(() => source.sink.staleReasons.length === 1, "the failure");
  expect(source.sink.staleReasons[0]).toContain("nothing listens there");
  expect(source.clock.monotonic()).toBeLessThan(600_000);
  expect(source.ids().links).toEqual(LINKS);
  // As OpenDaylight starts: nobody at the path, no users yet, then a network without switches.
  server.intercept = () => new Response("<html>Not Found</html>", { status: 404 });
  server.restart();
  await source.until(
    () => source.sink.staleReasons.at(-1)?.includes("no longer has") === true,
    "404",
    10_000,
  );
  server.intercept = () => new Response(null, { status: 401 });
  await source.until(() => source.sink.staleReasons.at(-1)?.includes("(401)") === true, "401", 10_000);
  server.intercept = undefined;
  server.data.set(TOPOLOGY, { topology: [{ "topology-id": "flow:1" }] }).set(INVENTORY, null);
  await source.until(() => server.openStreams === 1, "the list that is not complete", 10_000);
  expect(source.sink.staleReasons.at(-1)).toContain("back without 3 devices and 4 links");
  expect(source.ids().devices).toEqual(SWITCHES);
  const before = source.replaces;
  show(server, 3);
  server.sendChange();
  await source.until(() => source.replaces > before, "recovery");
  expect(source.ids()).toEqual({ devices: SWITCHES, links: LINKS, hosts: [] });
});

test("what is still missing when the grace ends is removed", async () => {
  await using server = startServer();
  await using source = new SourceUnderTest(server, { restartGraceSeconds: 60 });
  await settled(server, source);
  await server.kill();
  await source.until(() => source.sink.staleReasons.length === 1, "the failure");
  show(server, 2);
  server.restart();
  await source.until(() => server.openStreams === 1, "the server", 1000);
  const backAt = source.clock.monotonic();
  await source.until(() => source.sink.devices.size === 2, "the end of the grace", 1000);
  expect(source.clock.monotonic() - backAt).toBeGreaterThanOrEqual(50_000);
});

test("no data is not a failure: the network becomes empty", async () => {
  await using server = startServer();
  await using source = new SourceUnderTest(server);
  await settled(server, source);
  server.data.set(TOPOLOGY, null).set(INVENTORY, null);
  server.sendChange();
  await source.until(() => source.sink.devices.size === 0, "the empty network");
  expect(source.sink.staleReasons).toEqual([]);
});

test.each<[string, (server: FakeRestconf) => void, RegExp]>([
  [
    "neither module",
    (server) => server.data.clear(),
    /^127\.0\.0\.1:\d+\/rests: the server has neither ietf-network:networks nor network-topology/,
  ],
  ["no JSON", (server) => intercept(server, () => new Response("<html>")), /is not a JSON object/],
  ["an error", (server) => intercept(server, () => errorResponse(500, "operation-failed")), /status 500/],
  ["wrong credentials", (server) => intercept(server, () => new Response(null, { status: 401 })), /\(401\)/],
])("%s is a failure, and the source changes nothing", async (_, breakServer, message) => {
  await using server = startServer();
  breakServer(server);
  await using source = new SourceUnderTest(server);
  await source.until(() => source.sink.staleReasons.length > 0, "the failure");
  expect(source.sink.staleReasons[0]).toMatch(message);
  expect(source.sink.staleReasons[0]).not.toContain("admin");
  expect(source.replaces).toBe(0);
});

function intercept(server: FakeRestconf, answer: () => Response): void {
  server.intercept = ({ pathname }) => (pathname.includes("/data/") ? answer() : undefined);
}

test("a part that fails is a failure of the whole", async () => {
  await using server = startServer();
  await using source = new SourceUnderTest(server);
  await settled(server, source);
  const before = source.replaces;
  server.intercept = ({ pathname }) =>
    pathname.includes(INVENTORY) ? errorResponse(500, "operation-failed") : undefined;
  show(server, 1);
  server.sendChange();
  await source.until(() => source.sink.staleReasons.length === 1, "the failure");
  expect(source.replaces).toBe(before);
  expect(source.sink.devices.size).toBe(3);
});

test.each([
  [
    "XML",
    "application/xrd+xml",
    `<XRD><!-- <Link rel="restconf" href="/wrong"/> --><Link rel="restconf" href="/rests"/></XRD>`,
  ],
  [
    "JSON",
    "application/json",
    `{"links": [{"rel": "other", "href": "/x"}, {"rel": "restconf", "href": "/rests"}]}`,
  ],
])("the root is found by host-meta in %s, once", async (_, type, body) => {
  await using server = startServer();
  server.hostMeta = { type, body };
  await using source = new SourceUnderTest(server, { url: server.origin });
  await settled(server, source);
  expect(source.ids().devices).toEqual(SWITCHES);
  expect(server.countOf("host-meta")).toBe(1);
});

test("a root on another server gets no credentials", async () => {
  await using server = startServer();
  await using other = startServer();
  server.hostMeta = {
    type: "application/json",
    body: `{"links":[{"rel":"restconf","href":"${other.url}"}]}`,
  };
  await using source = new SourceUnderTest(server, { url: server.origin });
  await source.until(() => source.sink.staleReasons.length > 0, "the failure");
  expect(source.sink.staleReasons[0]).toContain("leads to another server");
  expect(other.requests).toEqual([]);
});

test("malformed records are dropped one by one and reported", async () => {
  await using server = startServer();
  const { topology } = rowOf(3);
  const flow = flowOf(topology);
  const node = [...flow.node, {}, "x", { "node-id": "has space" }];
  server.data.set(TOPOLOGY, { topology: [{ ...flow, node, link: [...flow.link, { "link-id": "l" }] }] });
  server.data.set(NETWORKS, { network: [{ node: [] }] });
  await using source = new SourceUnderTest(server);
  await source.until(() => source.replaces === 1, "a list");
  expect(source.ids()).toEqual({ devices: SWITCHES, links: LINKS, hosts: [] });
  expect(source.sink.rejected).toHaveLength(5);
});

function flowOf(topology: object): { node: object[]; link: object[] } {
  const [flow] = (topology as { topology: { node: object[]; link: object[] }[] }).topology;
  if (!flow) throw new Error("no topology");
  return flow;
}

test("a source that is stopped closes its stream and leaves nothing waiting", async () => {
  await using server = startServer();
  const source = new SourceUnderTest(server);
  await settled(server, source);
  server.sendChange();
  await source[Symbol.asyncDispose]();
  await source.until(() => server.openStreams === 0, "the end of the stream", 0);
  expect(source.clock.sleeping).toBe(0);
  expect(source.count("stream_connected")).toBe(0);
});
