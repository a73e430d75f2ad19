import { expect, test } from "bun:test";
import { Turns } from "./turns.ts";

test("one task runs at a time, and an owner with many tasks delays another by one", async () => {
  const turns = new Turns();
  const order: string[] = [];
  let running = 0;
  const run = (owner: string, name: string) =>
    turns.run(owner, async () => {
      expect(++running).toBe(1);
      await Promise.resolve();
      order.push(name);
      running--;
    });
  await Promise.all([
    run("a", "a1"),
    run("a", "a2"),
    run("a", "a3"),
    run("b", "b1"),
    run("b", "b2"),
    run("c", "c1"),
  ]);
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
});

test("a task that fails passes the turn on", async () => {
  const turns = new Turns();
  const failing = turns.run("a", () => Promise.reject(new Error("no")));
  const next = turns.run("b", async () => "done");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("done");
});
