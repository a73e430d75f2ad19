/**
 * One poll of ONOS, or of any service with the same read API: devices, ports, links and hosts. All four are claimed or none,
 * because a part of a network would look like an outage. A device may appear between two reads: the view holds its ports,
 * links and hosts back until the device is claimed.
 *
 * Conditional requests are used where the upstream sends entity tags. ONOS itself does not.
 */
import { isRecord } from "../../lib/is-record.ts";
import { type ClaimFault, type ClaimLists, type ClaimTypes, canonicalClaim } from "../../model/claim.ts";
import { forKinds, KINDS, type Kind } from "../../model/ids.ts";
import type { PollResult } from "../poll-loop.ts";
import type { Sink } from "../source.ts";
import type { UpstreamFailure } from "../upstream/exchange.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { claimFields, type RawRecord } from "./claim-fields.ts";

const PATHS: Readonly<Record<Kind, string>> = {
  devices: "devices",
  ports: "devices/ports",
  links: "links",
  hosts: "hosts",
};

type ListResult =
  | { readonly ok: true; readonly records: readonly unknown[]; readonly isUnchanged: boolean }
  | Pick<UpstreamFailure, "ok" | "message">;

export class OnosPoller {
  readonly #upstream: Upstream;
  /** The last lists that had an entity tag, by kind. */
  readonly #tagged = new Map<Kind, { readonly etag: string; readonly records: readonly unknown[] }>();
  /** Whether the last lists are claimed. After a poll that failed halfway they are not, and the upstream does not resend them. */
  #isClaimed = false;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  async poll(sink: Sink, signal: AbortSignal): Promise<PollResult> {
    const lists = forKinds((): readonly unknown[] => []);
    for (const kind of KINDS) {
      const list = await this.#read(kind, signal);
      if (!list.ok) return list;
      lists[kind] = list.records;
      this.#isClaimed &&= list.isUnchanged;
    }
    if (this.#isClaimed) {
      await sink.apply([]);
      return { ok: true };
    }
    const { claims, faults } = mapOnosLists(lists);
    for (const { kind, fault } of faults) sink.reject(kind, fault);
    await sink.replace(claims);
    this.#isClaimed = true;
    return { ok: true };
  }

  async #read(kind: Kind, signal: AbortSignal): Promise<ListResult> {
    const path = PATHS[kind];
    const former = this.#tagged.get(kind);
    const response = await this.#upstream.get(path, { etag: former?.etag, signal });
    if (!response.ok) {
      // Old releases, and services with only the four basic reads, have no list of ports.
      const hasNoPorts = kind === "ports" && response.status === 404;
      return hasNoPorts ? { ok: true, records: [], isUnchanged: false } : response;
    }
    const { host, pathname } = this.#upstream.url;
    const fail = (reason: string) =>
      ({ ok: false, message: `${host}${pathname}/${path}: ${reason}` }) as const;
    if (response.headers.has("gazetteer-log")) return fail("is a Gazetteer now");
    if (response.status === 304) {
      return former
        ? { ok: true, records: former.records, isUnchanged: true }
        : fail("responds with status 304");
    }
    const records = parseList(kind, response.body);
    if (!records) return fail(`the response is not a JSON object with a list of ${kind}`);
    const etag = response.headers.get("etag");
    if (etag === null) this.#tagged.delete(kind);
    else this.#tagged.set(kind, { etag, records });
    return { ok: true, records, isUnchanged: false };
  }
}

function parseList(kind: Kind, body: Uint8Array): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    const records = isRecord(parsed) ? parsed[kind] : undefined;
    return Array.isArray(records) ? records : undefined;
  } catch {
    return undefined;
  }
}

// `mapOnosLists` converts the lists of ONOS to claims. Records have the fields of the API, with peculiarities of ONOS:
// - `[eth1](1)` is port 1 with a name, `LOCAL` and `local` are one port, the VLAN -1 is None (`canonicalClaim` reads these);
// - keys may be missing, `humanReadableLastUpdate` is derived, later versions may have more fields: only known ones are used;
// - locations are in the order of a hash table, so they are sorted, because their order must not cause changes;
// - releases before 1.14 have one `location` of a host and not `locations`;
// - `lastUpdate` is a number below 1 where ONOS does not know it.

/** The records of each list, as parsed from JSON. */
type OnosLists = Readonly<Record<Kind, readonly unknown[]>>;

interface MappedRecords {
  readonly claims: ClaimLists;
  /** Records that are not claimed, with the reasons. */
  readonly faults: readonly { readonly kind: Kind; readonly fault: ClaimFault }[];
}

export function mapOnosLists(lists: OnosLists): MappedRecords {
  const faults: { kind: Kind; fault: ClaimFault }[] = [];
  const map = <K extends Kind>(kind: K): ClaimTypes[K][] => {
    const claims: ClaimTypes[K][] = [];
    for (const record of lists[kind]) {
      const result = isRecord(record)
        ? canonicalClaim(kind, CONVERT[kind](record))
        : ({ ok: false, fault: { field: "", message: "is not an object" } } as const);
      if (result.ok) claims.push(result.claim);
      else faults.push({ kind, fault: result.fault });
    }
    return claims;
  };
  return {
    claims: { devices: map("devices"), ports: map("ports"), links: map("links"), hosts: map("hosts") },
    faults,
  };
}

const CONVERT: Readonly<Record<Kind, (record: RawRecord) => RawRecord>> = {
  devices(record) {
    const { lastUpdate, ...fields } = claimFields("devices", record);
    const time = String(lastUpdate ?? "");
    return /^[1-9]\d{0,14}$/.test(time) ? { ...fields, lastUpdate: time } : fields;
  },
  ports: (record) => claimFields("ports", record),
  links(record) {
    const { src, dst, ...fields } = claimFields("links", record);
    return { ...fields, src: pick(src, ["device", "port"]), dst: pick(dst, ["device", "port"]) };
  },
  hosts(record) {
    const { locations, auxLocations, ...fields } = claimFields("hosts", record);
    const { location } = record;
    return {
      ...fields,
      locations: toLocations(locations ?? (location === undefined ? undefined : [location])),
      ...(auxLocations !== undefined && { auxLocations: toLocations(auxLocations) }),
    };
  },
};

/** Picks the named fields of a record. Other values stay unchanged, because the validation of the claim finds the fault. */
const pick = (value: unknown, names: readonly string[]): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)))
    : value;

function toLocations(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const keyOf = (location: unknown) => (isRecord(location) ? `${location.elementId}/${location.port}` : "");
  return value
    .map((location: unknown) => pick(location, ["elementId", "port"]))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
