import { expect, test } from "bun:test";
import { ConnectionHarness, get } from "../../test/support/connection-harness.ts";
import { ConnectionPool } from "./listener.ts";

test("anonymous connections that hold received bytes are closed, the oldest first, until the bytes are within the bound", () => {
  const pool = new ConnectionPool();
  const harnesses = Array.from({ length: 5 }, () => new ConnectionHarness());
  const [silent, first, second, third, authenticated] = harnesses;
  for (const { connection } of harnesses) pool.add(connection);
  for (const harness of [first, second, third]) harness?.receive(get("/refused").repeat(10));
  authenticated?.receive(get("/a").repeat(100));
  if (authenticated) pool.onAuthenticated(authenticated.connection);
  let bytes = 150;
  for (const harness of harnesses)
    harness.socket.onClose = () => {
      pool.delete(harness.connection);
      bytes -= 30;
    };
  expect(pool.evictHolders(() => bytes > 100)).toBe(2);
  expect(harnesses.map(({ socket }) => socket.calls)).toEqual([[], ["terminate"], ["terminate"], [], []]);
  expect(silent?.socket.calls).toEqual([]);
  expect(pool.size).toBe(3);
});
