/**
 * A rogue switch: a peer that completes the handshake with any datapath id and ports, then sends what a test wants. It
 * installs no flows. Unlike the emulated switches it costs its process almost nothing, whatever number of ports it has.
 */
import { connect, type Socket } from "node:net";
import { MessageFramer } from "../../../src/sources/openflow/codec/framing.ts";
import {
  type Bodies,
  dispatch,
  encode,
  type Handlers,
  type MessageKind,
  MULTIPART,
  PORT_REASON,
} from "../../../src/sources/openflow/codec/openflow-messages.ts";
import { PORT_STATE, type PortDescription } from "../../../src/sources/openflow/codec/port.ts";
import { deviceId } from "./emulator.ts";

const PORTS_PER_MESSAGE = 1000;

export interface RogueOptions {
  readonly dpid: number;
  readonly ports: number;
  /** The MAC of each port. Default: locally administered, different for each. */
  readonly mac?: (port: number) => string;
  /** Its own address. Default 127.0.0.1. */
  readonly address?: string;
}

const hexByte = (value: number) => (value & 0xff).toString(16).padStart(2, "0");

/** A locally administered MAC. */
export const rogueMac = (number: number): string =>
  `02:dd:${[number >> 24, number >> 16, number >> 8, number].map(hexByte).join(":")}`.toUpperCase();

export class Rogue {
  readonly #options: RogueOptions;
  readonly #socket: Socket;
  readonly #framer = new MessageFramer();
  isClosed = false;
  /** It was sent flows: its switch is in the inventory. */
  isAccepted = false;
  /** Texts of the errors that it received. */
  readonly errors: string[] = [];

  private constructor(options: RogueOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    this.isClosed = socket.destroyed;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#receive(Buffer.from(chunk)));
    socket.on("close", () => {
      this.isClosed = true;
    });
    this.send("hello", { versions: [4] });
  }

  static async connect(port: number, options: RogueOptions): Promise<Rogue> {
    const socket = connect({ host: "127.0.0.1", port, localAddress: options.address ?? "127.0.0.1" });
    socket.on("error", () => {});
    await new Promise<void>((resolve) => {
      socket.once("connect", resolve);
      socket.once("close", resolve);
    });
    return new Rogue(options, socket);
  }

  get id(): string {
    return deviceId(this.#options.dpid);
  }

  describe(number: number, up = true): PortDescription {
    return {
      number,
      mac: this.#options.mac?.(number) ?? rogueMac(this.#options.dpid * 0x10000 + number),
      name: `p${number}`,
      config: 0,
      state: up ? PORT_STATE.live : PORT_STATE.linkDown,
      current: 0x40,
      currentKbps: 10_000_000,
      maxKbps: 10_000_000,
    };
  }

  setPort(number: number, up: boolean): void {
    this.send("portStatus", { reason: PORT_REASON.modify, port: this.describe(number, up) });
  }

  send<K extends MessageKind>(kind: K, body: Bodies[K], xid = 0): void {
    this.sendBytes(encode(kind, body, xid));
  }

  sendBytes(bytes: Uint8Array): void {
    if (!this.isClosed) this.#socket.write(bytes);
  }

  /** Bytes that the service has not taken. */
  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Uint8Array): void {
    this.#framer.push(chunk);
    for (let message = this.#framer.next(); message; message = this.#framer.next())
      dispatch(message, this.#handlers);
  }

  readonly #handlers: Handlers = {
    error: ({ data }) => this.errors.push(new TextDecoder().decode(data)),
    echoRequest: ({ data }, xid) => this.send("echoReply", { data }, xid),
    flowMod: () => {
      this.isAccepted = true;
    },
    barrierRequest: (_, xid) => this.send("barrierReply", {}, xid),
    featuresRequest: (_, xid) => {
      const dpid = this.id.slice(3);
      this.send("featuresReply", { dpid, buffers: 0, tables: 254, auxiliary: 0, capabilities: 0 }, xid);
    },
    multipartRequest: ({ type }, xid) => {
      if (type === MULTIPART.description) {
        const description = { mfr: "", hw: "", sw: "", serial: "", datapath: "" };
        this.send("multipartReply", { type, more: false, description }, xid);
      } else if (type === MULTIPART.portDescription) this.#sendPorts(type, xid);
    },
  };

  #sendPorts(type: number, xid: number): void {
    const count = this.#options.ports;
    for (let first = 1; first <= Math.max(1, count); first += PORTS_PER_MESSAGE) {
      const length = Math.min(PORTS_PER_MESSAGE, count - first + 1);
      const ports = Array.from({ length }, (_, i) => this.describe(first + i));
      this.send("multipartReply", { type, more: first + PORTS_PER_MESSAGE <= count, ports }, xid);
    }
  }
}
