/**
 * What one agent says about its device, its neighbours and the stations behind its ports: the result of `mapAgent` and
 * the input of `joinAgents`. Plain values, so that a report can be kept and sent between threads.
 */
import type { ClaimFault, DeviceClaim } from "../../../model/claim.ts";
import type { Kind } from "../../../model/ids.ts";
import type { Capability } from "./capabilities.ts";

export interface RecordFault {
  readonly kind: Kind;
  readonly fault: ClaimFault;
}

/** Texts and addresses by which a device is recognised. MACs are canonical. */
export interface AgentIdentity {
  /** `lldpLocChassisId`, in the form that its neighbours report. */
  readonly chassis?: string;
  readonly bridgeAddress?: string;
  readonly serial?: string;
  readonly name?: string;
  /** The lowest address of a physical interface. */
  readonly lowestMac?: string;
  /** Of all interfaces, sorted. */
  readonly macs: readonly string[];
  /** IP addresses of the device, sorted; the one that was polled among them. */
  readonly addresses: readonly string[];
}

export interface AgentInterface {
  /** ifIndex: the number of the port. */
  readonly index: number;
  /** ifName, else ifDescr, else the number. */
  readonly name: string;
  readonly descr: string;
  readonly alias: string;
  readonly type: number;
  readonly speedMbps: number;
  readonly isUp: boolean;
  readonly mac?: string;
  readonly basePort?: number;
  /** ifIndex of the aggregate that this port is a member of. */
  readonly aggregate?: number;
}

/** A port, and by what it was found: for the annotation `matchedBy`. */
export interface PortMatch {
  readonly index: number;
  readonly how: string;
}

export interface Neighbour {
  /** `LLDP`, `CDP`, or both for a device that sends both on one cable. */
  readonly protocols: readonly ("LLDP" | "CDP")[];
  /** The interface that received it; absent when no interface matches. */
  readonly localPort?: PortMatch;
  /** The id of the neighbour's device, made of what it sends alone. */
  readonly id: string;
  /** Other ids that the same frame would give. */
  readonly aliases: readonly string[];
  readonly chassis: string;
  /** Whether the chassis id is one of a device, not of an interface and not an address that may change. */
  readonly isChassisIdentity: boolean;
  readonly portId: string;
  readonly portDesc: string;
  readonly portMac?: string;
  readonly name: string;
  readonly serial?: string;
  readonly description: string;
  readonly platform: string;
  readonly capabilities: readonly Capability[];
  /** Management addresses. */
  readonly addresses: readonly string[];
  /** Its addresses at layer 2: chassis, port, management. */
  readonly macs: readonly string[];
}

export interface ForwardingEntry {
  readonly mac: string;
  /** As in the table; absent when the table has no VLANs. */
  readonly vlan?: number;
  readonly port: number;
  /** Frames of this VLAN leave the port without a tag. */
  readonly isUntagged: boolean;
}

export interface AddressEntry {
  readonly mac: string;
  readonly ip: string;
  /** ifIndex of the interface that the address was resolved on. */
  readonly port: number;
}

export interface AgentReport {
  readonly target: string;
  readonly address: string;
  readonly identity: AgentIdentity;
  readonly device: Omit<DeviceClaim, "id" | "available">;
  readonly interfaces: readonly AgentInterface[];
  readonly neighbours: readonly Neighbour[];
  /** ifIndexes of ports with a neighbour that forwards for others and that nothing identifies. */
  readonly unidentifiedUplinks: readonly number[];
  readonly forwarding: readonly ForwardingEntry[];
  readonly addressTable: readonly AddressEntry[];
  readonly faults: readonly RecordFault[];
}

/** The last report of an agent. */
export interface PolledAgent {
  readonly report: AgentReport;
  /** Epoch ms since when it does not answer; undefined while it answers. */
  readonly unansweredSince?: number;
}
