/** How the position of a watch advances. */
import { expect, test } from "bun:test";
import { WatchState } from "./watch-state.ts";

const added = (revision: number, id: string) =>
  JSON.stringify({ resource: "devices", revision, time: 1, value: { id } });

test("the id of a revision without a change does not complete the next one, whose first change comes with it", () => {
  const state = new WatchState(["devices"], 13);
  // The id 14 was of a record without data.
  expect([
    ...state.receive({ event: "added", data: added(15, "a"), lastEventId: "log.1.14", hasId: false }),
  ]).toEqual([]);
  expect(state.since).toBe(14);
  const events = [
    ...state.receive({ event: "added", data: added(15, "b"), lastEventId: "log.1.15", hasId: true }),
  ];
  expect(events).toMatchObject([
    { revision: 15, value: { id: "a" }, last: false },
    { revision: 15, value: { id: "b" }, last: true },
  ]);
  expect(state.since).toBe(15);
});
