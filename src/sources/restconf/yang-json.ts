/**
 * Reads members of YANG data in JSON (RFC 7951) from any peer. A name may have the prefix of its module or not, because the
 * prefix is optional when the parent has the same module. An empty list may be absent. A 64-bit number is a string.
 */
import { isRecord } from "../../lib/is-record.ts";
import type { ClaimFault } from "../../model/claim.ts";
import type { Kind } from "../../model/ids.ts";

export type YangObject = Readonly<Record<string, unknown>>;

/** Called for each record that cannot be used. The other records are still read. */
export type OnFault = (kind: Kind, fault: ClaimFault) => void;

/** Returns a member by its name with or without the prefix. `name` has one, such as `ietf-network-topology:link`. */
export function member(object: YangObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const local = name.slice(name.indexOf(":") + 1);
  return Object.hasOwn(object, local) ? object[local] : undefined;
}

/** Returns a container; an empty object when it is absent. */
export function container(object: YangObject, name: string): YangObject {
  const value = member(object, name);
  return isRecord(value) ? value : {};
}

/** Returns the entries of a list. An entry that is not an object is reported as a fault and left out. */
export function listEntries(object: YangObject, name: string, kind: Kind, onFault: OnFault): YangObject[] {
  const value = member(object, name);
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    onFault(kind, { field: `/${name}`, message: "is not a list" });
    return [];
  }
  return value.filter((entry) => {
    if (isRecord(entry)) return true;
    onFault(kind, { field: `/${name}`, message: "has an entry that is not an object" });
    return false;
  });
}

/** Returns the text of a leaf; undefined when it is absent or empty. */
export function leafText(object: YangObject, name: string): string | undefined {
  const value = member(object, name);
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function leafNumber(object: YangObject, name: string): number | undefined {
  const text = leafText(object, name);
  return text !== undefined && /^\d{1,20}$/.test(text) ? Number(text) : undefined;
}

/** Returns the texts of a leaf-list, sorted, because a server may return them in any order. */
export function leafTexts(object: YangObject, name: string): string[] {
  const value = member(object, name);
  if (!Array.isArray(value)) return [];
  return value
    .map((entry) => (typeof entry === "number" ? String(entry) : entry))
    .filter((entry) => typeof entry === "string" && entry !== "")
    .sort();
}
