import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { signal } from "@preact/signals";
import { createFakeService, settle } from "../../../test/support/fake-service.ts";
import type { ConnectionState } from "../../client/client.ts";
import type { ShownProblems } from "./problem-store.ts";
import { loadPastProblems } from "./sync-problems.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("problems of the past that failed with the connection are loaded again when that is back", async () => {
  const { client, requests } = createFakeService();
  const past = signal<ShownProblems | undefined>(undefined);
  const connection = signal<ConnectionState>({ state: "reconnecting", afterMs: 1, reason: "" });
  void loadPastProblems({ client, connection, problems: { past } }, "7", new AbortController().signal);
  requests[0]?.fail();
  await settle();
  expect(past.value?.state).toBe("old");
  jest.advanceTimersByTime(60_000);
  await settle();
  expect(requests).toHaveLength(1);
  connection.value = { state: "connected" };
  await settle();
  expect(requests.map(({ path }) => path)).toEqual(Array(2).fill("/controller/v1/topology/problems?at=7"));
  requests[1]?.respond(Response.json({ problems: [], counts: {} }));
  await settle();
  expect(past.value?.state).toBe("current");
});
