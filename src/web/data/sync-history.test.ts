import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { signal } from "@preact/signals";
import { createFakeService, settle } from "../../../test/support/fake-service.ts";
import type { Client, ConnectionState } from "../../client/client.ts";
import type { RevisionTime } from "../../client/types.ts";
import { Network } from "./loaded-network.ts";
import type { Comparison } from "./network-history.ts";
import { syncHistory } from "./sync-history.ts";
import { DEFAULT_STATE, type ViewState } from "./view-state.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const DIFF = { from: { revision: 1, time: 1000 }, to: { revision: 2, time: 2000 }, changes: [] };

const historyStore = (client: Client, state: Partial<ViewState>) => ({
  client,
  state: signal({ ...DEFAULT_STATE, ...state }),
  live: signal<Network | undefined>(new Network()),
  past: signal<Network | undefined>(undefined),
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
