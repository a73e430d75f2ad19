/**
 * The names of devices by which links and hosts are sorted: the annotation `name`, or else the id, as the map and the
 * tables show it. Each device is parsed once, because a sort of a million hosts involves only some thousand devices.
 */
import { type NetworkState, parseStored } from "../view/view.ts";
import type { CountBytes } from "./count-bytes.ts";

/** Memory of an entry of the map, besides its texts. */
const ENTRY_BYTES = 64;

export class DeviceNames {
  readonly #state: Pick<NetworkState, "get">;
  readonly #count: CountBytes;
  readonly #names = new Map<string, string>();
  #bytes = 0;

  constructor(state: Pick<NetworkState, "get">, count: CountBytes) {
    this.#state = state;
    this.#count = count;
  }

  of(device: string): string {
    const known = this.#names.get(device);
    if (known !== undefined) return known;
    const text = this.#state.get("devices", device);
    const name = (text === undefined ? "" : parseStored("devices", text).annotations.name?.trim()) || device;
    this.#names.set(device, name);
    const bytes = ENTRY_BYTES + device.length + name.length;
    this.#bytes += bytes;
    this.#count(bytes);
    return name;
  }

  /** Drops the names and counts their memory as free again. */
  release(): void {
    this.#names.clear();
    this.#count(-this.#bytes);
    this.#bytes = 0;
  }
}
