/** Everything in a view as plain values, for tests that compare views. */
import { STORE_KINDS } from "../../src/log/log.ts";
import type { Device } from "../../src/model/entity.ts";
import { deviceKey, KINDS } from "../../src/model/ids.ts";
import { claimsKey, type StoredClaim } from "../../src/view/indexes.ts";
import type { View } from "../../src/view/view.ts";
import { pagesOf } from "./claims.ts";

const VOLATILE = ["firstSeen", "lastChanged", "lastUpdate", "humanReadableLastUpdate", "revision"];

/**
 * What is shown and what is missing, without what depends on when it came. Former ids depend on what was shown before: of
 * the aliases of a device only those are compared that its own claims have.
 */
export function shownBy(view: View): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const kind of [...KINDS, "missing"] as const) {
    for (const page of pagesOf(view, kind)) {
      for (const [id, text] of page.toMap()) {
        const value = JSON.parse(text);
        for (const field of VOLATILE) delete value[field];
        delete value.drift?.since;
        if (kind === "devices") value.aliases = claimedAliases(view, value);
        shown[`${kind} ${id}`] = value;
      }
    }
  }
  return shown;
}

/** The claims that are not stored are recovered from the value: all of its aliases are claimed. */
function claimedAliases(view: View, { id, aliases = [] }: Device): readonly string[] {
  const text = view.get("claims", claimsKey("devices", id));
  if (text === undefined) return aliases;
  const claims: readonly StoredClaim<"devices">[] = JSON.parse(text);
  const claimed = new Set<string>();
  for (const [, claim, role] of claims)
    if (!role) for (const name of [claim.id, ...(claim.aliases ?? [])]) claimed.add(deviceKey(name));
  return aliases.filter((alias) => claimed.has(deviceKey(alias)));
}

/** The texts of all collections. */
export function storedBy(view: View): Map<string, string> {
  const stored = new Map<string, string>();
  for (const kind of STORE_KINDS)
    for (const page of pagesOf(view, kind))
      for (const [id, text] of page.toMap()) stored.set(`${kind} ${id}`, text);
  return stored;
}
