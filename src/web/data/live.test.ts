import { expect, test } from "bun:test";
import { createFakeService, settle } from "../../../test/support/fake-service.ts";
import { watchNetwork } from "./live.ts";
import type { PageNetwork } from "./page-network.ts";

const LIST_REVISION = 7;

/** Opens a page while the service has one source. Returns the requests before a response, all requests, and the networks. */
async function open(status: string, revision: number) {
  const { client, requests } = createFakeService();
  const shown: PageNetwork[] = [];
  const end = new AbortController();
  const nothing = () => {};
  const handlers = {
    onReplaced: (network: PageNetwork) => void shown.push(network),
    onChanged: nothing,
    onEarlierChanges: async () => {},
    onConnection: nothing,
    onReceived: nothing,
  };
  void watchNetwork(client, handlers, end.signal);
  await settle();
  const first = requests.map(({ path }) => path);
  const headers = { "gazetteer-revision": String(LIST_REVISION) };
  const readiness = { status: "ready", revision, sources: [{ name: "a", status }] };
  for (let i = 0; i < requests.length; i++) {
    const { path = "", respond } = requests[i] ?? {};
    if (path === "/readyz") respond?.(Response.json(readiness));
    else if (path.includes("count=")) respond?.(Response.json({ counts: {} }, { headers }));
    else if (path.includes("format=ndjson")) respond?.(new Response("", { headers }));
    // The bodies of responses are streams, which need more than promises.
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  }
  end.abort();
  return { first, paths: requests.map(({ path }) => path), shown };
}

const readsDevices = (paths: readonly string[]) => paths.filter((path) => path.includes("/devices?")).length;

test("the lists are requested together with the state of the sources", async () => {
  const { first, paths, shown } = await open("synced", LIST_REVISION);
  expect(first).toHaveLength(4);
  expect(first).toContain("/readyz");
  expect(readsDevices(paths)).toBe(1);
  expect(shown.map(({ isPartial }) => isPartial)).toEqual([false]);
});

test("a network without the entities of a source that has not reported yet is partial", async () => {
  const { shown } = await open("starting", LIST_REVISION + 1);
  expect(shown.map(({ isPartial }) => isPartial)).toEqual([true]);
});

test("lists that are older than the state of the sources are read again before they are shown", async () => {
  const { paths, shown } = await open("synced", LIST_REVISION + 1);
  expect(readsDevices(paths)).toBe(2);
  expect(shown.map(({ isPartial }) => isPartial)).toEqual([false]);
});
