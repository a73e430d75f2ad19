import { expect, test } from "bun:test";
import { withoutPauses } from "../lib/steps.ts";
import type { Batch, Log } from "../log/log.ts";
import { HistoryPruned, readAll } from "./read-all.ts";
import { createReplicaLog } from "./replica.ts";

const batchOf = (revision: number): Batch => ({ revision, time: revision, entries: [] });
const logWith = (batches: readonly Batch[]): Log => ({
  ...createReplicaLog("log", new Uint8Array()),
  read: () => batches,
});
const revisionsIn = (log: Log, from: number, to: number) =>
  Array.from(withoutPauses(readAll(log, from, to)), ({ revision }) => revision);

test("returns the batches of a range", () => {
  expect(revisionsIn(logWith([3, 4, 5].map(batchOf)), 2, 5)).toEqual([3, 4, 5]);
});

test("throws when batches at the beginning, in the middle or at the end were pruned", () => {
  for (const left of [[4, 5], [3, 5], [3, 4], []])
    expect(() => revisionsIn(logWith(left.map(batchOf)), 2, 5)).toThrow(HistoryPruned);
});
