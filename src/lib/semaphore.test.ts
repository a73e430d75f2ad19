import { expect, test } from "bun:test";
import { createSemaphore } from "./semaphore.ts";

test("runs so many at a time, lets so many wait and turns the rest away", async () => {
  const gate = createSemaphore(2, 3);
  let running = 0;
  let most = 0;
  const release: (() => void)[] = [];
  const task = async () => {
    running++;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => release.push(resolve));
    running--;
  };
  const entered = Array.from({ length: 7 }, () => gate.run(task));
  expect(entered.map((promise) => promise !== undefined)).toEqual([
    true,
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
  for (let done = 0; done < 5; done++) {
    release.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(entered);
  expect(most).toBe(2);
  expect(running).toBe(0);
});

test("a task that fails leaves its place", async () => {
  const gate = createSemaphore(1, 0);
  await expect(gate.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await gate.run(() => Promise.resolve("yes"))).toBe("yes");
});
