/** `/topology/problems`: what is wrong with the network, since when, and what it cuts off; live, in the past, as a stream. */
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { ClaimChange } from "../../src/model/claim.ts";
import { temporaryFolder } from "../support/folder.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/until.ts";
import { type EventReader, openEventReader, type StreamEvent } from "./events.ts";
import { type Harness, type HarnessOptions, openHarness } from "./harness.ts";
import { commitPlanned, plannedDevice, plannedLink } from "./planned-network.ts";
import {
  A,
  B,
  type Body,
  C,
  device,
  HOUR_MS,
  host,
  letPass,
  link,
  linkOf,
  noLink,
  PROBLEMS,
  portTo,
  read,
  summary,
  TREE,
  timeNow,
} from "./problem-network.ts";

const opened: Harness[] = [];
afterEach(async () => {
  for (const harness of opened.splice(0)) await harness.stop();
});

async function open(options: HarnessOptions = {}): Promise<Harness> {
  const harness = await openHarness(options);
  opened.push(harness);
  return harness;
}

/**
 * Opens a stream and reads its first list. Then it sleeps until the streams may have the next one: a test that lets time
 * pass before that, and changes the network after it, would wait for another second that never passes.
 */
async function openProblemStream(
  harness: Harness,
): Promise<{ readonly events: EventReader; readonly first: readonly StreamEvent[] }> {
  await read(harness);
  const { sleeping } = harness.clock;
  const events = await openEventReader(harness, PROBLEMS);
  const first = await events.readUntil(({ event }) => event === "synced");
  await until(() => harness.clock.sleeping > sleeping, { what: "the stream to sleep until its next list" });
  return { events, first };
}

test("a network without problems, and the media type", async () => {
  const harness = await open();
  await harness.apply(TREE);
  const response = await harness.fetch(PROBLEMS);
  expect(response.headers.get("content-type")).toBe("application/vnd.gazetteer.problems+json");
  expect(response.headers.get("gazetteer-revision")).toBe("1");
  expect(await response.json()).toEqual({
    problems: [],
    counts: {
      "device-unavailable": 0,
      "link-inactive": 0,
      "link-one-sided": 0,
      "link-lost": 0,
      "host-duplicated": 0,
      conflict: 0,
      "source-failed": 0,
      "source-stale": 0,
      "device-unknown": 0,
      drift: 0,
      "host-moved": 0,
    },
  });
  expect((await harness.fetch(PROBLEMS, { headers: { accept: "image/png" } })).status).toBe(406);
  expect((await harness.fetch(PROBLEMS, { headers: { authorization: "" } })).status).toBe(401);
  expect((await harness.fetch(PROBLEMS, { method: "POST" })).status).toBe(405);
});

test("each kind of problem, worst first", async () => {
  const harness = await open();
  await harness.apply([...TREE, device("dev:d"), device("dev:e"), device("dev:f"), ...link(A, "dev:d")]);
  await harness.apply([device(B, false)]);
  const unavailableSince = timeNow(harness);
  await harness.apply(link(A, C, "INACTIVE"));
  const inactiveSince = timeNow(harness);
  const [oneWay] = link("dev:e", A);
  await harness.apply(oneWay ? [oneWay] : []);
  await harness.apply(noLink(A, "dev:d"));
  const lostSince = timeNow(harness);
  await harness.apply([host(1, A, "7")]);
  const movedSince = timeNow(harness);
  await harness.apply([host(5, A, "5", "10.0.0.9"), host(6, A, "6", "10.0.0.9")]);
  // Nothing of what is wrong changes.
  await harness.apply([{ op: "remove", kind: "links", id: linkOf(A, C) }]);
  await harness.apply(link(A, C, "INACTIVE"));
  const body = await read(harness);
  expect(summary(body)).toEqual([
    `critical device-unavailable:${B} -1/1`,
    `critical link-inactive:${linkOf(A, C)} -1/1`,
    `critical link-lost:${linkOf(A, "dev:d")} -1/0`,
    `major link-one-sided:${linkOf(A, "dev:e")} -0/0`,
    `minor host-duplicated:00:00:00:00:00:05/None -0/0`,
    `minor host-duplicated:00:00:00:00:00:06/None -0/0`,
    `notice host-moved:00:00:00:00:00:01/None -0/0`,
  ]);
  expect(body.problems[0]).toMatchObject({ since: unavailableSince, entity: B, cutOff: { devices: [B] } });
  // The other direction of the cable has been INACTIVE all the time.
  expect(body.problems[1]).toMatchObject({ since: inactiveSince, cutOff: { devices: [C] } });
  expect(body.problems[2]).toMatchObject({
    since: lostSince,
    until: new Date(Date.parse(lostSince) + 24 * HOUR_MS).toISOString(),
    link: { src: { device: A }, dst: { device: "dev:d" } },
  });
  expect(body.problems[6]).toMatchObject({
    since: movedSince,
    moved: { from: { elementId: A, port: "1" }, to: { elementId: A, port: "7" } },
    devices: [A],
    sources: ["first"],
  });
  expect(body.counts).toMatchObject({ "host-duplicated": 2, "link-lost": 1, drift: 0 });
});

test("drift, stale sources and conflicts of links", async () => {
  const harness = await open();
  await harness.apply([...TREE, device("dev:d"), ...link("dev:d", A)]);
  const src = { device: "dev:d", port: portTo(A) };
  await harness.apply([{ op: "set", kind: "links", claim: { src, dst: { device: B, port: "9" } } }]);
  await commitPlanned(harness, [plannedDevice("dev:x", "unplanned"), plannedLink(A, "dev:x", "missing")]);
  const staleSince = harness.clock.now();
  const settings = (id: string, value: object) => ({
    kind: "settings" as const,
    id,
    before: harness.view.get("settings", id) ?? null,
    after: JSON.stringify(value),
    changed: [],
  });
  const failed = { failedSince: staleSince, error: "the peer refuses." };
  await harness.write([
    settings("merge", { sources: ["first", "second", "third", "fourth"].map((name) => ({ name })) }),
    settings("source:second", { hasSynced: true, staleSince }),
    settings("source:third", { hasSynced: true, staleSince, ...failed }),
    settings("source:fourth", { hasSynced: false, ...failed }),
  ]);
  const ids = summary(await read(harness, "?severity=minor,warning"));
  expect(ids).toContain(`minor conflict:links:${linkOf(A, "dev:d")} -0/0`);
  expect(ids).toContain(`warning drift:devices:dev:x -0/0`);
  expect(ids).toContain(`warning drift:links:${A}/1-dev:x/2 -0/0`);
  // Drift may only look so, where a source no longer reports.
  expect(ids.filter((id) => id.startsWith("warning"))[0]).toBe("warning source-stale:second -0/0");
  const { problems } = await read(harness, "?kind=source-failed,source-stale");
  const since = new Date(staleSince).toISOString();
  expect(problems).toMatchObject([
    {
      severity: "major",
      since,
      source: "fourth",
      text: "Source fourth has never reported: the peer refuses.",
    },
    {
      severity: "major",
      since,
      source: "third",
      text: "Source third failed: the peer refuses. What it last reported may have changed.",
    },
    { severity: "warning", since, source: "second" },
  ]);
});

test("a device that nobody reports is one problem with a count, once all sources have reported, and not in the past", async () => {
  const harness = await open();
  await harness.apply([...TREE, ...link(A, "dev:x"), ...link(B, "dev:y"), host(5, "dev:x")]);
  expect((await read(harness)).problems).toEqual([]);
  const setting = (id: string, value: object) => ({
    kind: "settings" as const,
    id,
    before: harness.view.get("settings", id) ?? null,
    after: JSON.stringify(value),
    changed: [],
  });
  await harness.write(["first", "second"].map((name) => setting(`source:${name}`, { hasSynced: true })));
  const { problems, counts } = await read(harness);
  const since = timeNow(harness);
  expect(counts["device-unknown"]).toBe(2);
  expect(problems).toMatchObject([
    {
      id: "device-unknown:dev:x",
      severity: "warning",
      since,
      entity: "dev:x",
      references: 3,
      devices: ["dev:x"],
      sources: ["first"],
    },
    { id: "device-unknown:dev:y", references: 2, since },
  ]);
  expect(problems[0]?.text).toMatch(
    /^No source reports device dev:x; 3 ports, links and hosts refer to it, such as /,
  );
  const { revision } = harness.view;
  const past = await read(harness, `?at=${revision}`);
  expect([past.problems, past.counts["device-unknown"]]).toEqual([[], 0]);
  // The list of a cursor, and that of a stream which resumes, is the same although it is one of the past then.
  const { next } = await read(harness, "?limit=1");
  await harness.apply([device("dev:y"), ...noLink(A, B)]);
  const rest = await read(harness, `?limit=1&cursor=${next}`);
  expect(rest.problems).toEqual(problems.slice(1));
  const events = await openEventReader(harness, `${PROBLEMS}?since=${revision}`);
  const changes = await events.readToRevision(harness.view.revision);
  expect(changes.map(({ event, data }) => `${event} ${Object(data.value).id}`).toSorted()).toEqual([
    `added link-lost:${linkOf(A, B)}`,
    "removed device-unknown:dev:y",
  ]);
  await events.close();
});

test("filters, and faults that name what is allowed", async () => {
  const harness = await open({ aliases: ["onos"] });
  await harness.apply(TREE);
  await harness.apply([device(B, false), ...link(A, C, "INACTIVE"), host(1, C)]);
  const idsOf = async (query: string) => (await read(harness, query)).problems.map(({ id }) => id);
  const [down, inactive, moved] = [
    `device-unavailable:${B}`,
    `link-inactive:${linkOf(A, C)}`,
    "host-moved:00:00:00:00:00:01/None",
  ];
  expect(await idsOf("?kind=device-unavailable,host-moved")).toEqual([down, moved]);
  expect(await idsOf("?severity=critical")).toEqual([down, inactive]);
  expect(await idsOf("?resource=links,hosts")).toEqual([inactive, moved]);
  expect(await idsOf("?device=DEV:C")).toEqual([inactive, moved]);
  expect(await idsOf("?source=second")).toEqual([]);
  expect(await idsOf("?source=first&q=00:01")).toEqual([moved]);
  for (const [query, parameter] of [
    ["?kind=link", "kind"],
    ["?severity=bad", "severity"],
    ["?colour=red", "colour"],
    ["?limit=0", "limit"],
    ["?since=1", "since"],
    ["?q=", "q"],
    ["?format=csv", "format"],
    ["?at=99", "at"],
  ] as const) {
    const response = await harness.fetch(PROBLEMS + query);
    expect([query, response.status]).toEqual([query, 400]);
    expect(await response.text()).toContain(parameter);
  }
});

test("pages are of the list of the first one", async () => {
  const harness = await open();
  await harness.apply(TREE);
  await harness.apply([device(B, false), ...noLink(A, C), host(1, C)]);
  const all = (await read(harness)).problems.map(({ id }) => id);
  expect(all).toHaveLength(3);
  const response = await harness.fetch(`${PROBLEMS}?limit=2`);
  const first: Body = await response.json();
  expect(response.headers.get("link")).toContain('rel="next"');
  await harness.apply([device(B, true)]);
  await letPass(harness, 2 * HOUR_MS);
  const second = await harness.fetch(`${PROBLEMS}?limit=2&cursor=${first.next}`);
  expect(second.headers.get("gazetteer-revision")).toBe("2");
  const last: Body = await second.json();
  expect([...first.problems, ...last.problems].map(({ id }) => id)).toEqual(all);
  expect(last.next).toBeUndefined();
  expect(last.counts).toEqual(first.counts);
});

test("what is unchanged is not computed again, and time alone changes the list and its entity tag", async () => {
  const harness = await open();
  await harness.apply(TREE);
  await harness.apply([...noLink(A, C), host(1, C)]);
  const tagOf = async () => (await harness.fetch(PROBLEMS)).headers.get("etag") ?? "";
  const tag = await tagOf();
  const head = await harness.fetch(PROBLEMS, { method: "HEAD" });
  expect([head.status, head.headers.get("etag")]).toEqual([200, tag]);
  const ids = async () => (await read(harness)).problems.map(({ kind }) => kind);
  expect(await ids()).toEqual(["link-lost", "host-moved"]);
  let steps = 0;
  const reads = harness.log.read;
  harness.log.read = (...args) => {
    steps++;
    return reads.apply(harness.log, args);
  };
  expect((await harness.fetch(PROBLEMS, { headers: { "if-none-match": tag } })).status).toBe(304);
  expect(await tagOf()).toBe(tag);
  expect(steps).toBe(0);
  await letPass(harness, HOUR_MS);
  expect(await ids()).toEqual(["link-lost"]);
  expect(await tagOf()).not.toBe(tag);
  await letPass(harness, 23 * HOUR_MS);
  expect(await ids()).toEqual([]);
});

test("the past is as it was then, whatever happened since", async () => {
  const harness = await open();
  await harness.apply(TREE);
  await harness.apply([device(B, false)]);
  await harness.apply(noLink(A, C));
  const [third, live] = [timeNow(harness), await read(harness)];
  await harness.apply([device(B, true), ...link(A, C)]);
  expect(await read(harness)).toMatchObject({ problems: [] });
  expect(await read(harness, "?at=3")).toEqual(live);
  expect(await read(harness, `?at=${third}`)).toEqual(live);
  expect(summary(await read(harness, "?at=2"))).toEqual([`critical device-unavailable:${B} -1/1`]);
  expect(await read(harness, "?at=1")).toMatchObject({ problems: [] });
  const past = await harness.fetch(`${PROBLEMS}?at=2`);
  expect(past.headers.get("gazetteer-revision")).toBe("2");
});

test("a host that is cut off counts once, at its first location, also after a move and in the past", async () => {
  const api = await open();
  const hostAt = (...devices: string[]): ClaimChange => {
    const locations = devices.map((elementId) => ({ elementId, port: "9" }));
    return { op: "set", kind: "hosts", claim: { mac: "00:00:00:00:00:0A", vlan: "None", locations } };
  };
  const cutOff = async (query = "") =>
    Object.fromEntries(
      (await read(api, query)).problems.map(({ id, cutOff: { hostCount } }) => [id, hostCount]),
    );
  const lost = [A, B, C].slice(1).map((id) => `link-lost:${linkOf(A, id)}`);
  await api.apply([...TREE, hostAt(B, C)]);
  await api.apply([...noLink(A, B), ...noLink(A, C)]);
  const before = { [lost[0] ?? ""]: 2, [lost[1] ?? ""]: 1 };
  expect(await cutOff("?kind=link-lost")).toEqual(before);
  const { revision } = api.view;
  await api.apply([hostAt(C, B)]);
  expect(await cutOff("?kind=link-lost")).toEqual({ [lost[0] ?? ""]: 1, [lost[1] ?? ""]: 2 });
  expect(await cutOff(`?kind=link-lost&at=${revision}`)).toEqual(before);
});

test("a problem that comes back has the same id and the new time", async () => {
  const harness = await open();
  await harness.apply(TREE);
  await harness.apply(link(A, C, "INACTIVE"));
  const [first] = (await read(harness)).problems;
  await harness.apply(link(A, C));
  expect((await read(harness)).problems).toEqual([]);
  await harness.apply(link(A, C, "INACTIVE"));
  const [again] = (await read(harness)).problems;
  expect(again?.id).toBe(first?.id ?? "");
  expect(again?.since).toBe(timeNow(harness));
  // A link that is lost and comes back is no problem any more.
  await harness.apply(noLink(A, C));
  expect((await read(harness)).problems.map(({ kind }) => kind)).toEqual(["link-lost"]);
  await harness.apply(link(A, C));
  expect((await read(harness)).problems).toEqual([]);
});

test("the list survives a restart", async () => {
  const data = join(temporaryFolder(), "log.sqlite");
  const clock = new ManualClock();
  const first = await open({ data, clock });
  await first.apply(TREE);
  await first.apply([...noLink(A, C), host(1, B), ...link(A, B, "INACTIVE")]);
  await first.apply([device("dev:d")]);
  const before = await (await first.fetch(PROBLEMS)).text();
  const tag = (await first.fetch(PROBLEMS)).headers.get("etag");
  await first.stop();
  const second = await open({ data, clock });
  const response = await second.fetch(PROBLEMS);
  expect(response.headers.get("etag")).toBe(tag);
  expect(await response.text()).toBe(before);
});

test("the stream has the list, then what changes, also with time alone", async () => {
  const harness = await open();
  await harness.apply(TREE);
  await harness.apply(noLink(A, C));
  const {
    events,
    first: [snapshot, synced],
  } = await openProblemStream(harness);
  expect(snapshot).toMatchObject({
    event: "snapshot",
    data: { resource: "problems", revision: 2, value: { kind: "link-lost" } },
  });
  expect(synced).toMatchObject({ id: `${harness.log.id}.2`, data: { revision: 2 } });
  await harness.apply([device(B, false)]);
  expect(await events.next()).toMatchObject({
    event: "added",
    id: `${harness.log.id}.3`,
    data: { resource: "problems", revision: 3, value: { id: `device-unavailable:${B}` } },
  });
  // A host that comes to what is cut off changes the problem.
  await harness.apply([host(7, C)]);
  expect(await events.next()).toMatchObject({
    event: "updated",
    id: `${harness.log.id}.4`,
    data: { value: { kind: "link-lost", cutOff: { hostCount: 2 } }, changed: ["cutOff"] },
  });
  await harness.apply([device(B, true)]);
  expect(await events.next()).toMatchObject({ event: "removed", id: `${harness.log.id}.5` });
  await letPass(harness, 24 * HOUR_MS);
  expect(await events.next()).toMatchObject({ event: "removed", data: { value: { kind: "link-lost" } } });
  await events.close();
});

test("a stream has one change for all revisions of a second, and the first at once", async () => {
  const harness = await open();
  await harness.apply(TREE);
  const { events } = await openProblemStream(harness);
  const entry = (id: string, revision: number, available: boolean) => {
    const before = harness.view.get("devices", id) ?? null;
    const after = JSON.stringify({ ...JSON.parse(before ?? "{}"), available, revision });
    return { kind: "devices" as const, id, before, after, changed: ["available"] };
  };
  await harness.write([entry(B, 2, false)]);
  expect(await events.next()).toMatchObject({ event: "added", id: `${harness.log.id}.2` });
  // Without time in between: the problem of C begins and ends, and so nothing of it is sent.
  await harness.commit([entry(C, 3, false)]);
  expect((await read(harness)).problems).toHaveLength(2);
  await harness.commit([entry(C, 4, true)]);
  await harness.commit([entry(B, 5, true)]);
  expect(await read(harness)).toMatchObject({ problems: [] });
  await harness.clock.advance(1000);
  expect(await events.next()).toMatchObject({ event: "removed", id: `${harness.log.id}.5` });
  await events.close();
});

test("every stream has each change, while there is one every second", async () => {
  const harness = await open();
  await harness.apply(TREE);
  const { events: first } = await openProblemStream(harness);
  const others = [
    await openEventReader(harness, PROBLEMS),
    await openEventReader(harness, `${PROBLEMS}?severity=critical`),
  ];
  for (const events of others) await events.readUntil(({ event }) => event === "synced");
  const streams = [first, ...others];
  for (const available of [false, true, false, true]) {
    await harness.apply([device(B, available)]);
    for (const events of streams)
      expect(await events.next()).toMatchObject({ event: available ? "removed" : "added" });
  }
  for (const events of streams) await events.close();
});

test("a stream resumes from a revision, and has its filters", async () => {
  const harness = await open();
  await harness.apply(TREE);
  await harness.apply([device(B, false)]);
  await harness.apply([...noLink(A, C), host(1, B)]);
  const events = await openEventReader(harness, `${PROBLEMS}?kind=link-lost,device-unavailable`, {
    "last-event-id": "1",
  });
  const received = await events.readToRevision(3);
  expect(received.map(({ event, data }) => [event, Object(data.value).kind])).toEqual([
    ["added", "device-unavailable"],
    ["added", "link-lost"],
  ]);
  await events.close();
  const head = await harness.fetch(PROBLEMS, { method: "HEAD", headers: { accept: "text/event-stream" } });
  expect(head.headers.get("content-type")).toBe("text/event-stream");
  for (const query of ["?at=1", "?limit=1"])
    expect((await harness.fetch(PROBLEMS + query, { headers: { accept: "text/event-stream" } })).status).toBe(
      400,
    );
});

test("the metric counts them by kind and severity", async () => {
  const harness = await open();
  await harness.apply(TREE);
  await harness.apply([device(B, false), ...link(A, C, "INACTIVE"), host(1, C)]);
  const metrics = await (await harness.fetch("/metrics")).text();
  for (const sample of [
    'kind="device-unavailable",severity="critical"} 1',
    'kind="link-inactive",severity="critical"} 1',
    'kind="link-inactive",severity="major"} 0',
    'kind="drift",severity="warning"} 0',
    'kind="host-moved",severity="notice"} 1',
  ])
    expect(metrics).toContain(`gazetteer_problems{${sample}\n`);
});
