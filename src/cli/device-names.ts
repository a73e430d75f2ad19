/**
 * Names of devices for tables of what refers to devices by id: links, hosts, ports. Only missing names are requested:
 * a few by their ids, many with one list of all devices.
 */
import type { Client } from "../client/client.ts";
import type { Query } from "../client/types.ts";
import { valueAt } from "./columns.ts";

/** So that the ids stay far below the longest URL that a service accepts. */
const MAX_ID_CHARS_PER_REQUEST = 3000;
const FIELDS = "id,annotations";

export class DeviceNames {
  readonly #client: Client;
  readonly #at: Query;
  /** Lower case, because ids that differ only in case are one device. Undefined for a device without a name. */
  readonly #names = new Map<string, string | undefined>();

  /** `at` in the query is the time that the names are of. */
  constructor(client: Client, { at }: Query) {
    this.#client = client;
    this.#at = at === undefined ? {} : { at };
  }

  readonly nameOf = (id: unknown): string | undefined => this.#names.get(String(id).toLowerCase());

  async load(ids: readonly unknown[]): Promise<void> {
    const missing = [...new Set(ids.filter((id) => typeof id === "string"))].filter(
      (id) => !this.#names.has(id.toLowerCase()),
    );
    if (missing.length === 0) return;
    const list = missing.join(",");
    // An id with a comma cannot be part of a list of ids.
    const isShort = list.length <= MAX_ID_CHARS_PER_REQUEST && !missing.some((id) => id.includes(","));
    const query = { ...this.#at, fields: FIELDS, ...(isShort ? { id: list } : {}) };
    for await (const page of this.#client.pages("devices", query)) {
      for (const device of page.items) this.#set(device.id, valueAt(device, "annotations.name"));
    }
    // A device that is not in the response has no name, and is not requested again.
    for (const id of missing) if (!this.#names.has(id.toLowerCase())) this.#set(id, undefined);
  }

  #set(id: string, name: unknown): void {
    const text = typeof name === "string" ? name.trim() : "";
    this.#names.set(id.toLowerCase(), text === "" ? undefined : text);
  }
}
