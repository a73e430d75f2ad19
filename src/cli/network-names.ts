/**
 * The names of devices and ports, for output that refers to them by id: links, hosts, ports, paths and changes. Only names
 * that are not loaded yet are requested: for a few devices by their ids, for many with one list of all.
 */
import type { Client } from "../client/client.ts";
import type { Query } from "../client/types.ts";
import type { Entities } from "../model/entity.ts";
import { deviceKey, type Kind, portId } from "../model/ids.ts";
import { isRow, type Row, valueAt } from "./columns.ts";
import { fetchPages } from "./pages.ts";

/** A device, or one of its ports, in unchecked JSON. */
export interface ConnectPointJson {
  readonly device?: unknown;
  readonly port?: unknown;
}

/** The maximum length of the ids in a request, far below the longest URL that a service accepts. */
const MAX_ID_CHARS_PER_REQUEST = 3000;

/** How long the names of a line are waited for. */
const MAX_WAIT_MS = 2000;

/** Names by id in lower case, because ids that differ only in case are one device; undefined if there is no name. */
type Names = Map<string, string | undefined>;

export class NetworkNames {
  readonly #client: Client;
  readonly #at: Query;
  readonly #devices: Names = new Map();
  readonly #ports: Names = new Map();
  /** The ids, in lower case, of the devices whose ports are loaded. */
  readonly #withPorts = new Set<string>();

  /** `at` in the query is the revision or time whose names are loaded. */
  constructor(client: Client, { at }: Query) {
    this.#client = client;
    this.#at = at === undefined ? {} : { at };
  }

  readonly nameOf = (device: unknown): string | undefined => this.#devices.get(deviceKey(String(device)));

  /** The names of the device and the port that have one, such as `leaf-1/eth3`. */
  readonly namesOf = ({ device, port }: ConnectPointJson): string | undefined => {
    const names = [this.nameOf(device), this.#portName(device, port)].filter((name) => name !== undefined);
    return names.length === 0 ? undefined : names.join("/");
  };

  /** A text such as `leaf-1/3[eth3]`, with the id of the device if it has no name. */
  readonly textOf = ({ device, port }: ConnectPointJson): string => {
    const name = this.#portName(device, port);
    return `${this.nameOf(device) ?? device}/${port}${name === undefined ? "" : `[${name}]`}`;
  };

  #portName(device: unknown, port: unknown): string | undefined {
    return this.#ports.get(deviceKey(portId(String(device), String(port))));
  }

  /** Loads the names of the given devices. For those that are given with a port, also the names of their ports. */
  async load(points: readonly ConnectPointJson[], signal?: AbortSignal): Promise<void> {
    const given = points.filter(({ device }) => typeof device === "string");
    const devices = given.map(({ device }) => String(device));
    const withPorts = given.filter(({ port }) => port !== undefined).map(({ device }) => String(device));
    await this.#loadMissing(
      "devices",
      "id",
      devices,
      new Set(this.#devices.keys()),
      (row) => this.#setDevice(row.id, valueAt(row, "annotations.name")),
      signal,
    );
    // A device that is not in the response has no name, and is not requested again.
    for (const id of devices) if (!this.#devices.has(deviceKey(id))) this.#setDevice(id, undefined);
    await this.#loadMissing(
      "devices/ports",
      "element",
      withPorts,
      this.#withPorts,
      (row) => this.#setPort(row.element, row.port, valueAt(row, "annotations.portName")),
      signal,
    );
    for (const id of withPorts) this.#withPorts.add(deviceKey(id));
  }

  /**
   * Loads the names for a line that is printed in any case. A request that fails or takes long leaves ids in the line: the
   * watch itself reports a lost service and continues.
   */
  async loadForLine(points: readonly ConnectPointJson[], signal: AbortSignal): Promise<void> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(MAX_WAIT_MS)]);
    await this.load(points, limited).catch(() => signal.throwIfAborted());
  }

  /** Stores the name of an entity that the caller has read already. */
  add(resource: Kind, value: Entities[Kind]): void {
    if (resource === "devices") this.#setDevice(valueAt(value, "id"), valueAt(value, "annotations.name"));
    if (resource === "ports")
      this.#setPort(
        valueAt(value, "element"),
        valueAt(value, "port"),
        valueAt(value, "annotations.portName"),
      );
  }

  async #loadMissing(
    path: "devices" | "devices/ports",
    filter: "id" | "element",
    ids: readonly string[],
    known: ReadonlySet<string>,
    onRow: (row: Row) => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !known.has(deviceKey(id)));
    if (missing.length === 0) return;
    const list = missing.join(",");
    // An id with a comma cannot be part of a list of ids.
    const isShort = list.length <= MAX_ID_CHARS_PER_REQUEST && !missing.some((id) => id.includes(","));
    const fields = path === "devices" ? "id,annotations" : "element,port,annotations";
    const query = { ...this.#at, fields, ...(isShort && { [filter]: list }) };
    for await (const response of fetchPages(this.#client, path, query, signal)) {
      const rows = valueAt(await response.json(), path === "devices" ? "devices" : "ports");
      for (const row of Array.isArray(rows) ? rows : []) if (isRow(row)) onRow(row);
    }
  }

  #setDevice(id: unknown, name: unknown): void {
    this.#devices.set(deviceKey(String(id)), nameIn(name));
  }

  #setPort(device: unknown, port: unknown, name: unknown): void {
    const text = nameIn(name);
    this.#ports.set(deviceKey(portId(String(device), String(port))), text === port ? undefined : text);
  }
}

function nameIn(value: unknown): string | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? undefined : text;
}
