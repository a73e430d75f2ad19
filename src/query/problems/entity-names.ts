/**
 * How the texts of problems name entities: by the names that people gave them, with the id where it is no part of the name
 * otherwise. The ids stand in the fields of a problem, too.
 */
import type { Entities } from "../../model/entity.ts";
import { type Kind, portId } from "../../model/ids.ts";
import type { NetworkState } from "../../view/view.ts";
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
  readonly #devices: DeviceNames;

  constructor(state: NetworkState) {
    // Not counted for a client: the list of problems is made once for all.
    this.#devices = new DeviceNames(state, () => {});
  }

  /** `leaf-1/3` */
  port(device: string, port: string): string {
    return portId(this.#devices.of(device), port);
  }

  /** `leaf-1/3 to spine-1/7` */
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
