/**
 * How the texts of problems name entities: by the names that people gave them, with the id where it is no part of the name
 * otherwise. The ids stand in the fields of a problem, too.
 */
import type { Entities } from "../../model/entity.ts";
import { type Kind, portId } from "../../model/ids.ts";
import { type NetworkState, parseStored } from "../../view/view.ts";
import { DeviceNames } from "../device-names.ts";

const KIND_NAMES: Readonly<Record<Kind, string>> = {
  devices: "Device",
  ports: "Port",
  links: "Link",
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
    // Not counted for a client: the list of problems is made once for all.
    this.#devices = new DeviceNames(state, () => {});
  }

  /** `leaf-1/3`, or `leaf-1/3[eth3]` where the port has a name. */
  port(device: string, port: string): string {
    const text = this.#state.get("ports", portId(device, port));
    const name = text === undefined ? undefined : parseStored("ports", text).annotations?.portName?.trim();
    return `${portId(this.#devices.of(device), port)}${name && name !== port ? `[${name}]` : ""}`;
  }

  /** `leaf-1/3 to spine-1/7[eth7]` */
  ends({ src, dst }: { readonly src: LinkEnd; readonly dst: LinkEnd }): string {
    return `${this.port(src.device, src.port)} to ${this.port(dst.device, dst.port)}`;
  }

  /** `Device leaf-1 (of:0000000000000001)` */
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
