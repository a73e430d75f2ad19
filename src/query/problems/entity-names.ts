/**
 * Names of entities in the texts of problems: the names that people gave them, with the id where it is not part of the
 * name. The ids are also in the fields of a problem.
 */
import type { Entities } from "../../model/entity.ts";
import { type Kind, portId } from "../../model/ids.ts";
import { type NetworkState, parseStored } from "../../view/view.ts";
import { DeviceNames } from "../device-names.ts";

const KIND_NAMES: Readonly<Record<Kind, string>> = {
  devices: "Device",
  ports: "Port",
  links: "Cable",
  hosts: "Host",
};

interface LinkEnd {
  readonly device: string;
  readonly port: string;
}

export class EntityNames {
  readonly #state: NetworkState;
  readonly #devices: DeviceNames;

  constructor(state: NetworkState) {
    this.#state = state;
    // The memory is not counted for a client, because the list of problems is computed once for all.
    this.#devices = new DeviceNames(state, () => {});
  }

  /** Formats a port as `leaf-1/3`, or `leaf-1/3[eth3]` if the port has a name. */
  port(device: string, port: string): string {
    const text = this.#state.get("ports", portId(device, port));
    const name = text === undefined ? undefined : parseStored("ports", text).annotations?.portName?.trim();
    return `${portId(this.#devices.of(device), port)}${name && name !== port ? `[${name}]` : ""}`;
  }

  /** Formats the ends as `leaf-1/3 to spine-1/7[eth7]`. */
  ends({ src, dst }: { readonly src: LinkEnd; readonly dst: LinkEnd }): string {
    return `${this.port(src.device, src.port)} to ${this.port(dst.device, dst.port)}`;
  }

  /** Formats an entity as `Device leaf-1 (of:0000000000000001)`. */
  entity(kind: Kind, entity: Entities[Kind]): string {
    return `${KIND_NAMES[kind]} ${this.#nameOf(entity)}`;
  }

  #nameOf(entity: Entities[Kind]): string {
    if ("element" in entity) return this.port(entity.element, entity.port);
    if ("src" in entity) return this.ends(entity);
    const name = entity.annotations?.name?.trim();
    return name ? `${name} (${entity.id})` : entity.id;
  }
}
