/**
 * The parts of a flow entry: its match, which consists of OXM fields in an `ofp_match` of type OXM (OpenFlow 1.3.5, §7.2.2
 * and §7.2.3), and its instructions and actions (§7.2.4 and §7.2.5). `FIELDS` lists the fields that this source matches on.
 * The source uses the instructions "go to table" and "apply actions", the latter with output actions. The reader skips
 * everything else by its length.
 */
import { type ByteReader, type ByteWriter, WireError } from "./wire.ts";

/** The number (§7.2.3.7, table 11) and the size in bytes of each OXM field. A MAC is a number of six bytes. */
const FIELDS = {
  inPort: { oxm: 0, size: 4 },
  ethDst: { oxm: 3, size: 6 },
  ethType: { oxm: 5, size: 2 },
  ipProto: { oxm: 10, size: 1 },
  udpSrc: { oxm: 15, size: 2 },
  udpDst: { oxm: 16, size: 2 },
  icmpv6Type: { oxm: 29, size: 1 },
} as const;
type FieldName = keyof typeof FIELDS;
export type Match = { [K in FieldName]?: number };

const NAMES = Object.keys(FIELDS) as FieldName[];
const NAME_OF: ReadonlyMap<number, FieldName> = new Map(NAMES.map((name) => [FIELDS[name].oxm, name]));
const MATCH_OXM = 1;
const CLASS_BASIC = 0x8000;

export function writeMatch(writer: ByteWriter, match: Match): void {
  const start = writer.length;
  writer.u16(MATCH_OXM).u16(0);
  writer.sized(start + 2, start, () => {
    for (const name of NAMES) {
      const value = match[name];
      if (value === undefined) continue;
      const { oxm, size } = FIELDS[name];
      writer
        .u16(CLASS_BASIC)
        .u8(oxm << 1)
        .u8(size)
        .uint(value, size);
    }
  });
  writer.alignFrom(start);
}

export function readMatch(reader: ByteReader): Match {
  if (reader.u16() !== MATCH_OXM) throw new WireError("a match that is not OXM");
  const length = reader.u16();
  if (length < 4) throw new WireError(`a match of ${length} bytes`);
  const fields = reader.part(length - 4);
  const match: Match = {};
  while (fields.remaining > 0) {
    const oxmClass = fields.u16();
    const fieldAndMask = fields.u8();
    const size = fields.u8();
    const name = oxmClass === CLASS_BASIC ? NAME_OF.get(fieldAndMask >> 1) : undefined;
    if (!name || (fieldAndMask & 1) !== 0) fields.skip(size);
    else if (size !== FIELDS[name].size) throw new WireError(`a match field of ${size} bytes`);
    else match[name] = fields.uint(size);
  }
  reader.skip((8 - (length % 8)) % 8);
  return match;
}

/** `OFPCML_NO_BUFFER`, with which the switch sends the complete frame and buffers nothing. */
const WHOLE_FRAME = 0xffff;
const ACTION_OUTPUT = 0;
const INSTRUCTION_GOTO = 1;
const INSTRUCTION_APPLY = 4;
const MAX_ACTIONS = 4096;

export interface Instructions {
  /** The output ports, in order. */
  readonly output?: readonly number[];
  readonly gotoTable?: number;
}

export function writeOutputs(writer: ByteWriter, ports: readonly number[]): void {
  for (const port of ports) {
    writer.u16(ACTION_OUTPUT).u16(16).u32(port).u16(WHOLE_FRAME).zeros(6);
  }
}

export function readOutputs(reader: ByteReader): number[] {
  const ports: number[] = [];
  reader.list(MAX_ACTIONS, (list) => {
    const type = list.u16();
    const body = list.part(list.u16() - 4);
    if (type === ACTION_OUTPUT) ports.push(body.u32());
  });
  return ports;
}

export function writeInstructions(writer: ByteWriter, { output, gotoTable }: Instructions): void {
  if (output && output.length > 0) {
    const start = writer.length;
    writer.u16(INSTRUCTION_APPLY).u16(0).zeros(4);
    writer.sized(start + 2, start, () => writeOutputs(writer, output));
  }
  if (gotoTable !== undefined) writer.u16(INSTRUCTION_GOTO).u16(8).u8(gotoTable).zeros(3);
}

export function readInstructions(reader: ByteReader): Instructions {
  let output: number[] | undefined;
  let gotoTable: number | undefined;
  reader.list(MAX_ACTIONS, (list) => {
    const type = list.u16();
    const length = list.u16();
    if (length < 8) throw new WireError(`an instruction of ${length} bytes`);
    const body = list.part(length - 4);
    if (type === INSTRUCTION_GOTO) gotoTable = body.u8();
    if (type === INSTRUCTION_APPLY) {
      body.skip(4);
      output = readOutputs(body);
    }
  });
  return { ...(output && { output }), ...(gotoTable !== undefined && { gotoTable }) };
}
