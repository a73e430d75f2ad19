/**
 * The search for devices and hosts, which the service performs. A new search aborts the one before it, whose hits stay
 * until the new ones arrive.
 */
import { signal } from "@preact/signals";
import type { Client, SearchResult } from "../../client/client.ts";
import type { Device, Host } from "../../model/entity.ts";
import { abortPrevious, reasonOf } from "./pacing.ts";
import type { PageNetwork } from "./page-network.ts";
import { deviceName, deviceNameById, hostName } from "./shown-names.ts";
import type { EntityRef } from "./view-state.ts";

export interface ShownHit {
  readonly ref: EntityRef;
  readonly title: string;
  /** The type, addresses and location as text. */
  readonly detail: string;
}

/** An id that no entity has. */
const NO_ID = "";
export const isAllResults = ({ ref }: ShownHit): boolean => ref.id === NO_ID;

/** The entries that open all results in a table, one for each kind, in the order of the first hit of each. */
export const allResults = (hits: readonly ShownHit[]): ShownHit[] =>
  Array.from(new Set(hits.map(({ ref }) => ref.kind)), (kind) => ({
    ref: { kind, id: NO_ID },
    title: "All results",
    detail: `in the table of ${kind}`,
  }));

export interface SearchState {
  readonly hits: SearchResult["hits"];
  /** Whether `hits` has all matches. */
  readonly complete: boolean;
  readonly searching: boolean;
  /** The reason why the service refused the search. */
  readonly fault: string | undefined;
}

const MAX_HITS = 20;
/** A search text with which no name begins. */
const UNLIKELY_TEXT = "-";
const NOTHING: SearchState = { hits: [], complete: true, searching: false, fault: undefined };

/**
 * Makes the service index what it has not indexed yet, before the first search. With 100,000 hosts indexing takes
 * seconds.
 */
export function prepareSearch(client: Pick<Client, "search">): void {
  client.search(UNLIKELY_TEXT, { limit: 1 }).catch(() => {
    // The search that follows reports the fault.
  });
}

export function createSearcher(client: Pick<Client, "search">, maxHits = MAX_HITS) {
  const result = signal(NOTHING);
  const nextSignal = abortPrevious();
  let running = Promise.resolve();

  async function run(text: string, at: string | undefined, aborted: AbortSignal): Promise<void> {
    try {
      const { hits, complete } = await client.search(text, { limit: maxHits, at }, { signal: aborted });
      if (!aborted.aborted) result.value = { hits, complete, searching: false, fault: undefined };
    } catch (error) {
      if (aborted.aborted) return;
      result.value = { ...NOTHING, fault: reasonOf(error) };
    }
  }

  return {
    result,
    /** Searches in the network of that moment; an empty text ends the search. */
    search(input: string, at: string | undefined): void {
      const aborted = nextSignal();
      const text = input.trim();
      if (text === "") {
        result.value = NOTHING;
        return;
      }
      result.value = { ...result.peek(), searching: true, fault: undefined };
      running = run(text, at, aborted);
    },
    /** Resolves when the newest search has ended. */
    settled: () => running,
  };
}

/** The names of devices come from `network`. */
export const describeHit = (network: PageNetwork, hit: SearchResult["hits"][number]): ShownHit =>
  hit.resource === "devices" ? deviceHit(hit.value) : hostHit(network, hit.value);

function deviceHit(device: Device): ShownHit {
  const place = device.annotations.city ?? device.annotations.site ?? "";
  const detail = [device.type.toLowerCase(), device.annotations.managementAddress, place];
  return {
    ref: { kind: "devices", id: device.id },
    title: deviceName(device),
    detail: detail.filter((word) => word).join(" · "),
  };
}

function hostHit(network: PageNetwork, host: Host): ShownHit {
  const { elementId, port } = host.location;
  const title = hostName(host);
  const addresses = [host.ipAddresses[0], host.mac].filter((text) => text !== undefined && text !== title);
  return {
    ref: { kind: "hosts", id: host.id },
    title,
    detail: `on ${deviceNameById(network, elementId)} port ${port} · ${addresses.join(" · ")}`,
  };
}
