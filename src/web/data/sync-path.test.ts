import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { signal } from "@preact/signals";
import { createFakeService, settle } from "../../../test/support/fake-service.ts";
import type { ConnectionState } from "../../client/client.ts";
import { Network } from "./loaded-network.ts";
import type { LoadedPath } from "./shown-path.ts";
import { syncPath } from "./sync-path.ts";
import { DEFAULT_STATE, type EntityRef } from "./view-state.ts";

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
    network: signal(new Network()),
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
