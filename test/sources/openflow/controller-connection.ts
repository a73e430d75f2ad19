/**
 * One connection of an emulated switch to a controller, with the role that this controller has. What is sent within one turn
 * of the event loop is one write.
 */
import type { Socket, TCPSocketConnectOptions } from "bun";
import { MessageFramer } from "../../../src/sources/openflow/codec/framing.ts";
import {
  type Bodies,
  encode,
  type MessageKind,
  ROLE,
} from "../../../src/sources/openflow/codec/openflow-messages.ts";

export interface ControllerAddress {
  readonly port: number;
  readonly host?: string;
  readonly tls?: TCPSocketConnectOptions["tls"];
}

export interface ConnectionEvents {
  onMessage(message: Uint8Array, connection: ControllerConnection): void;
  onClose(connection: ControllerConnection): void;
}

export class ControllerConnection {
  readonly address: ControllerAddress;
  role: number = ROLE.equal;
  readonly #hello = Promise.withResolvers<void>();
  readonly #framer = new MessageFramer();
  #socket: Socket | undefined;
  #out: Uint8Array[] = [];
  #blocked = false;

  constructor(address: ControllerAddress) {
    this.address = address;
  }

  /** Resolves when the hello of the controller arrives. */
  get helloReceived(): Promise<void> {
    return this.#hello.promise;
  }

  onHello(): void {
    this.#hello.resolve();
  }

  async open(events: ConnectionEvents): Promise<void> {
    const { port, host = "127.0.0.1", tls } = this.address;
    this.#socket = await Bun.connect({
      hostname: host,
      port,
      ...(tls !== undefined && { tls }),
      socket: {
        data: (_, chunk) => {
          this.#framer.push(chunk);
          for (let message = this.#framer.next(); message; message = this.#framer.next())
            events.onMessage(message, this);
        },
        drain: () => this.#flush(),
        close: () => {
          this.#socket = undefined;
          events.onClose(this);
        },
        error: () => {},
      },
    });
  }

  send<K extends MessageKind>(kind: K, body: Bodies[K], xid = 0): void {
    this.sendBytes(encode(kind, body, xid));
  }

  sendBytes(bytes: Uint8Array): void {
    if (!this.#socket) return;
    if (this.#out.length === 0 && !this.#blocked) queueMicrotask(() => this.#flush());
    this.#out.push(bytes);
  }

  end(): void {
    this.#socket?.end();
    this.#socket = undefined;
  }

  #flush(): void {
    this.#blocked = false;
    if (this.#out.length === 0 || !this.#socket) return;
    const bytes = Buffer.concat(this.#out);
    const written = Math.max(0, this.#socket.write(bytes));
    this.#out = written < bytes.length ? [bytes.subarray(written)] : [];
    this.#blocked = this.#out.length > 0;
  }
}
