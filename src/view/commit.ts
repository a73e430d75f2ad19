/**
 * One commit: takes claims in, and works out what they mean for the things claimed and for their neighbours. A device
 * that comes or goes decides whether its ports, links and hosts are shown or held back; a link tells its other
 * direction, and whoever shares its port; a host tells whoever shares its address.
 */
import type { Entry } from "../log/log.ts";
import { linkId, portId } from "../model/ids.ts";
import { cablesConcerned, hostConflict, hostsConcerned, linkConflict } from "./conflicts.ts";
import { isCable, pairRange } from "./indexes.ts";
import type { CheckedChange } from "./ledger.ts";
import { parseStored, type View } from "./view.ts";
import { Scratch, Working } from "./working.ts";

export class Commit {
  readonly #view: View;
  readonly #scratch: Scratch;
  readonly #devices: Working<"devices">;
  readonly #ports: Working<"ports">;
  readonly #links: Working<"links">;
  readonly #hosts: Working<"hosts">;

  constructor(view: View, precedence: readonly string[], revision: number, time: number) {
    const rank = new Map(precedence.map((name, i) => [name, i]));
    const scratch = new Scratch(view, revision, time);
    this.#view = view;
    this.#scratch = scratch;
    this.#devices = new Working("devices", scratch, rank);
    this.#ports = new Working("ports", scratch, rank);
    this.#links = new Working("links", scratch, rank, (link) => ({
      reverse: view.has("links", linkId(link.dst, link.src)),
      conflict: linkConflict(view, link),
    }));
    this.#hosts = new Working("hosts", scratch, rank, (host, told) => ({
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
    for (const id of this.#devices.due) {
      const existed = this.#view.has("devices", id);
      this.#devices.refresh(id);
      if (existed !== this.#view.has("devices", id)) this.#deviceCameOrWent(id);
    }
    for (const id of this.#ports.due) this.#ports.refresh(id);
    this.#refreshLinks();
    this.#refreshHosts();
    for (const working of [this.#devices, this.#ports, this.#links, this.#hosts]) working.keepClaims();
    return this.#scratch.entries();
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
    for (const id of this.#links.due) {
      const before = this.#links.value(id);
      this.#links.refresh(id);
      const after = this.#links.value(id);
      const link = after ?? before;
      if (!link) continue;
      const reverse = linkId(link.dst, link.src);
      if (!(before && after) && this.#view.has("links", reverse)) concerned.add(reverse);
      if ((before && isCable(before)) === (after && isCable(after))) continue;
      for (const other of cablesConcerned(this.#view, link)) concerned.add(other);
    }
    for (const id of concerned) this.#links.refresh(id);
  }

  #refreshHosts(): void {
    const concerned = new Set<string>();
    for (const id of this.#hosts.due) {
      const before = this.#hosts.value(id)?.ipAddresses ?? [];
      this.#hosts.refresh(id);
      const after = this.#hosts.value(id)?.ipAddresses ?? [];
      for (const ip of new Set(before).symmetricDifference(new Set(after))) {
        for (const other of hostsConcerned(this.#view, id, ip)) concerned.add(other);
      }
    }
    for (const id of concerned) this.#hosts.refresh(id);
  }
}
