/** Explains why devices of several sources are one: the identity values that claims with different ids share. */
import type { DeviceClaim } from "../../model/claim.ts";
import type { SharedIdentity } from "../../model/explanation.ts";
import { deviceKey } from "../../model/ids.ts";
import type { MergeRules } from "../merge-rules.ts";
import { joiningValues } from "./find-group.ts";

/** `claims` are those of one device. Returns nothing if all of them have the same id. */
export function sharedIdentities(
  claims: readonly (readonly [source: string, claim: DeviceClaim])[],
  rules: MergeRules,
): SharedIdentity[] {
  const ids = new Map(claims.map(([, { id }]) => [deviceKey(id), id]));
  if (ids.size < 2) return [];
  /** The ids of the claims that have a value, by rule and value. */
  const shared = new Map<string, SharedIdentity>();
  for (const [source, claim] of claims) {
    for (const { rule, value } of joiningValues(rules, { source, claim })) {
      const known = shared.get(`${rule} ${value}`) ?? { rule, value, ids: [] };
      const id = ids.get(deviceKey(claim.id)) ?? claim.id;
      shared.set(`${rule} ${value}`, { rule, value, ids: [...new Set([...known.ids, id])] });
    }
  }
  return [...shared.values()].filter((entry) => entry.ids.length > 1);
}
