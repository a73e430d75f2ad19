import { expect, test } from "bun:test";
import { SlicedWork } from "./sliced-work.ts";

test("an exception is reported, and the next request runs the work again", () => {
  const events: string[] = [];
  let fails = true;
  const work = new SlicedWork(
    function* () {
      yield;
      if (fails) throw new Error("a step failed");
      events.push("done");
    },
    (error) => events.push(String(error)),
  );
  work.request();
  fails = false;
  work.request();
  expect(events).toEqual(["Error: a step failed", "done"]);
});
