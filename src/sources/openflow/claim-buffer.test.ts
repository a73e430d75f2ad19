import { expect, test } from "bun:test";
import { systemClock } from "../../lib/clock.ts";
import type { ClaimChange } from "../../model/claim.ts";
import { ClaimBook } from "./claim-buffer.ts";

const link = (state: "ACTIVE" | "INACTIVE") => ({
  src: { device: "of:1", port: "1" },
  dst: { device: "of:2", port: "2" },
  state,
});

test("what changes while the sink is busy is told once, as it is then: what ended, then the rest in its order", async () => {
  const book = new ClaimBook();
  const told: string[][] = [];
  const life = new AbortController();
  let release = () => {};
  const sink = {
    replace: async () => {},
    async apply(changes: readonly ClaimChange[]) {
      told.push(changes.map((change) => `${change.op} ${change.kind}`));
      if (told.length === 1) {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      } else if (told.length === 3) life.abort();
    },
  };
  book.setDevice({ id: "of:1" });
  const telling = book.tell(sink, systemClock, life.signal);
  await new Promise((resolve) => setTimeout(resolve));
  book.setLink(link("ACTIVE"));
  book.setDevice({ id: "of:2" });
  book.setLink(link("INACTIVE"));
  book.remove("devices", "of:1");
  book.remove("devices", "of:9"); // was never there
  release();
  await telling;
  expect(told).toEqual([["set devices"], ["remove devices"], ["set devices", "set links"]]);
  expect([...(book.all().links ?? [])]).toEqual([link("INACTIVE")]);
});

test("ports go with their device", () => {
  const book = new ClaimBook();
  for (const port of ["1", "2", "3"]) book.setPort({ element: "of:1", port });
  book.setPort({ element: "of:2", port: "1" });
  book.removePorts("of:1", new Set(["of:1/2"]));
  expect([...(book.all().ports ?? [])].map(({ element, port }) => `${element}/${port}`)).toEqual([
    "of:1/2",
    "of:2/1",
  ]);
});
