import { expect, test } from "bun:test";
import { signal } from "@preact/signals";
import type { Readiness } from "../../client/client.ts";
import { Network } from "../network.ts";
import { DEFAULT_STATE } from "../state.ts";
import { statusOf } from "./status.tsx";

const storeWith = (readiness: Readiness) => ({
  state: signal(DEFAULT_STATE),
  connection: signal({ state: "connected" as const }),
  network: signal(new Network()),
  readiness: signal<Readiness | undefined>(readiness),
  shownMoments: signal({ at: undefined, compare: undefined }),
  isMomentLoading: signal(false),
});
const cluster = { name: "default", node: "a.1", lag: 0 };

test("a node that follows its cluster is live; one that cannot says how old its view may be", () => {
  expect(statusOf(storeWith({ status: "ready", cluster }))).toEqual({ level: "live", text: "Live" });
  const stale = { ...cluster, staleSeconds: 12, condition: "unreachable" };
  expect(statusOf(storeWith({ status: "degraded", cluster: stale }))).toEqual({
    level: "stale",
    text: "May be 12 s old",
  });
});
