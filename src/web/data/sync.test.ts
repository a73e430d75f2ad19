import { afterEach, expect, setSystemTime, test } from "bun:test";
import { signal } from "@preact/signals";
import type { ConnectionState } from "../../client/client.ts";
import { setConnection } from "./sync.ts";

afterEach(() => void setSystemTime());

test("the connection is lost since the first failure, until there is one again", () => {
  const store = {
    connection: signal<ConnectionState>({ state: "connecting" }),
    lostSince: signal<number | undefined>(undefined),
  };
  const lostAt = (ms: number, next: ConnectionState) => {
    setSystemTime(ms);
    setConnection(store, next);
    return store.lostSince.value;
  };
  const lost: ConnectionState = { state: "reconnecting", afterMs: 500, reason: "" };
  expect(lostAt(1000, { state: "connected" })).toBeUndefined();
  expect(lostAt(2000, lost)).toBe(2000);
  expect(lostAt(3000, { state: "connecting" })).toBe(2000);
  expect(lostAt(4000, lost)).toBe(2000);
  expect(lostAt(5000, { state: "connected" })).toBeUndefined();
});
