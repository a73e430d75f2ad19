/**
 * One commit: takes claims in, and works out what they mean for the things claimed and for their neighbours. A device
 * that comes or goes decides whether its ports, links and hosts are shown or held back; a link tells its other
 * direction, and whoever shares its port; a host tells whoever shares its address.
 */
import type { Entry } from "../log/log.ts";
import { reverseLinkId } from "../model/cable.ts";
import { portId } from "../model/ids.ts";
import type { CheckedChange } from "./committer.ts";
import { cablesConcerned, hostConflict, hostsConcerned, linkConflict } from "./conflicts.ts";
import { occupiesPorts, pairRange } from "./indexes.ts";
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
      reverse: view.graph.hasLink(reverseLinkId(link)),
      conflict: linkConflict(view, link),
    }));
    this.#hosts = new WorkingSet("hosts", occasion, (host, told) => ({
      reverse: false,
      conflict: hostConflict(view, host, told),
    }));
  }

  take(source: string, change: CheckedChange): void {
    if (change.kind === "devices") this.#devices.claim(source, change.id, change.claim);
    else if (change.kind === "ports") this.#ports.claim(source, change.id, change.claim);
    else if (change.kind === "links") this.#links.claim(source, change.id, change.claim);
    else this.#hosts.claim(source, change.id, change.claim);
  }

  /** Works out everything that is due, and what becomes due by it; answers what changed. */
  finish(): Entry[] {
    for (const thing of this.#devices.due) {
      const existed = thing.now !== undefined;
      this.#devices.refresh(thing);
      if (existed !== (thing.now !== undefined)) this.#deviceCameOrWent(thing.id);
    }
    for (const thing of this.#ports.due) this.#ports.refresh(thing);
    this.#refreshLinks();
    this.#refreshHosts();
    for (const working of this.#all) working.keepClaims();
    return this.#all.flatMap((working) => [...working.entries()]);
  }

  /** Puts everything back as it was. */
  undo(): void {
    for (const working of this.#all) working.undo();
  }

  get #all() {
    return [this.#devices, this.#ports, this.#links, this.#hosts];
  }

  /** Everything that stands on the device, or waits for it, is looked at again. */
  #deviceCameOrWent(id: string): void {
    const view = this.#view;
    for (const end of ["src", "dst"] as const) {
      for (const link of view
        .indexes("links")
        .named(end)
        .range(...pairRange(id)))
        this.#links.lookAgain(link);
    }
    for (const host of view
      .indexes("hosts")
      .named("location")
      .range(...pairRange(id)))
      this.#hosts.lookAgain(host);
    for (const text of view.range("ports", portId(id, ""), portId(id, "\uffff"))) {
      const { element, port } = parseStored("ports", text);
      if (element === id) this.#ports.lookAgain(portId(element, port));
    }
    for (const key of view.indexes("claims").named("device").get(id)) {
      const [kind = "", thing = ""] = key.split(" ");
      if (kind === "ports") this.#ports.lookAgain(thing);
      if (kind === "links") this.#links.lookAgain(thing);
      if (kind === "hosts") this.#hosts.lookAgain(thing);
    }
  }

  #refreshLinks(): void {
    const concerned = new Set<string>();
    for (const thing of this.#links.due) {
      const before = thing.now?.value;
      this.#links.refresh(thing);
      const after = thing.now?.value;
      const link = after ?? before;
      if (!link) continue;
      const reverse = reverseLinkId(link);
      if (!(before && after) && this.#view.graph.hasLink(reverse)) concerned.add(reverse);
      if ((before && occupiesPorts(before)) === (after && occupiesPorts(after))) continue;
      for (const other of cablesConcerned(this.#view, link)) concerned.add(other);
    }
    for (const id of concerned) this.#links.refresh(this.#links.thing(id));
  }

  #refreshHosts(): void {
    const concerned = new Set<string>();
    for (const thing of this.#hosts.due) {
      const before = thing.now?.value.ipAddresses ?? [];
      this.#hosts.refresh(thing);
      const after = thing.now?.value.ipAddresses ?? [];
      const left = before.filter((ip) => !after.includes(ip));
      // Whoever has taken another's address is flagged by now: without a flag nobody shares any.
      const flagged = thing.now?.value.annotations?.conflict !== undefined;
      const taken = flagged ? after.filter((ip) => !before.includes(ip)) : [];
      for (const ip of [...left, ...taken]) {
        for (const other of hostsConcerned(this.#view, thing.id, ip)) concerned.add(other);
      }
    }
    for (const id of concerned) this.#hosts.refresh(this.#hosts.thing(id));
  }
}
