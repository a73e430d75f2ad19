/**
 * From the entities and changes of another Gazetteer to claims. What that service adds itself is not claimed: `sources`,
 * `firstSeen`, `lastChanged`, `revision`, what follows from other fields (the id of a link, `bidirectional`, `location`),
 * and the texts of conflicts: this service finds the conflicts of its own view, and would otherwise repeat those of the
 * other one, each with the next service in a chain. `verified` and `lastUpdate` are claimed.
 */
import { idOf, type WatchChange, type WatchSnapshot } from "../../client/types.ts";
import { type ClaimChange, type ClaimFault, type ClaimTypes, canonicalClaim } from "../../model/claim.ts";
import type { Entities } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import { claimAnnotations, claimFields } from "./claim-fields.ts";

/** Set by the view, see model/conflict.ts. */
const CONFLICT = "conflict";

type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: ClaimFault };

export function claimOf<K extends Kind>(kind: K, entity: Entities[K]): Result<ClaimTypes[K]> {
  const { annotations, ...fields } = claimFields(kind, { ...entity });
  const claimed = claimAnnotations(annotations, CONFLICT);
  const record = claimed === undefined ? fields : { ...fields, annotations: claimed };
  const result = canonicalClaim(kind, record);
  return result.ok ? { ok: true, value: result.claim } : result;
}

/** One object type for each kind, so that kind and claim belong together. */
type SetChange = Extract<ClaimChange, { op: "set" }>;

export function setChangeOf({ resource, value }: WatchChange | WatchSnapshot): Result<SetChange> {
  const set = <K extends Kind>(kind: K, entity: Entities[K], wrap: (claim: ClaimTypes[K]) => SetChange) => {
    const claim = claimOf(kind, entity);
    return claim.ok ? ({ ok: true, value: wrap(claim.value) } as const) : claim;
  };
  switch (resource) {
    case "devices":
      return set(resource, value, (claim) => ({ op: "set", kind: resource, claim }));
    case "ports":
      return set(resource, value, (claim) => ({ op: "set", kind: resource, claim }));
    case "links":
      return set(resource, value, (claim) => ({ op: "set", kind: resource, claim }));
    case "hosts":
      return set(resource, value, (claim) => ({ op: "set", kind: resource, claim }));
  }
}

export const removalOf = ({ resource, value }: WatchChange): ClaimChange => ({
  op: "remove",
  kind: resource,
  id: idOf(value),
});
