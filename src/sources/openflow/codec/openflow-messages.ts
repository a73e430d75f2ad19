/**
 * The messages of OpenFlow 1.3 (protocol version 0x04). `CODECS` has one row per message: its type, how its body
 * is read and written, and its section in the OpenFlow Switch Specification 1.3.5. Both directions are implemented for all
 * messages, because the tests encode what they decoded.
 *
 * `dispatch` passes a decoded body to the handler of its kind, so that no caller has to narrow a union. A malformed body
 * throws `WireError`. Bytes after a known body are ignored, as the specification requires.
 */

import {
  type Instructions,
  type Match,
  readInstructions,
  readMatch,
  readOutputs,
  writeInstructions,
  writeMatch,
  writeOutputs,
} from "./flow-entry.ts";
import { PORT_BYTES, type PortDescription, readPort, writePort } from "./port.ts";
import { ByteReader, ByteWriter, paddedText, WireError } from "./wire.ts";

export const VERSION = 0x04;
export const HEADER_BYTES = 8;
const NO_BUFFER = 0xffffffff;
const ANY = 0xffffffff;
export const ALL_TABLES = 0xff;
const MAX_PORTS_PER_MESSAGE = Math.floor(0xffff / PORT_BYTES);

/** The values of `ofp_error_type` and the error codes that are used here (§7.4.4). */
export const ERROR = {
  helloFailed: 0,
  incompatible: 0,
  helloEperm: 1,
  badRequest: 1,
  badType: 1,
  badLength: 6,
  roleRequestFailed: 11,
  roleStale: 0,
} as const;
/** The multipart types that are used here (§7.3.5.1, §7.3.5.3 and §7.3.5.7). */
export const MULTIPART = { description: 0, aggregate: 2, portDescription: 13 } as const;
export const FLOW_COMMAND = { add: 0, delete: 3, deleteStrict: 4 } as const;
export const PORT_REASON = { add: 0, delete: 1, modify: 2 } as const;
export const ROLE = { noChange: 0, equal: 1, master: 2, slave: 3 } as const;

export interface SwitchDescription {
  readonly mfr: string;
  readonly hw: string;
  readonly sw: string;
  readonly serial: string;
  readonly datapath: string;
}

export interface FlowMod {
  readonly cookie: bigint;
  readonly cookieMask?: bigint;
  readonly table: number;
  readonly command: number;
  /** Seconds after which the switch removes the flow; 0 means never. */
  readonly hardTimeout?: number;
  readonly priority: number;
  readonly match: Match;
  readonly instructions: Instructions;
}

type Empty = Readonly<Record<never, never>>;

export interface Bodies {
  hello: { readonly versions: readonly number[] };
  error: { readonly type: number; readonly code: number; readonly data: Uint8Array };
  echoRequest: { readonly data: Uint8Array };
  echoReply: { readonly data: Uint8Array };
  featuresRequest: Empty;
  featuresReply: {
    readonly dpid: string;
    readonly buffers: number;
    readonly tables: number;
    readonly auxiliary: number;
    readonly capabilities: number;
  };
  packetIn: { readonly reason: number; readonly inPort: number; readonly frame: Uint8Array };
  portStatus: { readonly reason: number; readonly port: PortDescription };
  packetOut: { readonly inPort: number; readonly output: readonly number[]; readonly frame: Uint8Array };
  flowMod: FlowMod;
  portMod: { readonly port: number; readonly mac: string; readonly config: number; readonly mask: number };
  multipartRequest: { readonly type: number; readonly cookie?: bigint; readonly cookieMask?: bigint };
  multipartReply: {
    readonly type: number;
    readonly more: boolean;
    readonly description?: SwitchDescription;
    readonly ports?: readonly PortDescription[];
    readonly flowCount?: number;
  };
  barrierRequest: Empty;
  barrierReply: Empty;
  roleRequest: { readonly role: number; readonly generation: bigint };
  roleReply: { readonly role: number; readonly generation: bigint };
}
export type MessageKind = keyof Bodies;

interface MessageCodec<Body> {
  readonly type: number;
  read(reader: ByteReader): Body;
  write(writer: ByteWriter, body: Body): void;
}

const empty = (type: number): MessageCodec<Empty> => ({
  type,
  read: () => ({}),
  write: () => {},
});

const echo = (type: number): MessageCodec<{ readonly data: Uint8Array }> => ({
  type,
  read: (reader) => ({ data: reader.rest() }),
  write: (writer, { data }) => writer.bytes(data),
});

const role = (type: number): MessageCodec<Bodies["roleRequest"]> => ({
  type,
  read(reader) {
    const number = reader.u32();
    reader.skip(4);
    return { role: number, generation: reader.u64() };
  },
  write: (writer, body) => writer.u32(body.role).zeros(4).u64(body.generation),
});

const CODECS: { readonly [K in MessageKind]: MessageCodec<Bodies[K]> } = {
  hello: { type: 0, read: readHello, write: writeHello }, // §7.5.1
  error: {
    type: 1, // §7.4.4
    read: (reader) => ({ type: reader.u16(), code: reader.u16(), data: reader.rest() }),
    write: (writer, { type, code, data }) => writer.u16(type).u16(code).bytes(data),
  },
  echoRequest: echo(2), // §7.5.2
  echoReply: echo(3), // §7.5.3
  featuresRequest: empty(5), // §7.3.1
  featuresReply: {
    type: 6, // §7.3.1
    read(reader) {
      const dpid = reader.bytes(8).toHex();
      const buffers = reader.u32();
      const tables = reader.u8();
      const auxiliary = reader.u8();
      reader.skip(2);
      return { dpid, buffers, tables, auxiliary, capabilities: reader.u32() };
    },
    write(writer, body) {
      writer
        .u64(BigInt(`0x${body.dpid}`))
        .u32(body.buffers)
        .u8(body.tables)
        .u8(body.auxiliary)
        .zeros(2);
      writer.u32(body.capabilities).zeros(4);
    },
  },
  packetIn: { type: 10, read: readPacketIn, write: writePacketIn }, // §7.4.1
  portStatus: {
    type: 12, // §7.4.3
    read(reader) {
      const reason = reader.u8();
      reader.skip(7);
      return { reason, port: readPort(reader) };
    },
    write: (writer, body) => writePort(writer.u8(body.reason).zeros(7), body.port),
  },
  packetOut: { type: 13, read: readPacketOut, write: writePacketOut }, // §7.3.7
  flowMod: { type: 14, read: readFlowMod, write: writeFlowMod }, // §7.3.4.1
  portMod: {
    type: 16, // §7.3.4.3
    read(reader) {
      const port = reader.u32();
      reader.skip(4);
      const mac = reader.mac();
      reader.skip(2);
      return { port, mac, config: reader.u32(), mask: reader.u32() };
    },
    write(writer, body) {
      writer.u32(body.port).zeros(4).mac(body.mac).zeros(2).u32(body.config).u32(body.mask);
      writer.u32(0).zeros(4); // Advertised features: unchanged.
    },
  },
  multipartRequest: { type: 18, read: readMultipartRequest, write: writeMultipartRequest }, // §7.3.5
  multipartReply: { type: 19, read: readMultipart, write: writeMultipart }, // §7.3.5
  barrierRequest: empty(20), // §7.3.8
  barrierReply: empty(21), // §7.3.8
  roleRequest: role(24), // §7.3.9
  roleReply: role(25), // §7.3.9
};

const KIND_OF: ReadonlyMap<number, MessageKind> = new Map(
  (Object.keys(CODECS) as MessageKind[]).map((kind) => [CODECS[kind].type, kind]),
);

export type Handlers = { readonly [K in MessageKind]?: (body: Bodies[K], xid: number) => void };

export function encode<K extends MessageKind>(kind: K, body: Bodies[K], xid = 0): Uint8Array<ArrayBuffer> {
  const codec: MessageCodec<Bodies[K]> = CODECS[kind];
  const writer = new ByteWriter();
  writer.u8(VERSION).u8(codec.type).u16(0).u32(xid);
  writer.sized(2, 0, () => codec.write(writer, body));
  if (writer.length > 0xffff) throw new WireError(`a message of ${writer.length} bytes`);
  return writer.done();
}

/** Decodes one message and calls its handler. Returns its kind, or undefined for an unknown message type. */
export function dispatch(message: Uint8Array, handlers: Handlers): MessageKind | undefined {
  const header = new ByteReader(message);
  header.skip(1);
  const kind = KIND_OF.get(header.u8());
  header.skip(2);
  if (kind) callHandler(kind, header, header.u32(), handlers);
  return kind;
}

function callHandler<K extends MessageKind>(
  kind: K,
  reader: ByteReader,
  xid: number,
  handlers: Handlers,
): void {
  const handler: ((body: Bodies[K], xid: number) => void) | undefined = handlers[kind];
  if (!handler) return;
  const codec: MessageCodec<Bodies[K]> = CODECS[kind];
  handler(codec.read(reader), xid);
}

// The version bitmap is the only element that §7.5.1 defines. Other elements are skipped.
const HELLO_BITMAP = 1;

function readHello(reader: ByteReader): Bodies["hello"] {
  const versions: number[] = [];
  reader.list(64, (list) => {
    const type = list.u16();
    const length = list.u16();
    if (length < 4) throw new WireError(`a hello element of ${length} bytes`);
    const body = list.part(length - 4);
    // Elements are padded to eight bytes. The padding of the last element may be missing.
    list.skip(Math.min(list.remaining, (8 - (length % 8)) % 8));
    if (type !== HELLO_BITMAP || body.remaining < 4) return;
    const bits = body.u32();
    for (let version = 0; version < 32; version++) if ((bits >>> version) & 1) versions.push(version);
  });
  return { versions };
}

function writeHello(writer: ByteWriter, { versions }: Bodies["hello"]): void {
  let bits = 0;
  for (const version of versions) bits |= 1 << version;
  writer
    .u16(HELLO_BITMAP)
    .u16(8)
    .u32(bits >>> 0);
}

function readPacketIn(reader: ByteReader): Bodies["packetIn"] {
  reader.skip(6); // Buffer id and total length: packet-ins always hold the complete frame.
  const reason = reader.u8();
  reader.skip(9); // Table and cookie.
  const { inPort } = readMatch(reader);
  if (inPort === undefined) throw new WireError("a packet-in without its port");
  reader.skip(2);
  return { reason, inPort, frame: reader.rest() };
}

function writePacketIn(writer: ByteWriter, { reason, inPort, frame }: Bodies["packetIn"]): void {
  writer.u32(NO_BUFFER).u16(frame.length).u8(reason).u8(0).u64(0n);
  writeMatch(writer, { inPort });
  writer.zeros(2).bytes(frame);
}

function readPacketOut(reader: ByteReader): Bodies["packetOut"] {
  reader.skip(4);
  const inPort = reader.u32();
  const actionBytes = reader.u16();
  reader.skip(6);
  const output = readOutputs(reader.part(actionBytes));
  return { inPort, output, frame: reader.rest() };
}

function writePacketOut(writer: ByteWriter, { inPort, output, frame }: Bodies["packetOut"]): void {
  writer
    .u32(NO_BUFFER)
    .u32(inPort)
    .u16(output.length * 16)
    .zeros(6);
  writeOutputs(writer, output);
  writer.bytes(frame);
}

function readFlowMod(reader: ByteReader): FlowMod {
  const cookie = reader.u64();
  const cookieMask = reader.u64();
  const table = reader.u8();
  const command = reader.u8();
  reader.skip(2); // Idle timeout.
  const hardTimeout = reader.u16();
  const priority = reader.u16();
  reader.skip(16); // Buffer, out port, out group, flags, padding.
  const match = readMatch(reader);
  const instructions = readInstructions(reader);
  return { cookie, cookieMask, table, command, hardTimeout, priority, match, instructions };
}

function writeFlowMod(writer: ByteWriter, flow: FlowMod): void {
  writer
    .u64(flow.cookie)
    .u64(flow.cookieMask ?? 0n)
    .u8(flow.table)
    .u8(flow.command)
    .u16(0)
    .u16(flow.hardTimeout ?? 0);
  writer.u16(flow.priority).u32(NO_BUFFER).u32(ANY).u32(ANY).u16(0).zeros(2);
  writeMatch(writer, flow.match);
  writeInstructions(writer, flow.instructions);
}

// Only one of the used requests has a body: the request for the aggregate of all flows with a cookie.
function readMultipartRequest(reader: ByteReader): Bodies["multipartRequest"] {
  const type = reader.u16();
  if (type !== MULTIPART.aggregate) return { type };
  reader.skip(6 + 16); // Flags; table, out port, out group.
  return { type, cookie: reader.u64(), cookieMask: reader.u64() };
}

function writeMultipartRequest(writer: ByteWriter, body: Bodies["multipartRequest"]): void {
  writer.u16(body.type).u16(0).zeros(4);
  if (body.type !== MULTIPART.aggregate) return;
  writer.u8(ALL_TABLES).zeros(3).u32(ANY).u32(ANY).zeros(4);
  writer.u64(body.cookie ?? 0n).u64(body.cookieMask ?? 0n);
  writeMatch(writer, {});
}

function readMultipart(reader: ByteReader): Bodies["multipartReply"] {
  const type = reader.u16();
  const more = (reader.u16() & 1) !== 0;
  reader.skip(4);
  if (type === MULTIPART.portDescription) {
    return { type, more, ports: reader.list(MAX_PORTS_PER_MESSAGE, readPort) };
  }
  if (type === MULTIPART.aggregate) {
    reader.skip(16);
    return { type, more, flowCount: reader.u32() };
  }
  if (type !== MULTIPART.description) return { type, more };
  const text = (size: number) => paddedText(reader.bytes(size));
  const description = { mfr: text(256), hw: text(256), sw: text(256), serial: text(32), datapath: text(256) };
  return { type, more, description };
}

function writeMultipart(writer: ByteWriter, body: Bodies["multipartReply"]): void {
  const { type, more, description, ports, flowCount } = body;
  writer
    .u16(type)
    .u16(more ? 1 : 0)
    .zeros(4);
  for (const port of ports ?? []) writePort(writer, port);
  if (flowCount !== undefined) writer.zeros(16).u32(flowCount).zeros(4);
  if (!description) return;
  writer.padded(description.mfr, 256).padded(description.hw, 256).padded(description.sw, 256);
  writer.padded(description.serial, 32).padded(description.datapath, 256);
}
