/**
 * Claims that arrived as batches of bytes: as iterables that parse one batch at a time and then drop it, so that a large
 * set is never in memory as objects; or as a list of changes, for sets that are small.
 *
 * They are not validated here: the thread has done that, and the sink of the service does it again.
 */
import type { ClaimChange, Claims, ClaimTypes } from "../../model/claim.ts";
import type { Kind } from "../../model/ids.ts";
import type { BatchReport } from "./protocol.ts";

const decoder = new TextDecoder();

/** Empties `batches`, so that each is dropped once it is parsed. Each kind can be iterated once. */
export function takeClaims(batches: BatchReport[]): Claims {
  const byKind = Map.groupBy(batches.splice(0), ({ kind }) => kind);
  const parse = <K extends Kind>(kind: K) => parseBatches<K>(byKind.get(kind) ?? []);
  return {
    devices: parse("devices"),
    ports: parse("ports"),
    links: parse("links"),
    hosts: parse("hosts"),
  };
}

function* parseBatches<K extends Kind>(batches: BatchReport[]): Generator<ClaimTypes[K]> {
  batches.reverse();
  for (let batch = batches.pop(); batch; batch = batches.pop()) {
    const claims: readonly ClaimTypes[K][] = JSON.parse(decoder.decode(batch.json));
    yield* claims;
  }
}

/** Other work runs between two batches. */
export async function changesIn(batches: readonly BatchReport[]): Promise<ClaimChange[]> {
  const changes: ClaimChange[] = [];
  for (const [index, { op, kind, json }] of batches.entries()) {
    if (index > 0) await new Promise((resolve) => setImmediate(resolve));
    for (const item of JSON.parse(decoder.decode(json))) {
      changes.push(op === "remove" ? { op, kind, id: item } : { op, kind, claim: item });
    }
  }
  return changes;
}
