import { expect, test } from "bun:test";
import fc from "fast-check";
import { systemClock } from "../../lib/clock.ts";
import type { ClaimChange } from "../../model/claim.ts";
import { ClaimBuffer, FairQueue } from "./claim-buffer.ts";

const link = (state: "ACTIVE" | "INACTIVE") => ({
  src: { device: "of:1", port: "1" },
  dst: { device: "of:2", port: "2" },
  state,
});

test("changes queued while the sink is busy are sent once, in their latest form: removals first, then the rest in order", async () => {
  const buffer = new ClaimBuffer();
  const sent: string[][] = [];
  const abort = new AbortController();
  let release = () => {};
  const sink = {
    replace: async () => {},
    async apply(changes: readonly ClaimChange[]) {
      sent.push(changes.map((change) => `${change.op} ${change.kind}`));
      if (sent.length === 1) {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      } else if (sent.length === 3) abort.abort();
    },
    reject: () => {},
  };
  buffer.setDevice({ id: "of:1" });
  const sending = buffer.sendChanges(sink, systemClock, abort.signal);
  await new Promise((resolve) => setTimeout(resolve));
  buffer.setLink(link("ACTIVE"));
  buffer.setDevice({ id: "of:2" });
  buffer.setLink(link("INACTIVE"));
  buffer.remove("devices", "of:1");
  buffer.remove("devices", "of:9"); // does not exist
  release();
  await sending;
  expect(sent).toEqual([["set devices"], ["remove devices"], ["set devices", "set links"]]);
  expect([...(buffer.all().links ?? [])]).toEqual([link("INACTIVE")]);
});

test("removePorts removes the ports of one device except those to keep", () => {
  const buffer = new ClaimBuffer();
  for (const port of ["1", "2", "3"]) buffer.setPort({ element: "of:1", port });
  buffer.setPort({ element: "of:2", port: "1" });
  buffer.removePorts("of:1", new Set(["of:1/2"]));
  expect([...(buffer.all().ports ?? [])].map(({ element, port }) => `${element}/${port}`)).toEqual([
    "of:1/2",
    "of:2/1",
  ]);
});

test("an owner with one item does not wait for those of an owner with thousands", () => {
  const queue = new FairQueue<string>();
  for (let i = 0; i < 5000; i++) queue.add("flood", `f${i}`, `f${i}`);
  queue.add("other", "x", "x");
  expect(queue.take(256)).toContain("x");
});

test("every item is returned once, in its latest form, and in order within its owner", () => {
  const additions = fc.array(fc.tuple(fc.nat(3), fc.nat(20)), { maxLength: 300 });
  fc.assert(
    fc.property(additions, fc.integer({ min: 1, max: 100 }), (list, count) => {
      const queue = new FairQueue<{ owner: number; at: number }>();
      const latest = new Map<number, { owner: number; at: number }>();
      for (const [at, [owner, key]] of list.entries()) {
        queue.add(String(owner), String(key), { owner, at });
        latest.set(key, { owner, at });
      }
      const taken: { owner: number; at: number }[] = [];
      while (queue.size > 0) taken.push(...queue.take(count));
      const byTime = (items: Iterable<{ owner: number; at: number }>) =>
        [...items].sort((a, b) => a.at - b.at);
      expect(byTime(taken)).toEqual(byTime(latest.values()));
      for (const owner of [0, 1, 2, 3]) {
        const ofOwner = taken.filter((item) => item.owner === owner);
        expect(ofOwner).toEqual(byTime(ofOwner));
      }
    }),
  );
});
