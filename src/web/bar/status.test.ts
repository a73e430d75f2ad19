import { expect, test } from "bun:test";
import { signal } from "@preact/signals";
import type { Readiness } from "../../client/client.ts";
import type { SourceStatus } from "../../model/source-status.ts";
import { PageNetwork } from "../data/page-network.ts";
import { DEFAULT_STATE } from "../data/view-state.ts";
import { outOfDateText, statusOf } from "./status.tsx";

const storeWith = (readiness: Readiness) => ({
  state: signal(DEFAULT_STATE),
  connection: signal({ state: "connected" as const }),
  network: signal(new PageNetwork()),
  readiness: signal<Readiness | undefined>(readiness),
  shownMoments: signal({ at: undefined, compare: undefined }),
  isMomentLoading: signal(false),
  timeOf: () => undefined,
});
const cluster = { name: "default", node: "a.1", lag: 0 };

test("a source that fails is called so, also where another node runs it, and one that starts is not stale", () => {
  const source = { name: "plan", kind: "file", since: 0, restarts: 0 };
  const textOf = (...sources: SourceStatus[]) => statusOf(storeWith({ status: "degraded", sources })).text;
  expect(textOf({ ...source, status: "synced" })).toBe("Live");
  expect(textOf({ ...source, status: "starting" })).toBe("plan starting");
  expect(textOf({ ...source, status: "starting", error: "no such file" })).toBe("plan failed");
  expect(textOf({ ...source, status: "stale", error: "no such file" })).toBe("plan failed");
  expect(textOf({ ...source, status: "standby" })).toBe("Live");
  expect(textOf({ ...source, status: "standby", failedSince: 1, error: "no such file" })).toBe("plan failed");
  const others = [{ ...source, name: "other", status: "starting" as const }];
  expect(textOf({ ...source, status: "stale", error: "x" }, ...others)).toBe("2 sources not up to date");
});

test("a node that follows its cluster is live; one that cannot says how old its view may be", () => {
  expect(statusOf(storeWith({ status: "ready", cluster }))).toEqual({ level: "live", text: "Live" });
  const stale = { ...cluster, staleSeconds: 12, condition: "unreachable" };
  expect(statusOf(storeWith({ status: "degraded", cluster: stale }))).toEqual({
    level: "stale",
    text: "May be 12 s old",
  });
});

test("the present that is not current has a note: without a connection, and without a login", () => {
  const textOf = (lostSince: number | undefined, needsLogin: boolean, at?: string) =>
    outOfDateText({
      state: signal({ ...DEFAULT_STATE, at }),
      lostSince: signal(lostSince),
      network: signal(new PageNetwork()),
      session: { needsLogin: signal(needsLogin) },
    });
  expect(textOf(undefined, false)).toBeUndefined();
  expect(textOf(undefined, true)).toBe("Not logged in: this may be out of date");
  expect(textOf(0, true)).toMatch(/^No connection since .*: this is the network of that time$/);
  expect(textOf(0, true, "7")).toBeUndefined();
});
