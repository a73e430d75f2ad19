/**
 * One poll of ONOS, or of any service with its reads: devices, ports, links and hosts. All four are claimed or none: a
 * part of a network would look like an outage. A device that appears between two reads is no problem: the view holds its
 * ports, links and hosts back until the device is there.
 *
 * Conditional requests are used where the upstream sends entity tags. ONOS itself does not.
 */
import { isRecord } from "../../lib/is-record.ts";
import { KINDS, type Kind } from "../../model/ids.ts";
import type { PollResult } from "../poll-loop.ts";
import type { Sink } from "../source.ts";
import type { UpstreamFailure } from "../upstream/failure.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { emptyLists, mapOnosLists } from "./onos-claims.ts";

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
  /** The lists that have an entity tag. */
  readonly #tagged = new Map<Kind, { readonly etag: string; readonly records: readonly unknown[] }>();
  /** Whether what was read is claimed. A list of a poll that failed later is not, and is not sent again. */
  #isClaimed = false;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  async poll(sink: Sink, signal: AbortSignal): Promise<PollResult> {
    const lists = emptyLists();
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
      // Old releases, and services with the four reads of the interface alone, have no list of ports.
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
