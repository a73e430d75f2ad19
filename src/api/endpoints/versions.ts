/**
 * The versions of representations. The version of what a representation shows is the revision that last changed it, and
 * `currentVersion` returns the version of the current state, while the request still reads that state.
 */
import type { CollectionVersions } from "../../log/log.ts";
import type { ParsedQuery } from "../../query/query.ts";
import type { EncodedValue } from "../../view/collection.ts";
import type { NetworkState, View } from "../../view/view.ts";
import type { RepresentationInfo } from "../response/representation.ts";

export type Versions = Pick<RepresentationInfo, "version" | "currentVersion">;

/** Returns the last revision that changed what is shown, given the versions and the revision of a state. */
export type ShownChangedAt = (versions: CollectionVersions, revision: number) => number;

/** A version that no data has. */
const NO_VERSION = -1;

/**
 * The versions of a representation of `state`. With `at` it never changes, even if `at` was the current revision when it was
 * first read. `changedAt` is kept with the version, so it must not be created in a scope that refers to a state.
 */
export function versionsOf(
  view: View,
  { revision, versions }: Pick<NetworkState, "revision" | "versions">,
  { at, around, cursor }: Pick<ParsedQuery, "at" | "around" | "cursor">,
  changedAt: ShownChangedAt,
): Versions {
  if (at !== undefined) return { version: revision };
  const version = changedAt(versions, revision);
  if (around || cursor !== undefined) return { version };
  return { version, currentVersion: () => changedAt(view.versions, view.revision) };
}

/*
 * A request may name devices. Its representation is valid only while the names mean the same devices as when it was
 * rendered, because an alias may move to another device whose version is the same number.
 */

/**
 * Limits the validity of a version. `shown` is what `resolve` returned for the state that was rendered; it is resolved again
 * when devices have changed. `resolve` is kept with the version, so it must not be created in a scope that refers to a state.
 */
export function whileShown(
  { version, currentVersion }: Versions,
  view: View,
  resolve: (state: NetworkState) => string,
  shown: string,
  { versions: { devices } }: Pick<NetworkState, "versions">,
): Versions {
  if (!currentVersion) return { version };
  let seen = devices;
  let isShown = true;
  return {
    version,
    currentVersion: () => {
      if (view.versions.devices !== seen) {
        seen = view.versions.devices;
        isShown = resolve(view.capture()) === shown;
      }
      return isShown ? currentVersion() : NO_VERSION;
    },
  };
}

const REVISION_MEMBER = Buffer.from('"revision":');
const DIGIT_0 = 0x30;

/**
 * The `revision` of an entity, read from its JSON; 0 if it has none. Quotes in strings are escaped, so no text of the network
 * can look like this member. An annotation may have the same name, but annotations come before the fields that the service adds.
 */
export function entityRevision({ bytes }: EncodedValue): number {
  let revision = 0;
  for (let i = endOfRevisionMember(bytes); i > 0 && i < bytes.length; i++) {
    const digit = (bytes[i] ?? 0) - DIGIT_0;
    if (digit < 0 || digit > 9) break;
    revision = revision * 10 + digit;
  }
  return revision;
}

/** The end of the last member name `revision`; 0 if there is none. It is the last member of most entities. */
function endOfRevisionMember(bytes: Buffer): number {
  let at = bytes.length - 2;
  while ((bytes[at] ?? 0) >= DIGIT_0 && (bytes[at] ?? 0) <= DIGIT_0 + 9) at--;
  let left = REVISION_MEMBER.length;
  while (left > 0 && bytes[at - (REVISION_MEMBER.length - left)] === REVISION_MEMBER[left - 1]) left--;
  if (left === 0) return at + 1;
  const found = bytes.lastIndexOf(REVISION_MEMBER);
  return found < 0 ? 0 : found + REVISION_MEMBER.length;
}
