/**
 * One commit: receives claims and merges the entities they touch, and those that depend on them. A device that is added
 * or removed decides whether its ports, links and hosts are shown or held back; one whose id is spelled in another way
 * changes the ids that contain it. A link affects the link in the other
 * direction and the links at its ports. A host affects the hosts with the same address.
 */
import type { LogEntry } from "../log/log.ts";
import { reverseLinkId } from "../model/cable.ts";
import type { ClaimTypes } from "../model/claim.ts";
import { KINDS, type Kind, portId } from "../model/ids.ts";
import { hostConflict, hostsAffectedBy, linkConflict, linksAffectedBy } from "./conflicts.ts";
import { occupiesPorts, portKeyRange } from "./indexes.ts";
import { parseStored, type View } from "./view.ts";
import { WorkingSet } from "./working-set.ts";

/** A canonical claim, or undefined to withdraw it. */
export type CanonicalChange = {
  [K in Kind]: {
    readonly kind: K /** In any spelling. */;
    readonly id: string;
    readonly claim: ClaimTypes[K] | undefined;
  };
}[Kind];

export class Commit {
  readonly #view: View;
  readonly #devices: WorkingSet<"devices">;
  readonly #ports: WorkingSet<"ports">;
  readonly #links: WorkingSet<"links">;
  readonly #hosts: WorkingSet<"hosts">;

  constructor(view: View, precedence: readonly string[], revision: number, time: number) {
    const rank = new Map(precedence.map((name, i) => [name, i]));
    const context = { view, revision, time, timeText: new Date(time).toISOString(), rank };
    this.#view = view;
    this.#devices = new WorkingSet("devices", context);
    this.#ports = new WorkingSet("ports", context);
    this.#links = new WorkingSet("links", context, (link) => ({
      hasReverse: view.graph.hasLink(reverseLinkId(link)),
      conflict: linkConflict(view, link),
    }));
    this.#hosts = new WorkingSet("hosts", context, (host, claims) => ({
      hasReverse: false,
      conflict: hostConflict(view, host, claims),
    }));
  }

  applyChange(source: string, change: CanonicalChange): void {
    if (change.kind === "devices") this.#devices.setClaim(source, change.id, change.claim);
    else if (change.kind === "ports") this.#ports.setClaim(source, change.id, change.claim);
    else if (change.kind === "links") this.#links.setClaim(source, change.id, change.claim);
    else this.#hosts.setClaim(source, change.id, change.claim);
  }

  /** Merges all pending entities and those that become pending by it. Returns the changes. */
  mergeAll(): LogEntry[] {
    for (const device of this.#devices.pending) {
      const shownBefore = device.after?.value.id;
      this.#devices.remerge(device);
      if (shownBefore !== device.after?.value.id) this.#recheckDependents(device.key, shownBefore);
    }
    for (const port of this.#ports.pending) this.#ports.remerge(port);
    this.#mergeLinks();
    this.#mergeHosts();
    for (const set of this.#workingSets) set.storeClaims();
    return this.#workingSets.flatMap((set) => [...set.entries()]);
  }

  /** Restores the view to its state before the commit. */
  rollBack(): void {
    for (const set of this.#workingSets) set.rollBack();
  }

  get #workingSets() {
    return [this.#devices, this.#ports, this.#links, this.#hosts];
  }

  /** Merges an entity again although its claims are the same. */
  recheck(kind: Kind, id: string): void {
    if (kind === "devices") this.#devices.recheck(id);
    else if (kind === "ports") this.#ports.recheck(id);
    else if (kind === "links") this.#links.recheck(id);
    else this.#hosts.recheck(id);
  }

  /** Everything that refers to the device, shown or held back, is merged again. `shownBefore` was its id until now. */
  #recheckDependents(device: string, shownBefore: string | undefined): void {
    const view = this.#view;
    for (const end of ["src", "dst"] as const) {
      for (const link of view
        .indexes("links")
        .named(end)
        .range(...portKeyRange(device)))
        this.#links.recheck(link);
    }
    for (const host of view
      .indexes("hosts")
      .named("location")
      .range(...portKeyRange(device)))
      this.#hosts.recheck(host);
    if (shownBefore !== undefined) {
      for (const text of view.range("ports", portId(shownBefore, ""), portId(shownBefore, "\uffff"))) {
        const { element, port } = parseStored("ports", text);
        if (element === shownBefore) this.#ports.recheck(portId(element, port));
      }
    }
    for (const key of view.indexes("claims").named("device").get(device)) {
      const [name = "", id = ""] = key.split(" ");
      const kind = KINDS.find((candidate) => candidate === name);
      if (kind) this.recheck(kind, id);
    }
  }

  #mergeLinks(): void {
    const affected = new Set<string>();
    for (const entity of this.#links.pending) {
      const before = entity.after?.value;
      this.#links.remerge(entity);
      const after = entity.after?.value;
      const link = after ?? before;
      if (!link) continue;
      const sameId = before?.id === after?.id;
      const reverse = reverseLinkId(link);
      if (!sameId && this.#view.graph.hasLink(reverse)) affected.add(reverse);
      if (sameId && (before && occupiesPorts(before)) === (after && occupiesPorts(after))) continue;
      for (const other of linksAffectedBy(this.#view, link)) affected.add(other);
    }
    for (const id of affected) this.#links.remerge(this.#links.entity(id));
  }

  #mergeHosts(): void {
    const affected = new Set<string>();
    for (const host of this.#hosts.pending) {
      const before = host.after?.value.ipAddresses ?? [];
      this.#hosts.remerge(host);
      const after = host.after?.value.ipAddresses ?? [];
      const removed = before.filter((ip) => !after.includes(ip));
      // A host that shares an address has a conflict by now; without one, no other host can be affected.
      const inConflict = host.after?.value.annotations?.conflict !== undefined;
      const added = inConflict ? after.filter((ip) => !before.includes(ip)) : [];
      for (const ip of [...removed, ...added]) {
        for (const other of hostsAffectedBy(this.#view, host.key, ip)) affected.add(other);
      }
    }
    for (const id of affected) this.#hosts.remerge(this.#hosts.entity(id));
  }
}
