/** The list of nodes: who is lost, by the time of NATS, and that a node has one entry over all of its runs. */
import { expect, test } from "bun:test";
import type { KvEntry } from "@nats-io/kv";
import { type NodeStatus, seenNodes } from "./nodes.ts";

const START = Date.parse("2026-11-17T01:00:00Z");

const entry = (nodeName: string, writtenAtMs: number): KvEntry => {
  const status: NodeStatus = {
    node: `${nodeName}.1`,
    nodeName,
    url: "http://127.0.0.1:8181",
    version: "0.1.0",
    revision: 1,
    sequence: 1,
    sources: [],
    held: [],
    startedAt: START,
  };
  const text = JSON.stringify(status);
  const value = new TextEncoder().encode(text);
  return {
    bucket: "nodes",
    key: nodeName,
    rawKey: nodeName,
    value,
    created: new Date(START + writtenAtMs),
    revision: 1,
    operation: "PUT",
    length: value.length,
    json: <T>() => JSON.parse(text) as T,
    string: () => text,
  };
};

const shown = (entries: readonly KvEntry[], now: number) =>
  seenNodes(entries, now).map(({ nodeName, ageMs, lostSince }) => [nodeName, ageMs, lostSince]);

test("a node that has not written for 16 seconds is lost since its last write", () => {
  const entries = [entry("b", 0), entry("a", 20_000)];
  expect(shown(entries, START + 16_000)).toEqual([
    ["a", 0, undefined],
    // The clock of the machine is behind: NATS has written at 20 s.
    ["b", 20_000, START],
  ]);
  expect(shown([entry("b", 0)], START + 16_000)).toEqual([["b", 16_000, undefined]]);
  expect(shown([entry("b", 0)], START + 86_400_000)).toEqual([["b", 86_400_000, START]]);
});
