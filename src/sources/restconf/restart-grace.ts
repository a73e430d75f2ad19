/**
 * Holds back what a server lists after it was unreachable. OpenDaylight stores no discovered network: after a restart it
 * lists nothing, then switch by switch and link by link, as they connect and are discovered again. Applying such a list
 * would remove the whole network for some seconds. So for a limited time after the first list that succeeds, a list that
 * lacks something known is not applied, and the source stays stale.
 */
import { linkId } from "../../model/ids.ts";
import type { MappedClaims } from "./map-topology.ts";

export class RestartGrace {
  readonly #graceMs: number;
  #known: { readonly devices: ReadonlySet<string>; readonly links: ReadonlySet<string> } | undefined;
  #state: "connected" | "lost" | { readonly untilMs: number } = "connected";

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  onFailure(): void {
    this.#state = "lost";
  }

  /** Why this list is not applied yet, in one line; undefined when it is to be applied. */
  check(claims: MappedClaims, nowMs: number): string | undefined {
    const listed = {
      devices: new Set(claims.devices.map(({ id }) => id)),
      links: new Set(claims.links.map(({ src, dst }) => idOfLink(src, dst))),
    };
    if (this.#state === "lost") this.#state = { untilMs: nowMs + this.#graceMs };
    if (this.#known && this.#state !== "connected" && nowMs < this.#state.untilMs) {
      const devices = this.#known.devices.difference(listed.devices).size;
      const links = this.#known.links.difference(listed.links).size;
      if (devices > 0 || links > 0) {
        return `the server is back without ${devices} devices and ${links} links that it had before`;
      }
    }
    this.#state = "connected";
    this.#known = listed;
    return undefined;
  }
}

type End = MappedClaims["links"][number]["src"];
const idOfLink = (src: End, dst: End): string =>
  linkId({ device: src.device, port: String(src.port) }, { device: dst.device, port: String(dst.port) });
