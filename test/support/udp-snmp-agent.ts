/**
 * An SNMPv2c agent for tests, on a UDP port of its own: it answers GETBULK from a list of objects, and a test may change
 * any reply, also into what no agent should send.
 */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";

/** A number is an INTEGER, a text or bytes an OCTET STRING; anything else is given as its tag and bytes. */
export type ObjectValue = number | string | Uint8Array | { readonly tag: number; readonly bytes: Uint8Array };
export type SnmpObject = readonly [oid: string, value: ObjectValue];

export interface BulkRequest {
  readonly requestId: number;
  readonly maxRepetitions: number;
  readonly oids: readonly string[];
  readonly community: string;
}

export interface Reply {
  readonly requestId: number;
  readonly errorStatus?: number;
  readonly errorIndex?: number;
  readonly objects: readonly SnmpObject[];
}

/** What the agent does with a request: the datagrams that it sends back, or a promise of them. */
export type Behaviour = (
  request: BulkRequest,
  answer: (request: BulkRequest) => Reply,
) => Reply | Uint8Array | undefined | Promise<Reply | Uint8Array | undefined>;

export const END_OF_MIB_VIEW = { tag: 0x82, bytes: new Uint8Array() } as const;

export class SnmpAgent {
  readonly #socket: Socket;
  #objects: readonly SnmpObject[] = [];
  readonly requests: BulkRequest[] = [];
  behaviour: Behaviour | undefined;
  /** Takes the place of everything else: the reply to a datagram that need not be SNMPv2c. */
  rawBehaviour: ((datagram: Uint8Array) => Uint8Array | undefined) | undefined;
  datagrams = 0;
  /** The ports that requests came from. */
  readonly clientPorts = new Set<number>();
  /** Replies are sent from here when it is set. */
  replySocket: Socket | undefined;
  isSilent = false;
  #isStopped = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("message", (bytes, from) => void this.#onMessage(bytes, from));
    // ECONNREFUSED: the client closed its socket before the reply arrived, as a service that is stopped does.
    socket.on("error", () => {});
  }

  static async start(objects: readonly SnmpObject[], address = "127.0.0.1", port = 0): Promise<SnmpAgent> {
    const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
    socket.bind(port, address);
    await once(socket, "listening");
    const agent = new SnmpAgent(socket);
    agent.objects = objects;
    return agent;
  }

  get port(): number {
    return this.#socket.address().port;
  }

  get target(): string {
    const { address } = this.#socket.address();
    return address.includes(":") ? `[${address}]:${this.port}` : `${address}:${this.port}`;
  }

  set objects(objects: readonly SnmpObject[]) {
    this.#objects = [...objects].sort(([a], [b]) => compareOids(a, b));
  }

  get objects(): readonly SnmpObject[] {
    return this.#objects;
  }

  stop(): void {
    if (!this.#isStopped) this.#socket.close();
    this.#isStopped = true;
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  /** As RFC 3416 has it. */
  answer(request: BulkRequest): Reply {
    const rows: SnmpObject[] = [];
    let cursors = [...request.oids];
    for (let i = 0; i < Math.min(request.maxRepetitions, 50); i++) {
      cursors = cursors.map((oid) => {
        const next = this.#objects.find(([candidate]) => compareOids(candidate, oid) > 0);
        rows.push(next ?? [oid, END_OF_MIB_VIEW]);
        return next?.[0] ?? oid;
      });
    }
    return { requestId: request.requestId, objects: rows };
  }

  async #onMessage(bytes: Uint8Array, from: RemoteInfo): Promise<void> {
    this.datagrams++;
    this.clientPorts.add(from.port);
    if (this.rawBehaviour) {
      const raw = this.rawBehaviour(bytes);
      if (raw) this.#socket.send(raw, from.port, from.address);
      return;
    }
    const request = decodeRequest(bytes);
    this.requests.push(request);
    if (this.isSilent) return;
    const answer = (value: BulkRequest) => this.answer(value);
    const reply = this.behaviour ? await this.behaviour(request, answer) : answer(request);
    if (!reply || this.#isStopped) return;
    const datagram = reply instanceof Uint8Array ? reply : encodeReply(request.community, reply);
    (this.replySocket ?? this.#socket).send(datagram, from.port, from.address);
  }
}

export function compareOids(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

export const tlv = (tag: number, ...contents: Uint8Array[]): Uint8Array => {
  const bytes = Buffer.concat(contents);
  const length =
    bytes.length < 128
      ? [bytes.length]
      : [0x83, bytes.length >> 16, (bytes.length >> 8) & 255, bytes.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), bytes]);
};

export const integer = (value: number): Uint8Array => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return tlv(2, bytes);
};

export function oidBytes(oid: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = oid.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part % 128];
    for (let value = Math.floor(part / 128); value > 0; value = Math.floor(value / 128)) {
      digits.unshift((value % 128) | 0x80);
    }
    bytes.push(...digits);
  }
  return Buffer.from(bytes);
}

function encodeValue(value: ObjectValue): Uint8Array {
  if (typeof value === "number") return integer(value);
  if (typeof value === "string") return tlv(4, Buffer.from(value));
  return value instanceof Uint8Array ? tlv(4, value) : tlv(value.tag, value.bytes);
}

export function encodePdu(tag: number, reply: Reply): Uint8Array {
  const varbinds = reply.objects.map(([oid, value]) => tlv(0x30, tlv(6, oidBytes(oid)), encodeValue(value)));
  return tlv(
    tag,
    integer(reply.requestId),
    integer(reply.errorStatus ?? 0),
    integer(reply.errorIndex ?? 0),
    tlv(0x30, ...varbinds),
  );
}

export function encodeReply(community: string, reply: Reply): Uint8Array {
  const pdu = encodePdu(0xa2, reply);
  return tlv(0x30, tlv(2, Buffer.from([1])), tlv(4, Buffer.from(community)), pdu);
}

function decodeRequest(bytes: Uint8Array): BulkRequest {
  const [message] = elements(bytes);
  const [, community, pdu] = elements(message ?? bytes);
  return { ...decodePdu(pdu ?? bytes), community: Buffer.from(community ?? []).toString() };
}

/** The contents of an INTEGER. */
export const toNumber = (bytes: Uint8Array | undefined): number =>
  bytes && bytes.length > 0 ? Buffer.from(bytes).readIntBE(0, bytes.length) : 0;

/** A GETBULK request, from the contents of its PDU. */
export function decodePdu(pdu: Uint8Array): Omit<BulkRequest, "community"> {
  const [id, , repetitions, list] = elements(pdu);
  const oids = elements(list ?? pdu).map((varbind) => decodeOid(elements(varbind)[0] ?? varbind));
  return { requestId: toNumber(id), maxRepetitions: toNumber(repetitions), oids };
}

/** The contents of the elements in `bytes`. */
export function elements(bytes: Uint8Array): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at + 1] ?? 0;
    const lengthBytes = first & 0x80 ? first & 0x7f : 0;
    let length = lengthBytes === 0 ? first : 0;
    for (let i = 0; i < lengthBytes; i++) length = length * 256 + (bytes[at + 2 + i] ?? 0);
    const start = at + 2 + lengthBytes;
    found.push(bytes.subarray(start, start + length));
    at = start + length;
  }
  return found;
}

function decodeOid(bytes: Uint8Array): string {
  const parts: number[] = [];
  let value = 0;
  for (const byte of bytes) {
    value = value * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    if (parts.length === 0) parts.push(Math.floor(value / 40), value % 40);
    else parts.push(value);
    value = 0;
  }
  return parts.join(".");
}
