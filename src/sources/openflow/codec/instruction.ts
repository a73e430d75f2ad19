/**
 * Instructions and actions (OpenFlow 1.3.5, §7.2.4 and §7.2.5). This source uses two: output actions and "go to table".
 * Others are skipped by their length when read.
 */
import { type Reader, WireError, type Writer } from "./wire.ts";

/** Reserved ports, §7.2.1, `ofp_port_no`. */
export const PORT = {
  max: 0xffffff00,
  table: 0xfffffff9,
  normal: 0xfffffffa,
  controller: 0xfffffffd,
  local: 0xfffffffe,
  any: 0xffffffff,
} as const;

/** `OFPCML_NO_BUFFER`: the switch sends the complete frame and buffers nothing. */
const WHOLE_FRAME = 0xffff;
const ACTION_OUTPUT = 0;
const INSTRUCTION_GOTO = 1;
const INSTRUCTION_APPLY = 4;
const MAX_ACTIONS = 4096;

export interface Instructions {
  /** Ports to output to, in order. */
  readonly output?: readonly number[];
  readonly gotoTable?: number;
}

export function writeOutputs(writer: Writer, ports: readonly number[]): void {
  for (const port of ports) {
    writer.u16(ACTION_OUTPUT).u16(16).u32(port).u16(WHOLE_FRAME).zeros(6);
  }
}

export function readOutputs(reader: Reader): number[] {
  const ports: number[] = [];
  reader.list(MAX_ACTIONS, (list) => {
    const type = list.u16();
    const body = list.part(list.u16() - 4);
    if (type === ACTION_OUTPUT) ports.push(body.u32());
  });
  return ports;
}

export function writeInstructions(writer: Writer, { output, gotoTable }: Instructions): void {
  if (output && output.length > 0) {
    const start = writer.length;
    writer.u16(INSTRUCTION_APPLY).u16(0).zeros(4);
    writer.sized(start + 2, start, () => writeOutputs(writer, output));
  }
  if (gotoTable !== undefined) writer.u16(INSTRUCTION_GOTO).u16(8).u8(gotoTable).zeros(3);
}

export function readInstructions(reader: Reader): Instructions {
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
