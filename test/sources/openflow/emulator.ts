/**
 * Emulated OpenFlow switches: many in one process, each with a real TCP or TLS session, connected to each other and to
 * hosts. They have a flow table and process frames through it. NORMAL is a plain flood without learning, the strictest
 * case: any loop shows at once. Frames are delivered in the order they were sent. A limit on deliveries ends a storm.
 */
import { ETHER, readFrame } from "../../../src/sources/openflow/codec/ethernet.ts";
import {
  type Bodies,
  dispatch,
  ERROR,
  FLOW_COMMAND,
  type FlowMod,
  type Handlers,
  type MessageKind,
  MULTIPART,
  PORT_REASON,
  ROLE,
} from "../../../src/sources/openflow/codec/openflow-messages.ts";
import {
  PORT,
  PORT_CONFIG,
  PORT_STATE,
  type PortDescription,
} from "../../../src/sources/openflow/codec/port.ts";
import { macText } from "../../../src/sources/openflow/codec/wire.ts";
import { type ControllerAddress, ControllerConnection } from "./controller-connection.ts";
import { matches, matchFieldsOf } from "./flow-match.ts";

export const deviceId = (dpid: number): string => `of:${dpid.toString(16).padStart(16, "0")}`;
/** A code of `ERROR.badRequest`: a slave must not change anything. */
const IS_SLAVE = 10;
const MAX_DELIVERIES = 200_000;
/** A message has at most 65,535 bytes; a port has 64. */
const PORTS_PER_REPLY = 1000;

/** A device other than a switch that is attached to a port. */
export interface Station {
  receive(frame: Uint8Array): void;
}

interface Wire {
  readonly to: EmulatedSwitch;
  readonly port: number;
}

interface EmulatedPort {
  readonly number: number;
  up: boolean;
  config: number;
  wire: Wire | undefined;
  station: Station | undefined;
}

interface RoleChange {
  readonly role: number;
  readonly generation: bigint;
  readonly address: ControllerAddress;
}

export class EmulatedSwitch {
  readonly dpid: number;
  /** By default the name that Mininet would give it. */
  datapathDescription: string | undefined;
  readonly ports = new Map<number, EmulatedPort>();
  flows: FlowMod[] = [];
  /** How many messages of each kind the controller has sent. */
  readonly received = new Map<MessageKind, number>();
  readonly errors: Bodies["error"][] = [];
  /** Changes of controllers that are slaves. */
  refusedChanges = 0;
  /** Changes of controllers that are not the master, while another one is. */
  rivalChanges = 0;
  /** Keeps the connection open but neither processes nor sends messages. */
  unresponsive = false;
  repliesToBarriers = true;
  readonly #net: EmulatedNetwork;
  readonly #connections = new Set<ControllerConnection>();
  #latest: ControllerConnection | undefined;
  /** Roles that controllers have requested. */
  readonly roleChanges: RoleChange[] = [];
  #generation: bigint | undefined;

  constructor(net: EmulatedNetwork, dpid: number, portCount: number) {
    this.#net = net;
    this.dpid = dpid;
    for (let number = 1; number <= portCount; number++) {
      this.ports.set(number, { number, up: true, config: 0, wire: undefined, station: undefined });
    }
  }

  get connected(): boolean {
    return this.#connections.size > 0;
  }

  isConnectedTo({ port }: ControllerAddress): boolean {
    return [...this.#connections].some(({ address }) => address.port === port);
  }

  get masters(): readonly ControllerAddress[] {
    return [...this.#connections].filter(({ role }) => role === ROLE.master).map(({ address }) => address);
  }

  get id(): string {
    return deviceId(this.dpid);
  }

  /** Resolves when the hello of the controller arrives: until then only the kernel may have accepted the connection. */
  get helloReceived(): Promise<void> {
    return this.#latest?.helloReceived ?? Promise.resolve();
  }

  /** Beside the connections to other controllers. */
  async connect(address: ControllerAddress): Promise<void> {
    const connection = new ControllerConnection(address);
    const handlers = this.#handlersOf(connection);
    this.#latest = connection;
    await connection.open({
      onMessage: (message) => {
        if (!this.unresponsive) this.#handleMessage(message, handlers);
      },
      onClose: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    connection.send("hello", { versions: [4] });
  }

  /** Closes the sessions. The flows stay, as in a switch in secure mode. */
  disconnect(): void {
    for (const connection of this.#connections) connection.end();
    this.#connections.clear();
  }

  disconnectFrom({ port }: ControllerAddress): void {
    for (const connection of this.#connections) {
      if (connection.address.port !== port) continue;
      connection.end();
      this.#connections.delete(connection);
    }
  }

  /** To all controllers; frames not to those that are slaves. */
  send<K extends MessageKind>(kind: K, body: Bodies[K], xid = 0): void {
    for (const connection of this.#connections)
      if (kind !== "packetIn" || connection.role !== ROLE.slave) connection.send(kind, body, xid);
  }

  sendBytes(bytes: Uint8Array): void {
    for (const connection of this.#connections) connection.sendBytes(bytes);
  }

  setPort(number: number, up: boolean): void {
    const port = this.ports.get(number);
    if (!port || port.up === up) return;
    port.up = up;
    this.send("portStatus", { reason: PORT_REASON.modify, port: this.describe(port) });
    // The other end of the cable loses its carrier too.
    port.wire?.to.setPort(port.wire.port, up);
  }

  removePort(number: number): void {
    const port = this.ports.get(number);
    if (!port) return;
    this.ports.delete(number);
    this.send("portStatus", { reason: PORT_REASON.delete, port: this.describe(port) });
  }

  describe({ number, up, config }: EmulatedPort): PortDescription {
    return {
      number,
      mac: macText(Uint8Array.of(0x02, 0xee, this.dpid >> 8, this.dpid & 0xff, number >> 8, number & 0xff)),
      name: `s${this.dpid}-eth${number}`,
      config,
      state: up ? PORT_STATE.live : PORT_STATE.linkDown,
      current: 0x40,
      currentKbps: 10_000_000,
      maxKbps: 10_000_000,
    };
  }

  #handleMessage(message: Uint8Array, handlers: Handlers): void {
    const kind = dispatch(message, handlers);
    if (kind) this.received.set(kind, (this.received.get(kind) ?? 0) + 1);
  }

  #handlersOf(connection: ControllerConnection): Handlers {
    const mayChange = (): boolean => {
      if (connection.role === ROLE.equal && this.masters.length > 0) this.rivalChanges++;
      if (connection.role !== ROLE.slave) return true;
      connection.send("error", { type: ERROR.badRequest, code: IS_SLAVE, data: new Uint8Array(8) });
      this.refusedChanges++;
      return false;
    };
    return {
      hello: () => connection.onHello(),
      error: (body) => this.errors.push(body),
      echoRequest: ({ data }, xid) => connection.send("echoReply", { data }, xid),
      featuresRequest: (_, xid) => {
        const dpid = this.id.slice(3);
        connection.send(
          "featuresReply",
          { dpid, buffers: 0, tables: 254, auxiliary: 0, capabilities: 0x4f },
          xid,
        );
      },
      multipartRequest: ({ type }, xid) => this.#multipart(connection, type, xid),
      barrierRequest: (_, xid) => {
        if (this.repliesToBarriers) connection.send("barrierReply", {}, xid);
      },
      roleRequest: (body, xid) => this.#changeRole(connection, body, xid),
      flowMod: (flow) => {
        if (mayChange()) this.#flowMod(flow);
      },
      portMod: ({ port: number, config, mask }) => {
        const port = this.ports.get(number);
        if (!port || !mayChange()) return;
        port.config = (port.config & ~mask) | (config & mask);
        this.send("portStatus", { reason: PORT_REASON.modify, port: this.describe(port) });
      },
      packetOut: ({ output, frame }) => {
        if (!mayChange()) return;
        for (const port of output) this.#net.emit(this, port, frame);
      },
    };
  }

  /** §6.3.5: a generation before the last one is refused, and there is one master. */
  #changeRole(connection: ControllerConnection, body: Bodies["roleRequest"], xid: number): void {
    const { role, generation } = body;
    if (role === ROLE.master || role === ROLE.slave) {
      if (generation < (this.#generation ?? 0n)) {
        connection.send("error", { type: ERROR.roleRequestFailed, code: 0, data: new Uint8Array(8) }, xid);
        return;
      }
      this.#generation = generation;
      this.roleChanges.push({ role, generation, address: connection.address });
      if (role === ROLE.master)
        for (const other of this.#connections) if (other.role === ROLE.master) other.role = ROLE.slave;
    }
    if (role !== ROLE.noChange) connection.role = role;
    connection.send("roleReply", body, xid);
  }

  #multipart(connection: ControllerConnection, type: number, xid: number): void {
    if (type === MULTIPART.aggregate) {
      connection.send("multipartReply", { type, more: false, flowCount: this.flows.length }, xid);
    } else if (type === MULTIPART.description) {
      const description = {
        mfr: "Emulated",
        hw: "Switch",
        sw: "1",
        serial: "None",
        datapath: this.datapathDescription ?? `s${this.dpid}`,
      };
      connection.send("multipartReply", { type, more: false, description }, xid);
    } else if (type === MULTIPART.portDescription) {
      const ports = [...this.ports.values()].map((port) => this.describe(port));
      for (let at = 0; at === 0 || at < ports.length; at += PORTS_PER_REPLY) {
        const more = at + PORTS_PER_REPLY < ports.length;
        connection.send("multipartReply", { type, more, ports: ports.slice(at, at + PORTS_PER_REPLY) }, xid);
      }
    }
  }

  #flowMod(flow: FlowMod): void {
    const isSameFlow = (other: FlowMod) =>
      other.table === flow.table &&
      other.priority === flow.priority &&
      Bun.deepEquals(other.match, flow.match);
    const matchesCookie = (other: FlowMod) =>
      (other.cookie & (flow.cookieMask ?? 0n)) === (flow.cookie & (flow.cookieMask ?? 0n));
    if (flow.command === FLOW_COMMAND.delete)
      this.flows = this.flows.filter((other) => !matchesCookie(other));
    else this.flows = this.flows.filter((other) => !isSameFlow(other));
    if (flow.command !== FLOW_COMMAND.add) return;
    this.flows.push(flow);
    this.flows.sort((a, b) => b.priority - a.priority);
  }

  /** Whether frames received on the port are forwarded. */
  isOpen(port: number): boolean {
    return this.flows.some((flow) => flow.table === 1 && flow.match.inPort === port);
  }

  receiveFrame(inPort: number, frame: Uint8Array): void {
    const port = this.ports.get(inPort);
    if (!port?.up) return;
    const fields = matchFieldsOf(inPort, frame);
    for (let table: number | undefined = 0; table !== undefined; ) {
      const current: number = table;
      const flow = this.flows.find((one) => one.table === current && matches(one.match, fields));
      for (const output of flow?.instructions.output ?? []) this.#output(inPort, output, frame);
      table = flow?.instructions.gotoTable;
    }
  }

  #output(inPort: number, output: number, frame: Uint8Array): void {
    if (output === PORT.controller) this.send("packetIn", { reason: 1, inPort, frame });
    else if (output === PORT.normal) {
      for (const { number } of this.ports.values())
        if (number !== inPort) this.#net.emit(this, number, frame);
    } else this.#net.emit(this, output, frame);
  }
}

/** A bridge without OpenFlow: floods all frames except LLDP. */
export class PlainBridge {
  readonly #net: EmulatedNetwork;
  readonly #ports: { readonly to: EmulatedSwitch; readonly port: number }[] = [];

  constructor(net: EmulatedNetwork) {
    this.#net = net;
  }

  attach(to: EmulatedSwitch, port: number): void {
    const index = this.#ports.push({ to, port }) - 1;
    const entry = to.ports.get(port);
    if (!entry) throw new Error(`no port ${port}`);
    entry.station = { receive: (frame) => this.#flood(index, frame) };
  }

  #flood(from: number, frame: Uint8Array): void {
    if (readFrame(frame).type === ETHER.lldp) return;
    for (const [index, { to, port }] of this.#ports.entries()) {
      if (index !== from) this.#net.deliver(() => to.receiveFrame(port, frame));
    }
  }
}

export class EmulatedNetwork {
  readonly switches = new Map<number, EmulatedSwitch>();
  /** Frames delivered since it was last set to zero. */
  deliveries = 0;
  #queue: (() => void)[] = [];
  #draining = false;

  add(dpid: number, portCount: number): EmulatedSwitch {
    const sw = new EmulatedSwitch(this, dpid, portCount);
    this.switches.set(dpid, sw);
    return sw;
  }

  get(dpid: number): EmulatedSwitch {
    const sw = this.switches.get(dpid);
    if (!sw) throw new Error(`no switch ${dpid}`);
    return sw;
  }

  wire(a: EmulatedSwitch, portA: number, b: EmulatedSwitch, portB: number): void {
    const [endA, endB] = [a.ports.get(portA), b.ports.get(portB)];
    if (!endA || !endB) throw new Error("no such port");
    endA.wire = { to: b, port: portB };
    endB.wire = { to: a, port: portA };
  }

  plug(sw: EmulatedSwitch, port: number, station: Station | undefined): void {
    const end = sw.ports.get(port);
    if (end) end.station = station;
  }

  /** Sends a frame out of a port. */
  emit(sw: EmulatedSwitch, number: number, frame: Uint8Array): void {
    const port = sw.ports.get(number);
    if (!port?.up || (port.config & PORT_CONFIG.noForward) !== 0) return;
    const { wire, station } = port;
    if (wire) this.deliver(() => wire.to.receiveFrame(wire.port, frame));
    else if (station) this.deliver(() => station.receive(frame));
  }

  deliver(arrival: () => void): void {
    if (++this.deliveries > MAX_DELIVERIES) throw new Error("broadcast storm");
    this.#queue.push(arrival);
    if (this.#draining) return;
    this.#draining = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) next();
    } finally {
      this.#draining = false;
      this.#queue = [];
    }
  }

  async connect(target: ControllerAddress): Promise<void> {
    await Promise.all([...this.switches.values()].map((sw) => sw.connect(target)));
  }

  disconnect(): void {
    for (const sw of this.switches.values()) sw.disconnect();
  }
}
