/** Everything in a view as plain values, for tests that compare views. */
import { STORE_KINDS } from "../../src/log/log.ts";
import { deviceKey, KINDS } from "../../src/model/ids.ts";
import { aliasesIn } from "../../src/view/former-ids.ts";
import { claimsKey, INTENDED } from "../../src/view/indexes.ts";
import { parseStored, type View } from "../../src/view/view.ts";
import { pagesOf } from "./claims.ts";

const VOLATILE = ["firstSeen", "lastChanged", "lastUpdate", "humanReadableLastUpdate", "revision"];

/**
 * What is shown and what is missing, without what depends on when it came. Former ids depend on what was shown before: of
 * the aliases only those in `claimed` are compared that an observed source claims for the device.
 */
export function shownBy(view: View, claimed: ReadonlySet<string>): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const kind of [...KINDS, "missing"] as const) {
    for (const page of pagesOf(view, kind)) {
      for (const [id, text] of page.toMap()) {
        const value = JSON.parse(text);
        for (const field of VOLATILE) delete value[field];
        delete value.drift?.since;
        const former = onlyFormer(view, id);
        value.aliases = (value.aliases ?? []).filter(
          (alias: string) => claimed.has(deviceKey(alias)) && !former.has(deviceKey(alias)),
        );
        shown[`${kind} ${id}`] = value;
      }
    }
  }
  return shown;
}

/** The keys of the ids that a device had before, without those that an observed source claims for it now. */
function onlyFormer(view: View, id: string): ReadonlySet<string> {
  const stored = view.get("claims", claimsKey("devices", id));
  const claims = stored === undefined ? [] : parseStored("claims", stored);
  const observed = claims.flatMap(([, claim, role]) => ("id" in claim && role !== INTENDED ? [claim] : []));
  const former = new Set(claims[0]?.[3]?.map(deviceKey));
  for (const alias of aliasesIn(observed)) former.delete(deviceKey(alias));
  return former;
}

/** The texts of all collections. */
export function storedBy(view: View): Map<string, string> {
  const stored = new Map<string, string>();
  for (const kind of STORE_KINDS)
    for (const page of pagesOf(view, kind))
      for (const [id, text] of page.toMap()) stored.set(`${kind} ${id}`, text);
  return stored;
}
