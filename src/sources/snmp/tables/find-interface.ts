/**
 * Finds the interface that a text of LLDP or CDP means. What agents write there differs: a name, a description, a MAC
 * address, a number of the interface table or of the bridge. Names come first, because a number may be both an ifIndex
 * and a bridge port of two different interfaces. The result says what matched.
 */
import { canonicalMac } from "../../../model/address.ts";
import type { AgentInterface, PortMatch } from "./agent-report.ts";

/** One text about a port; `label` is where it comes from. */
export interface PortText {
  readonly label: string;
  readonly text: string;
}

export interface PortHints {
  readonly texts: readonly PortText[];
  /** An ifIndex or the number of a bridge port. */
  readonly number?: number;
}

type Field = "ifName" | "ifDescr" | "ifAlias" | "ifPhysAddress";

export class InterfaceFinder {
  readonly #byIndex = new Map<number, AgentInterface>();
  readonly #byBasePort = new Map<number, AgentInterface>();
  readonly #byField: Readonly<Record<Field, Map<string, AgentInterface[]>>> = {
    ifName: new Map(),
    ifDescr: new Map(),
    ifAlias: new Map(),
    ifPhysAddress: new Map(),
  };

  constructor(interfaces: readonly AgentInterface[]) {
    for (const port of interfaces) {
      this.#byIndex.set(port.index, port);
      if (port.basePort !== undefined) this.#byBasePort.set(port.basePort, port);
      this.#add("ifName", port.name, port);
      this.#add("ifDescr", port.descr, port);
      this.#add("ifAlias", port.alias, port);
      this.#add("ifPhysAddress", port.mac ?? "", port);
    }
  }

  get(index: number): AgentInterface | undefined {
    return this.#byIndex.get(index);
  }

  find({ texts, number }: PortHints): PortMatch | undefined {
    for (const { label, text } of texts) {
      const found = this.#findText(text, number);
      if (found) return { index: found.port.index, how: `${label} ${found.how}` };
    }
    return number === undefined ? undefined : this.findNumber(number);
  }

  findNumber(number: number): PortMatch | undefined {
    if (this.#byIndex.has(number)) return { index: number, how: "ifIndex" };
    const port = this.#byBasePort.get(number);
    return port && { index: port.index, how: "dot1dBasePort" };
  }

  #findText(text: string, number?: number): { port: AgentInterface; how: string } | undefined {
    if (text === "") return undefined;
    for (const field of ["ifName", "ifDescr", "ifAlias"] as const) {
      const port = this.#choose(this.#byField[field].get(text.toLowerCase()), number);
      if (port) return { port, how: field };
    }
    const mac = canonicalMac(text);
    const byMac = mac && this.#choose(this.#byField.ifPhysAddress.get(mac.toLowerCase()), number);
    if (byMac) return { port: byMac, how: "ifPhysAddress" };
    // RouterOS sends the path through its bridge, such as `bridge1/trunk/ether4`.
    const last = text.slice(text.lastIndexOf("/") + 1).toLowerCase();
    const byLast = /^[a-z]/.test(last) ? this.#choose(this.#byField.ifName.get(last), number) : undefined;
    return byLast && { port: byLast, how: "end of path, ifName" };
  }

  /** Of several interfaces with one name: that with the number, else one that is up, else the lowest. */
  #choose(ports: readonly AgentInterface[] | undefined, number?: number): AgentInterface | undefined {
    if (!ports || ports.length <= 1) return ports?.[0];
    const numbered = ports.find((port) => port.index === number || port.basePort === number);
    return numbered ?? ports.find((port) => port.isUp) ?? ports[0];
  }

  #add(field: Field, text: string, port: AgentInterface): void {
    if (text === "") return;
    const key = text.toLowerCase();
    const ports = this.#byField[field].get(key);
    if (ports) ports.push(port);
    else this.#byField[field].set(key, [port]);
  }
}
