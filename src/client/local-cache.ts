/**
 * A local copy of what is watched. Apply every event of a watch; read the entities at any time. While a new snapshot
 * is incomplete, the cache still shows the previous entities, because stale data is better than partial data.
 */
import type { Entities } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { idOf, type WatchEvent } from "./types.ts";

type EntityMaps = { readonly [K in Kind]: Map<string, Entities[K]> };

const createMaps = (): EntityMaps => ({
  devices: new Map(),
  ports: new Map(),
  links: new Map(),
  hosts: new Map(),
});

export class LocalCache {
  #current = createMaps();
  /** The snapshot that is not complete yet. */
  #incoming: EntityMaps | undefined;
  #revision: number | undefined;

  /** The revision of the entities; undefined before the first `synced`. It is a valid `since` of a watch. */
  get revision(): number | undefined {
    return this.#revision;
  }

  /** The entities by id. The map changes as events are applied; after a reset it is another map. */
  all<K extends Kind>(kind: K): ReadonlyMap<string, Entities[K]> {
    return this.#current[kind];
  }

  apply<K extends Kind>(event: WatchEvent<K>): void;
  apply(event: WatchEvent): void {
    switch (event.type) {
      case "reset":
        this.#incoming = createMaps();
        return;
      case "snapshot":
        this.#incoming ??= createMaps();
        setEntity(this.#incoming, event);
        return;
      case "synced":
        this.#current = this.#incoming ?? createMaps();
        this.#incoming = undefined;
        this.#revision = event.revision;
        return;
      case "removed":
        this.#current[event.resource].delete(idOf(event.value));
        break;
      default:
        setEntity(this.#current, event);
    }
    if (event.last) this.#revision = event.revision;
  }
}

type EntityEvent = Extract<WatchEvent, { resource: Kind }>;

function setEntity(maps: EntityMaps, { resource, value }: EntityEvent): void {
  const map: Map<string, Entities[Kind]> = maps[resource];
  map.set(idOf(value), value);
}
