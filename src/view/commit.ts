/**
 * One commit: takes claims in, and works out what they mean for the things claimed and for their neighbours. A device
 * that comes or goes decides whether its ports, links and hosts are shown or held back; a link tells its other
 * direction, and whoever shares its port; a host tells whoever shares its address.
 */
import type { LogEntry } from "../log/log.ts";
import { reverseLinkId } from "../model/cable.ts";
import { portId } from "../model/ids.ts";
import type { CheckedChange } from "./committer.ts";
import { linksAffectedBy, hostConflict, hostsAffectedBy, linkConflict } from "./conflicts.ts";
import { occupiesPorts, compositeKeyRange } from "./indexes.ts";
import { parseStored, type View } from "./view.ts";
import { WorkingSet } from "./working-set.ts";

export class Commit {
  readonly #view: View;
  readonly #devices: WorkingSet<"devices">;
  readonly #ports: WorkingSet<"ports">;
  readonly #links: WorkingSet<"links">;
  readonly #hosts: WorkingSet<"hosts">;

  constructor(view: View, precedence: readonly string[], revision: number, time: number) {
    const rank = new Map(precedence.map((name, i) => [name, i]));
    const occasion = { view, revision, time, timeText: new Date(time).toISOString(), rank };
    this.#view = view;
    this.#devices = new WorkingSet("devices", occasion);
    this.#ports = new WorkingSet("ports", occasion);
    this.#links = new WorkingSet("links", occasion, (link) => ({
      hasReverse: view.graph.hasLink(reverseLinkId(link)),
      conflict: linkConflict(view, link),
    }));
    this.#hosts = new WorkingSet("hosts", occasion, (host, told) => ({
      hasReverse: false,
      conflict: hostConflict(view, host, told),
    }));
  }

  addClaim(source: string, change: CheckedChange): void {
    if (change.kind === "devices") this.#devices.setClaim(source, change.id, change.claim);
    else if (change.kind === "ports") this.#ports.setClaim(source, change.id, change.claim);
    else if (change.kind === "links") this.#links.setClaim(source, change.id, change.claim);
    else this.#hosts.setClaim(source, change.id, change.claim);
  }

  /** Works out everything that is due, and what becomes due by it; answers what changed. */
  mergeAll(): LogEntry[] {
    for (const thing of this.#devices.pending) {
      const existed = thing.after !== undefined;
      this.#devices.remerge(thing);
      if (existed !== (thing.after !== undefined)) this.#recheckDependents(thing.id);
    }
    for (const thing of this.#ports.pending) this.#ports.remerge(thing);
    this.#refreshLinks();
    this.#refreshHosts();
    for (const working of this.#workingSets) working.storeClaims();
    return this.#workingSets.flatMap((working) => [...working.entries()]);
  }

  /** Puts everything back as it was. */
  rollBack(): void {
    for (const working of this.#workingSets) working.rollBack();
  }

  get #workingSets() {
    return [this.#devices, this.#ports, this.#links, this.#hosts];
  }

  /** Everything that stands on the device, or waits for it, is looked at again. */
  #recheckDependents(id: string): void {
    const view = this.#view;
    for (const end of ["src", "dst"] as const) {
      for (const link of view
        .indexes("links")
        .named(end)
        .range(...compositeKeyRange(id)))
        this.#links.recheck(link);
    }
    for (const host of view
      .indexes("hosts")
      .named("location")
      .range(...compositeKeyRange(id)))
      this.#hosts.recheck(host);
    for (const text of view.range("ports", portId(id, ""), portId(id, "\uffff"))) {
      const { element, port } = parseStored("ports", text);
      if (element === id) this.#ports.recheck(portId(element, port));
    }
    for (const key of view.indexes("claims").named("device").get(id)) {
      const [kind = "", thing = ""] = key.split(" ");
      if (kind === "ports") this.#ports.recheck(thing);
      if (kind === "links") this.#links.recheck(thing);
      if (kind === "hosts") this.#hosts.recheck(thing);
    }
  }

  #refreshLinks(): void {
    const concerned = new Set<string>();
    for (const thing of this.#links.pending) {
      const before = thing.after?.value;
      this.#links.remerge(thing);
      const after = thing.after?.value;
      const link = after ?? before;
      if (!link) continue;
      const reverse = reverseLinkId(link);
      if (!(before && after) && this.#view.graph.hasLink(reverse)) concerned.add(reverse);
      if ((before && occupiesPorts(before)) === (after && occupiesPorts(after))) continue;
      for (const other of linksAffectedBy(this.#view, link)) concerned.add(other);
    }
    for (const id of concerned) this.#links.remerge(this.#links.entity(id));
  }

  #refreshHosts(): void {
    const concerned = new Set<string>();
    for (const thing of this.#hosts.pending) {
      const before = thing.after?.value.ipAddresses ?? [];
      this.#hosts.remerge(thing);
      const after = thing.after?.value.ipAddresses ?? [];
      const left = before.filter((ip) => !after.includes(ip));
      // Whoever has taken another's address is flagged by now: without a flag nobody shares any.
      const flagged = thing.after?.value.annotations?.conflict !== undefined;
      const taken = flagged ? after.filter((ip) => !before.includes(ip)) : [];
      for (const ip of [...left, ...taken]) {
        for (const other of hostsAffectedBy(this.#view, thing.id, ip)) concerned.add(other);
      }
    }
    for (const id of concerned) this.#hosts.remerge(this.#hosts.entity(id));
  }
}
