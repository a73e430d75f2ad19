/** What tests of a cluster's log write, and what they compare. */
import { expect } from "bun:test";
import { silentLogger } from "../../src/lib/logger.ts";
import { ClaimIngest } from "../../src/view/claim-ingest.ts";
import { storedBy } from "../support/view-contents.ts";
import type { LogNode } from "./log-nodes.ts";

export const logger = silentLogger;
export const never = new AbortController().signal;
export const device = (id: number) => ({ id: `of:${id.toString(16).padStart(16, "0")}` });
export const setDevice = (id: number) => ({
  op: "set" as const,
  kind: "devices" as const,
  claim: device(id),
});

/** Takes over `source`. What is returned writes the devices from `from` to before `to`, each in a commit. */
export async function writer(
  node: LogNode,
  source = "a",
): Promise<(from: number, to: number) => Promise<void>> {
  await node.log.takeOver(source, never);
  const ingest = new ClaimIngest(node.committer, source, logger);
  return async (from, to) => {
    for (let id = from; id < to; id++) await ingest.apply([setDevice(id)]);
  };
}

export function expectSame(node: LogNode, other: LogNode): void {
  expect(storedBy(node.committer.view)).toEqual(storedBy(other.committer.view));
  expect(node.committer.view.revision).toBe(other.committer.view.revision);
  expect(node.committer.view.versions).toEqual(other.committer.view.versions);
  expect(node.log.id).toBe(other.log.id);
  expect(node.log.signingKey).toEqual(other.log.signingKey);
}
