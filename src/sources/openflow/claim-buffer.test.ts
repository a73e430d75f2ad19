import { expect, test } from "bun:test";
import { systemClock } from "../../lib/clock.ts";
import type { ClaimChange } from "../../model/claim.ts";
import { ClaimBuffer } from "./claim-buffer.ts";

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
