/**
 * Cursors: the position between two pages of a list, and the revision of the list. A cursor is opaque to clients. It is
 * signed with the key of the log, so that an altered one is a fault, and one from before a restart stays valid.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Steps } from "../lib/steps.ts";
import type { CollectionVersions } from "../log/log.ts";
import type { Kind } from "../model/ids.ts";
import type { History } from "../view/history.ts";
import type { NetworkState } from "../view/view.ts";
import { QueryFault } from "./fault.ts";
import type { ParsedQuery } from "./query.ts";

export interface Cursor {
  readonly revision: number;
  /** The last id of the previous page; on a sorted list, the number of entities before the next page. */
  readonly after: string | number;
}

const SIGNATURE_BYTES = 16;
export const MAX_CURSOR_CHARS = 2048;

/** The text that the signature covers besides the cursor, so that a cursor is valid only for the list it was made for. */
export const cursorScope = (kind: Kind, { fingerprint }: ParsedQuery): string => `${kind} ${fingerprint}`;

export function encodeCursor(cursor: Cursor, scope: string, secret: Uint8Array): string {
  const payload = Buffer.from(JSON.stringify([cursor.revision, cursor.after]));
  return Buffer.concat([sign(payload, scope, secret), payload]).toString("base64url");
}

export function decodeCursor(text: string, scope: string, secret: Uint8Array): Cursor | QueryFault {
  const bytes = Buffer.from(text, "base64url");
  const payload = bytes.subarray(SIGNATURE_BYTES);
  const expected = sign(payload, scope, secret);
  const signature = bytes.subarray(0, SIGNATURE_BYTES);
  // Base64 has several encodings of the same bytes; only the one that `encodeCursor` writes is accepted.
  const isCanonical = text.length <= MAX_CURSOR_CHARS && bytes.toString("base64url") === text;
  if (!isCanonical || signature.length !== SIGNATURE_BYTES || !timingSafeEqual(signature, expected)) {
    return new QueryFault(
      "bad-cursor",
      "cursor",
      "The cursor was not made by this service for this query. Pass `next` as it came and keep the other parameters the same, or leave the cursor out to begin again.",
    );
  }
  const [revision, after]: [number, string | number] = JSON.parse(payload.toString());
  return { revision, after };
}

const sign = (payload: Uint8Array, scope: string, secret: Uint8Array): Buffer =>
  createHmac("sha256", secret)
    .update(scope)
    .update("\0")
    .update(payload)
    .digest()
    .subarray(0, SIGNATURE_BYTES);

/** Returns the last revision that changed what the pages of a cursor show, given the versions of a state. */
export type ChangedAt = (versions: CollectionVersions) => number;

/**
 * A state from which the pages of a cursor can be read: at the cursor's revision, or at a later one if what they show did
 * not change in between. So a cursor does not depend on the history that a node keeps, and paging through a list that does
 * not change needs no history.
 */
export function* stateOfCursor(
  history: History,
  { revision }: Cursor,
  changedAt: ChangedAt,
): Steps<NetworkState | QueryFault> {
  const { view, log } = history;
  if (revision <= view.revision && changedAt(view.versions) <= revision) return view.capture();
  const resolved = history.resolve(revision);
  if (resolved.ok) return yield* history.stateAt(revision);
  const { fault } = resolved;
  if (fault.code === "revision-expired") {
    // History is pruned at a snapshot, which has the versions of its revision.
    const cut = log.snapshotAtOrBefore(fault.oldest);
    if (cut?.revision === fault.oldest && changedAt(cut.versions) <= revision)
      return yield* history.stateAt(fault.oldest);
  }
  return new QueryFault(
    "cursor-expired",
    "cursor",
    `The list of this cursor is of revision ${revision}, which is no longer kept; begin again without the cursor.`,
    fault.code === "revision-unknown" ? revision : undefined,
  );
}
