/**
 * A copy of what a watch tells: apply every event, read it at any time. It never shows less than there is: until a new
 * snapshot is complete, the view from before stays, since old beats partial.
 */
import type { Entities } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { idOf, type WatchEvent } from "./types.ts";

type Maps = { readonly [K in Kind]: Map<string, Entities[K]> };

const emptyMaps = (): Maps => ({ devices: new Map(), ports: new Map(), links: new Map(), hosts: new Map() });

export class LocalCache {
  #shown = emptyMaps();
  /** The snapshot that is still coming. */
  #coming: Maps | undefined;
  #revision: number | undefined;

  /** The revision that it shows; undefined before the first `synced`. A watch may begin here, with `since`. */
  get revision(): number | undefined {
    return this.#revision;
  }

  /** By id; changes as events are applied, and is another map after a reset. */
  all<K extends Kind>(kind: K): ReadonlyMap<string, Entities[K]> {
    return this.#shown[kind];
  }

  apply<K extends Kind>(event: WatchEvent<K>): void;
  apply(event: WatchEvent): void {
    switch (event.type) {
      case "reset":
        this.#coming = emptyMaps();
        return;
      case "snapshot":
        this.#coming ??= emptyMaps();
        put(this.#coming, event);
        return;
      case "synced":
        this.#shown = this.#coming ?? emptyMaps();
        this.#coming = undefined;
        this.#revision = event.revision;
        return;
      case "removed":
        this.#shown[event.resource].delete(idOf(event.value));
        break;
      default:
        put(this.#shown, event);
    }
    if (event.last) this.#revision = event.revision;
  }
}

type Telling = Extract<WatchEvent, { resource: Kind }>;

function put(maps: Maps, { resource, value }: Telling): void {
  const map: Map<string, Entities[Kind]> = maps[resource];
  map.set(idOf(value), value);
}
