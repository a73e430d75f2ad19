/**
 * Links between ports of switches, one a direction, each standing on the last probe that came through. A port that
 * goes down takes its links with it at once; silence ends a link after three missed probes. While a switch is away
 * its links are INACTIVE, and end the same way unless it comes back.
 *
 * Where LLDP gets through, a wire is proven and broadcasts prove nothing more; a link that only broadcasts find is
 * INDIRECT. Two links on one port are both kept: the view flags them.
 */
import { linkId, portId } from "../../model/ids.ts";
import type { ClaimBook } from "./claim-buffer.ts";
import { portText } from "./port-ref.ts";

export interface End {
  readonly device: string;
  readonly port: number;
}

export interface Link {
  readonly id: string;
  readonly src: End;
  readonly dst: End;
  readonly direct: boolean;
  readonly active: boolean;
}

export type LinkEnding = "port-down" | "silent" | "superseded";

export interface LinkWatcher {
  linkFound(link: Link): void;
  linkEnded(link: Link, why: LinkEnding): void;
}

interface Kept extends Link {
  heardAt: number;
  active: boolean;
}

const MISSED_PROBES = 3;

/** How long silence lasts until three probes are missed; half an interval more, for the third to arrive. */
export const silenceMs = (probeIntervalMs: number): number => probeIntervalMs * (MISSED_PROBES + 0.5);

export const endKey = ({ device, port }: End): string => portId(device, portText(port));
const sameDevice = (link: Link, device: string) => link.src.device === device || link.dst.device === device;

export class Links {
  readonly #book: ClaimBook;
  readonly #watcher: LinkWatcher;
  readonly #silenceMs: number;
  readonly #links = new Map<string, Kept>();
  readonly #byPort = new Map<string, Set<Kept>>();

  constructor(book: ClaimBook, watcher: LinkWatcher, probeIntervalMs: number) {
    this.#book = book;
    this.#watcher = watcher;
    this.#silenceMs = silenceMs(probeIntervalMs);
  }

  get size(): number {
    return this.#links.size;
  }

  all(): Iterable<Link> {
    return this.#links.values();
  }

  /** Whether a port leads to another switch, as far as we know. */
  has(end: End): boolean {
    return this.#byPort.has(endKey(end));
  }

  hasDirect(end: End): boolean {
    for (const link of this.#at(end)) if (link.direct) return true;
    return false;
  }

  /** Whether a link is known that starts at this port. */
  startsAt(end: End): boolean {
    const key = endKey(end);
    for (const link of this.#at(end)) if (endKey(link.src) === key) return true;
    return false;
  }

  /** Whether a link from `src` to `dst` is known and active. */
  connects(src: End, dst: End): boolean {
    return this.#links.get(`${endKey(src)}-${endKey(dst)}`)?.active === true;
  }

  heard(src: End, dst: End, direct: boolean, now: number): void {
    const id = linkId(
      { device: src.device, port: portText(src.port) },
      { device: dst.device, port: portText(dst.port) },
    );
    const known = this.#links.get(id);
    if (known && known.direct === direct) {
      known.heardAt = now;
      if (known.active) return;
      known.active = true;
      this.#claim(known);
      this.#watcher.linkFound(known);
      return;
    }
    if (!direct && (this.hasDirect(src) || this.hasDirect(dst))) return;
    if (direct) {
      for (const link of [...this.#at(src), ...this.#at(dst)])
        if (!link.direct) this.#end(link, "superseded");
    }
    const link: Kept = { id, src, dst, direct, active: true, heardAt: now };
    this.#links.set(id, link);
    for (const end of [src, dst]) {
      const key = endKey(end);
      const there = this.#byPort.get(key) ?? new Set();
      this.#byPort.set(key, there.add(link));
    }
    this.#claim(link);
    this.#watcher.linkFound(link);
  }

  portDown(end: End): void {
    for (const link of [...this.#at(end)]) this.#end(link, "port-down");
  }

  deviceGone(device: string, now: number): void {
    for (const link of this.#links.values()) {
      if (!link.active || !sameDevice(link, device)) continue;
      link.active = false;
      link.heardAt = now;
      this.#claim(link);
    }
  }

  tick(now: number): void {
    for (const link of this.#links.values()) {
      if (now - link.heardAt > this.#silenceMs) this.#end(link, "silent");
    }
  }

  /** A link that was claimed in an earlier life: it stands until probes had their chance to renew it. */
  recall(src: End, dst: End, direct: boolean, until: number): void {
    this.heard(src, dst, direct, until - this.#silenceMs);
  }

  #at(end: End): Iterable<Kept> {
    return this.#byPort.get(endKey(end)) ?? [];
  }

  #end(link: Kept, why: LinkEnding): void {
    this.#links.delete(link.id);
    for (const end of [link.src, link.dst]) {
      const key = endKey(end);
      const there = this.#byPort.get(key);
      there?.delete(link);
      if (there?.size === 0) this.#byPort.delete(key);
    }
    this.#book.remove("links", link.id);
    this.#watcher.linkEnded(link, why);
  }

  #claim({ src, dst, direct, active }: Kept): void {
    this.#book.setLink({
      src: { device: src.device, port: portText(src.port) },
      dst: { device: dst.device, port: portText(dst.port) },
      type: direct ? "DIRECT" : "INDIRECT",
      state: active ? "ACTIVE" : "INACTIVE",
      verified: true,
    });
  }
}
