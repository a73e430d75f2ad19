import { expect, test } from "bun:test";
import { ClientGone } from "./handler.ts";

test("the listener is called once, at once when the client is gone already, and not after it is removed", () => {
  const gone = new ClientGone();
  const calls: string[] = [];
  gone.listener = () => calls.push("removed");
  gone.listener = undefined;
  gone.listener = () => calls.push("first");
  gone.report();
  gone.report();
  expect(calls).toEqual(["first"]);
  gone.listener = () => calls.push("late");
  expect(calls).toEqual(["first", "late"]);
});
