/** Which flows of an emulated switch apply to a frame. */
import { ETHER, readFrame } from "../../../src/sources/openflow/codec/ethernet.ts";
import type { Match } from "../../../src/sources/openflow/codec/flow-entry.ts";
import { macNumber } from "../../../src/sources/openflow/codec/wire.ts";

export function matchFieldsOf(inPort: number, bytes: Uint8Array): Match {
  const frame = readFrame(bytes);
  const fields: Match = { inPort, ethDst: macNumber(frame.dst), ethType: frame.type };
  const { payload } = frame;
  if (frame.type === ETHER.ipv6) {
    fields.ipProto = payload[6] ?? 0;
    fields.icmpv6Type = payload[40] ?? 0;
  } else if (frame.type === ETHER.ipv4) {
    fields.ipProto = payload[9] ?? 0;
    fields.udpSrc = ((payload[20] ?? 0) << 8) | (payload[21] ?? 0);
    fields.udpDst = ((payload[22] ?? 0) << 8) | (payload[23] ?? 0);
  }
  return fields;
}

export function matches(match: Match, fields: Match): boolean {
  return (
    (match.inPort === undefined || match.inPort === fields.inPort) &&
    (match.ethType === undefined || match.ethType === fields.ethType) &&
    (match.ethDst === undefined || match.ethDst === fields.ethDst) &&
    (match.ipProto === undefined || match.ipProto === fields.ipProto) &&
    (match.udpSrc === undefined || match.udpSrc === fields.udpSrc) &&
    (match.udpDst === undefined || match.udpDst === fields.udpDst) &&
    (match.icmpv6Type === undefined || match.icmpv6Type === fields.icmpv6Type)
  );
}
