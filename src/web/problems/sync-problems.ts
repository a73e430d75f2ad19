/**
 * Keeps the lists of problems up to date. The current list comes over a stream while the page is visible. A hidden page
 * polls instead, because a browser opens only six connections to one address, and all its windows share them. The list of
 * a past moment is read only when playback pauses, because the service computes it for each moment.
 */
import { computed, effect, signal } from "@preact/signals";
import type { Client, ConnectionState } from "../../client/client.ts";
import { systemClock } from "../../lib/clock.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { loadWithRetry, reasonOf, throttle } from "../data/pacing.ts";
import type { PageStore } from "../data/page-store.ts";
import type { ProblemStore, ShownProblems } from "./problem-store.ts";

/** The list is shown at most this often while it changes. */
const PUBLISH_INTERVAL_MS = 200;
const POLL_INTERVAL_MS = 10_000;
/** The pause after an error for which the client does not retry. */
const RETRY_MS = 10_000;

export function syncProblems(store: PageStore): void {
  const { client, state, problems } = store;
  const { live, past } = problems;
  const isHidden = signal(document.hidden);
  document.addEventListener("visibilitychange", () => {
    isHidden.value = document.hidden;
  });
  effect(() => {
    const end = new AbortController();
    let newest = live.peek();
    const publish = throttle(PUBLISH_INTERVAL_MS, () => {
      if (!end.signal.aborted) live.value = newest;
    });
    const reader: Reader = {
      client,
      signal: end.signal,
      received(list) {
        newest = currentList(list);
        // The first layout waits for the first list.
        if (live.peek().state === "loading") live.value = newest;
        else publish();
      },
      failed(reason) {
        newest = { ...newest, state: "old", reason };
        publish();
      },
    };
    void (isHidden.value ? poll(reader) : follow(reader));
    return () => end.abort();
  });

  const pausedAt = computed(() => (state.value.play ? undefined : state.value.at));
  effect(() => {
    past.value = undefined;
    if (pausedAt.value === undefined) return;
    const end = new AbortController();
    void loadPastProblems(store, pausedAt.value, end.signal);
    return () => end.abort();
  });
}

type PastStore = Pick<PageStore, "client" | "connection"> & { readonly problems: Pick<ProblemStore, "past"> };

/** Loads the problems of a past moment, and loads them again when a lost connection is back. */
export async function loadPastProblems(
  { client, connection, problems: { past } }: PastStore,
  at: string,
  signal: AbortSignal,
): Promise<void> {
  await loadWithRetry(connection, signal, () => client.problems({ at }, { signal }), {
    onLoaded: (result) => {
      past.value = currentList(result.problems);
    },
    onFailed: (reason) => {
      past.value = { problems: [], state: "old", reason };
    },
  });
}

const currentList = (problems: readonly NetworkProblem[]): ShownProblems => ({
  problems,
  state: "current",
  receivedMs: Date.now(),
});

interface Reader {
  readonly client: Client;
  readonly signal: AbortSignal;
  received(problems: readonly NetworkProblem[]): void;
  failed(reason: string): void;
}

async function follow({ client, signal, received, failed }: Reader): Promise<void> {
  const onState = (connection: ConnectionState) => {
    if (connection.state === "reconnecting") failed(connection.reason);
  };
  while (!signal.aborted) {
    try {
      for await (const { problems } of client.watchProblems({}, { signal, onState })) received(problems);
    } catch (error) {
      failed(reasonOf(error));
    }
    await systemClock.sleep(RETRY_MS, signal);
  }
}

async function poll({ client, signal, received, failed }: Reader): Promise<void> {
  while (!signal.aborted) {
    await client.problems({}, { signal }).then(
      ({ problems }) => received(problems),
      (error) => failed(reasonOf(error)),
    );
    await systemClock.sleep(POLL_INTERVAL_MS, signal);
  }
}
