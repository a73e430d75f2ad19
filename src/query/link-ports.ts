/**
 * Finds links by the names that a monitoring system uses for a device and a port: the labels of a time series. A device is
 * named by its id, an alias, its management address or its name, in this order, with or without a port number at the end
 * (`10.0.0.1:9116`). A port is named by its name or its number. A name that two devices or ports have names neither. Only
 * ports at the ends of links are known. The index is built in steps, for one revision.
 */
import { COST, Pause, type Steps } from "../lib/steps.ts";
import { canonicalIp } from "../model/address.ts";
import { deviceKey, portId } from "../model/ids.ts";
import { additionsOn } from "../view/encoded-page.ts";
import { NAME_ANNOTATIONS } from "../view/port-matching.ts";
import { type NetworkState, parseStored } from "../view/view.ts";

/** The ids of the links that begin and that end at a port. */
export interface PortLinks {
  readonly out: string[];
  readonly in: string[];
}

/** "no-device": the label names no device. Undefined: the device has no link at such a port. */
export type FoundLinks = PortLinks | "no-device" | undefined;

/** The names and what each means; null where two have the same name. */
type Names<T> = Map<string, T | null>;

interface DevicePorts {
  readonly byNumber: Map<string, PortLinks>;
  readonly byName: Names<PortLinks>;
}

const WITH_PORT = /^(?:\[([^\]]+)\]|([^:]+)):\d{1,5}$/;

export class LinkPorts {
  /** Maps from names to keys of devices, in order of precedence. */
  readonly #deviceNames: readonly [
    ids: Names<string>,
    aliases: Names<string>,
    addresses: Names<string>,
    names: Names<string>,
  ] = [new Map(), new Map(), new Map(), new Map()];
  readonly #devices = new Map<string, DevicePorts>();

  static *build(state: NetworkState): Steps<LinkPorts> {
    const built = new LinkPorts();
    yield* built.#addDevices(state);
    yield* built.#addLinks(state);
    return built;
  }

  find(deviceLabel: string, portLabel: string): FoundLinks {
    const device = this.#findDevice(deviceLabel);
    if (device === undefined) return "no-device";
    const ports = this.#devices.get(device);
    const named = ports?.byName.get(portLabel.toLowerCase());
    // Null means that two ports have the name. The text may still be the number of a port.
    return named ?? ports?.byNumber.get(portLabel.toLowerCase());
  }

  #findDevice(label: string): string | undefined {
    const withPort = WITH_PORT.exec(label);
    for (const text of [label, withPort?.[1] ?? withPort?.[2]]) {
      if (text === undefined) continue;
      const key = nameKey(text);
      const names = this.#deviceNames.find((candidates) => candidates.has(key));
      if (names) return names.get(key) ?? undefined;
    }
    return undefined;
  }

  *#addDevices(state: NetworkState): Steps<void> {
    const [ids, aliases, addresses, names] = this.#deviceNames;
    const pause = new Pause();
    for (const { after: text } of additionsOn(yield* state.pages("devices"))) {
      if (pause.due(COST.entity, text.length)) yield;
      const device = parseStored("devices", text);
      const key = deviceKey(device.id);
      addName(ids, device.id, key);
      for (const alias of device.aliases ?? []) addName(aliases, alias, key);
      addName(addresses, device.annotations.managementAddress, key);
      addName(names, device.annotations.name, key);
    }
  }

  *#addLinks(state: NetworkState): Steps<void> {
    const pause = new Pause();
    for (const { after: text } of additionsOn(yield* state.pages("links"))) {
      if (pause.due(COST.entity, text.length)) yield;
      const { id, src, dst } = parseStored("links", text);
      this.#linksAt(state, src.device, src.port).out.push(id);
      this.#linksAt(state, dst.device, dst.port).in.push(id);
    }
  }

  #linksAt(state: NetworkState, device: string, port: string): PortLinks {
    const key = deviceKey(device);
    const ports = this.#devices.get(key) ?? { byNumber: new Map(), byName: new Map() };
    this.#devices.set(key, ports);
    const known = ports.byNumber.get(port.toLowerCase());
    if (known) return known;
    const links: PortLinks = { out: [], in: [] };
    ports.byNumber.set(port.toLowerCase(), links);
    const stored = state.get("ports", state.spelledId("ports", portId(device, port)));
    const annotations = stored === undefined ? undefined : parseStored("ports", stored).annotations;
    const names = new Set(NAME_ANNOTATIONS.map((name) => annotations?.[name]?.toLowerCase()));
    for (const name of names) addName(ports.byName, name, links);
    return links;
  }
}

const nameKey = (text: string): string => canonicalIp(text) ?? text.toLowerCase();

function addName<T>(names: Names<T>, name: string | undefined, value: T): void {
  if (!name) return;
  const key = nameKey(name);
  const known = names.get(key);
  names.set(key, known === undefined || known === value ? value : null);
}
