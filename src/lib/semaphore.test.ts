import { expect, test } from "bun:test";
import { createSemaphore } from "./semaphore.ts";

test("runs `maxRunning` tasks at a time, queues `maxQueued` and rejects the rest", async () => {
  const semaphore = createSemaphore(2, 3);
  let running = 0;
  let peak = 0;
  const release: (() => void)[] = [];
  const task = async () => {
    running++;
    peak = Math.max(peak, running);
    await new Promise<void>((resolve) => release.push(resolve));
    running--;
  };
  const results = Array.from({ length: 7 }, () => semaphore.run(task));
  expect(results.map((promise) => promise !== undefined)).toEqual([
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
  await Promise.all(results);
  expect(peak).toBe(2);
  expect(running).toBe(0);
});

test("a task that fails frees its slot", async () => {
  const semaphore = createSemaphore(1, 0);
  await expect(semaphore.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await semaphore.run(() => Promise.resolve("yes"))).toBe("yes");
});
