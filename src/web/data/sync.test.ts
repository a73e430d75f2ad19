import { afterEach, beforeEach, expect, jest, setSystemTime, test } from "bun:test";
import { signal } from "@preact/signals";
import { createFakeService, settle } from "../../../test/support/fake-service.ts";
import type { Client, ConnectionState } from "../../client/client.ts";
import type { RevisionTime } from "../../client/types.ts";
import type { Comparison } from "./load-network.ts";
import { PageNetwork } from "./page-network.ts";
import type { LoadedPath } from "./shown-path.ts";
import { loadRepeatedly, setConnection, syncHistory, syncPath } from "./sync.ts";
import { DEFAULT_STATE, type EntityRef, type ViewState } from "./view-state.ts";

afterEach(() => void setSystemTime());

test("the connection is lost since the first failure, until there is one again", () => {
  const store = {
    connection: signal<ConnectionState>({ state: "connecting" }),
    lostSince: signal<number | undefined>(undefined),
  };
  const lostAt = (ms: number, next: ConnectionState, receivedMs?: number) => {
    setSystemTime(ms);
    setConnection(store, next, receivedMs);
    return store.lostSince.value;
  };
  const lost: ConnectionState = { state: "reconnecting", afterMs: 500, reason: "" };
  expect(lostAt(1000, { state: "connected" })).toBeUndefined();
  expect(lostAt(2000, lost)).toBe(2000);
  expect(lostAt(3000, { state: "connecting" })).toBe(2000);
  expect(lostAt(4000, lost)).toBe(2000);
  expect(lostAt(5000, { state: "connected" })).toBeUndefined();
  // A silent connection is noticed some time after the last data.
  expect(lostAt(50_000, lost, 6000)).toBe(6000);
});

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("a value is loaded at intervals, but not while it is being loaded", async () => {
  const connection = signal<ConnectionState>({ state: "connecting" });
  const loads: PromiseWithResolvers<void>[] = [];
  loadRepeatedly({ connection }, 1000, () => {
    const load = Promise.withResolvers<void>();
    loads.push(load);
    return load.promise;
  });
  jest.advanceTimersByTime(5000);
  connection.value = { state: "connected" };
  expect(loads).toHaveLength(1);
  loads[0]?.reject(new Error("no response"));
  await settle();
  jest.advanceTimersByTime(1000);
  expect(loads).toHaveLength(2);
});

test("a value that is loaded is loaded again when a lost connection is back, but not at the first connection", async () => {
  const connection = signal<ConnectionState>({ state: "connecting" });
  let loads = 0;
  loadRepeatedly({ connection }, 1000, async () => void loads++);
  await settle();
  connection.value = { state: "connected" };
  expect(loads).toBe(1);
  connection.value = { state: "reconnecting", afterMs: 500, reason: "" };
  connection.value = { state: "connecting" };
  connection.value = { state: "connected" };
  expect(loads).toBe(2);
});

test("a value that could not be loaded is loaded again when there is a connection", async () => {
  const connection = signal<ConnectionState>({ state: "connecting" });
  let loads = 0;
  loadRepeatedly({ connection }, 1000, async () => {
    loads++;
    throw new Error("no response");
  });
  await settle();
  connection.value = { state: "connected" };
  expect(loads).toBe(2);
});

const DIFF = { from: { revision: 1, time: 1000 }, to: { revision: 2, time: 2000 }, changes: [] };

const historyStore = (client: Client, state: Partial<ViewState>) => ({
  client,
  state: signal({ ...DEFAULT_STATE, ...state }),
  live: signal<PageNetwork | undefined>(new PageNetwork()),
  past: signal<PageNetwork | undefined>(undefined),
  pastMoment: signal<RevisionTime | undefined>(undefined),
  comparison: signal<Comparison | undefined>(undefined),
  problem: signal<string | undefined>(undefined),
  loading: signal(false),
  shownMoments: signal<Pick<ViewState, "at" | "compare">>({ at: undefined, compare: undefined }),
  networkVersion: signal(0),
  connection: signal<ConnectionState>({ state: "connected" }),
});

test("a comparison with now that takes longer than the network needs to change is not aborted", async () => {
  const { client, requests } = createFakeService();
  const store = historyStore(client, { compare: "1" });
  const reload = syncHistory(store);
  for (let i = 0; i < 5; i++) {
    reload();
    await settle();
    jest.advanceTimersByTime(2500);
  }
  expect(requests).toHaveLength(1);
  expect(requests[0]?.signal?.aborted).toBe(false);
  requests[0]?.respond(Response.json(DIFF));
  await settle();
  expect(store.comparison.value).toBeDefined();
  jest.advanceTimersByTime(2500);
  await settle();
  expect(requests).toHaveLength(2);
});

test("a moment that failed with the connection is loaded again when that is back, a refused one is not", async () => {
  const { client, requests } = createFakeService();
  const store = historyStore(client, { compare: "1" });
  syncHistory(store);
  store.connection.value = { state: "reconnecting", afterMs: 1, reason: "" };
  requests[0]?.fail();
  await settle();
  expect(store.problem.value).toContain("service.test");
  jest.advanceTimersByTime(60_000);
  await settle();
  expect(requests).toHaveLength(1);
  store.connection.value = { state: "connected" };
  await settle();
  expect(requests).toHaveLength(2);
  expect(store.problem.value).toBeUndefined();
  requests[1]?.respond(new Response("", { status: 410 }));
  await settle();
  expect(store.problem.value).toBeDefined();
  jest.advanceTimersByTime(60_000);
  await settle();
  expect(requests).toHaveLength(2);
});

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("a path of the past that failed with the connection is loaded again when that is back", async () => {
  const { client, requests } = createFakeService();
  const end = (id: string): EntityRef => ({ kind: "devices", id });
  const store = {
    client,
    state: signal({ ...DEFAULT_STATE, at: "7", path: [end("a"), end("b")] as const }),
    path: signal<LoadedPath | undefined>(undefined),
    pathLoading: signal(false),
    pathFault: signal<string | undefined>(undefined),
    network: signal(new PageNetwork()),
    networkVersion: signal(0),
    connection: signal<ConnectionState>({ state: "reconnecting", afterMs: 1, reason: "" }),
  };
  syncPath(store);
  requests[0]?.fail();
  await settle();
  expect(store.pathFault.value).toContain("service.test");
  jest.advanceTimersByTime(60_000);
  await settle();
  expect(requests).toHaveLength(1);
  store.connection.value = { state: "connected" };
  await settle();
  const explanation = { count: 0, devices: [], links: [] };
  requests[1]?.respond(Response.json(explanation));
  await settle();
  expect(requests).toHaveLength(2);
  expect(store.pathFault.value).toBeUndefined();
  expect(store.path.value).toBeDefined();
});
