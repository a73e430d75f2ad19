/**
 * Devices that are known only because a polled device has them as a neighbour, with the ports that they name. One device
 * may be received by several agents: the first non-empty text in the order of agents and ports counts.
 */
import type { DeviceClaim, PortClaim } from "../../../model/claim.ts";
import { assignPortNumbers } from "../../../model/derived-ids.ts";
import { type ConnectPoint, deviceKey } from "../../../model/ids.ts";
import type { Neighbour } from "../tables/agent-report.ts";
import { type Capability, typeOfCapabilities } from "../tables/capabilities.ts";

export type NamedPorts = (id: string, portName: string) => ConnectPoint | undefined;

interface Entry {
  /** Of several spellings the first, so that the order of the agents does not matter. */
  id: string;
  readonly neighbours: Neighbour[];
  /** Name → what the neighbour writes about the port besides. */
  readonly ports: Map<string, string>;
}

export class NeighbourDevices {
  readonly #entries = new Map<string, Entry>();

  /** `portName` is absent when the port that received the neighbour is not known. */
  add(neighbour: Neighbour, portName?: string): void {
    const entry: Entry = this.#entries.get(deviceKey(neighbour.id)) ?? {
      id: neighbour.id,
      neighbours: [],
      ports: new Map(),
    };
    this.#entries.set(deviceKey(neighbour.id), entry);
    if (neighbour.id < entry.id) entry.id = neighbour.id;
    entry.neighbours.push(neighbour);
    if (portName !== undefined) entry.ports.set(portName, entry.ports.get(portName) || neighbour.portDesc);
  }

  /** Finds ports by name. Call it after all neighbours were added: names may collide. */
  namedPorts(): NamedPorts {
    const numbers = new Map<string, Map<string, string>>();
    for (const [key, { ports }] of this.#entries)
      numbers.set(key, assignPortNumbers([...ports.keys()].map((name) => ({ name }))));
    return (id, portName) => {
      const device = this.#entries.get(deviceKey(id))?.id;
      const port = numbers.get(deviceKey(id))?.get(portName);
      return device === undefined || port === undefined ? undefined : { device, port };
    };
  }

  *deviceClaims(): Generator<DeviceClaim> {
    for (const { id, neighbours } of this.#entries.values()) {
      const first = (text: (neighbour: Neighbour) => string | undefined): string => {
        for (const neighbour of neighbours) {
          const value = text(neighbour);
          if (value) return value;
        }
        return "";
      };
      const name = first((each) => each.name);
      const managementAddress = first((each) => each.addresses[0]);
      const capabilities = [
        ...new Set(neighbours.flatMap((each): readonly Capability[] => each.capabilities)),
      ];
      const hw = first((each) => each.platform);
      const sw = first((each) => each.description);
      const serial = first((each) => each.serial);
      const chassisId = first((each) => each.chassis);
      const protocols = new Set(neighbours.flatMap((each) => each.protocols));
      const aliases = [...new Set(neighbours.flatMap((each) => each.aliases))];
      yield {
        id,
        type: typeOfCapabilities(capabilities),
        available: true,
        ...(hw !== "" && { hw }),
        ...(sw !== "" && { sw }),
        ...(serial !== "" && { serial }),
        ...(chassisId !== "" && { chassisId }),
        aliases,
        annotations: {
          protocol: protocols.has("LLDP") ? "LLDP" : "CDP",
          ...(name !== "" && { name }),
          ...(managementAddress !== "" && { managementAddress }),
          ...(capabilities.length > 0 && { capabilities: capabilities.sort().join(", ") }),
        },
      };
    }
  }

  *portClaims(find: NamedPorts): Generator<PortClaim> {
    for (const { id, ports } of this.#entries.values()) {
      for (const [name, description] of ports) {
        const port = find(id, name)?.port;
        if (port === undefined) continue;
        const annotations = { portName: name, ...(description !== "" && { description }) };
        yield { element: id, port, isEnabled: true, annotations };
      }
    }
  }
}
