/** A sink that stores the claims of one source in memory, validated as the service does, and the order of the changes. */
import {
  type ClaimChange,
  type ClaimFault,
  type Claims,
  type ClaimTypes,
  canonicalClaim,
} from "../../src/model/claim.ts";
import type { Kind } from "../../src/model/ids.ts";
import type { Sink } from "../../src/sources/source.ts";

export class MemorySink implements Sink {
  readonly devices = new Map<string, ClaimTypes["devices"]>();
  readonly ports = new Map<string, ClaimTypes["ports"]>();
  readonly links = new Map<string, ClaimTypes["links"]>();
  readonly hosts = new Map<string, ClaimTypes["hosts"]>();
  /** One line a change: `set links ID`, `remove hosts ID`. */
  readonly changeLog: string[] = [];
  readonly rejected: string[] = [];

  async replace(all: Claims): Promise<void> {
    this.changeLog.push("replace");
    for (const kind of ["devices", "ports", "links", "hosts"] as const) this[kind].clear();
    for (const claim of all.devices ?? []) this.#set("devices", claim);
    for (const claim of all.ports ?? []) this.#set("ports", claim);
    for (const claim of all.links ?? []) this.#set("links", claim);
    for (const claim of all.hosts ?? []) this.#set("hosts", claim);
  }

  async apply(changes: readonly ClaimChange[]): Promise<void> {
    for (const change of changes) {
      if (change.op === "remove") {
        this[change.kind].delete(change.id);
        this.changeLog.push(`remove ${change.kind} ${change.id}`);
      } else this.changeLog.push(`set ${change.kind} ${this.#set(change.kind, change.claim)}`);
    }
  }

  /** The reasons of `markStale`. */
  readonly staleReasons: string[] = [];

  markStale(reason: string): void {
    this.staleReasons.push(reason);
  }

  upstreamLogs: readonly string[] = [];

  setUpstreamLogs(ids: readonly string[]): void {
    this.upstreamLogs = ids;
  }

  reject(kind: Kind, { field, message }: ClaimFault): void {
    this.rejected.push(`${kind} ${field} ${message}`);
  }

  /** The claims that a persistent sink would return after a restart. */
  all(): Claims {
    return {
      devices: [...this.devices.values()],
      ports: [...this.ports.values()],
      links: [...this.links.values()],
      hosts: [...this.hosts.values()],
    };
  }

  #maps(): { readonly [K in Kind]: Map<string, ClaimTypes[K]> } {
    return this;
  }

  #set<K extends Kind>(kind: K, claim: ClaimTypes[K]): string {
    const result = canonicalClaim(kind, claim);
    if (!result.ok) {
      this.rejected.push(`${kind} ${result.fault.field} ${result.fault.message}`);
      return "?";
    }
    const map: Map<string, ClaimTypes[K]> = this.#maps()[kind];
    map.set(result.id, result.claim);
    return result.id;
  }
}
