import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { signal } from "@preact/signals";
import { createClient } from "../client/client.ts";
import type { RevisionTime } from "../client/types.ts";
import type { Comparison } from "./history.ts";
import { Network } from "./network.ts";
import { DEFAULT_STATE, type ViewState } from "./state.ts";
import { syncHistory } from "./sync-history.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const DIFF = { from: { revision: 1, time: 1000 }, to: { revision: 2, time: 2000 }, changes: [] };

/** A service whose responses the test sends one by one. */
function fakeService() {
  const requests: { readonly signal: AbortSignal; respond(response: Response): void }[] = [];
  const client = createClient({
    url: "http://service.test",
    fetch: (_url, { signal }) => {
      const { promise, resolve } = Promise.withResolvers<Response>();
      if (signal) requests.push({ signal, respond: resolve });
      return promise;
    },
  });
  return { client, requests };
}

function historyStore(client: ReturnType<typeof createClient>, state: Partial<ViewState>) {
  return {
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
  };
}

/** Until all promises that can be resolved are: none of them waits for a timer. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

test("a comparison with now that takes longer than the network needs to change is not aborted", async () => {
  const { client, requests } = fakeService();
  const store = historyStore(client, { compare: "1" });
  const reload = syncHistory(store);
  for (let i = 0; i < 5; i++) {
    reload();
    await settle();
    jest.advanceTimersByTime(2500);
  }
  expect(requests).toHaveLength(1);
  expect(requests[0]?.signal.aborted).toBe(false);
  requests[0]?.respond(Response.json(DIFF));
  await settle();
  expect(store.comparison.value).toBeDefined();
  jest.advanceTimersByTime(2500);
  await settle();
  expect(requests).toHaveLength(2);
});
