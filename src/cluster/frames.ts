/**
 * The messages between two nodes of a trunk: number, type, channel, payload. Numbers are consecutive: core NATS keeps the
 * order but may lose messages, for example when a client connects again.
 */

export const FRAME = { open: 1, data: 2, credit: 3, close: 4, ping: 5 } as const;
type FrameType = (typeof FRAME)[keyof typeof FRAME];

export interface Frame {
  readonly number: number;
  readonly type: FrameType;
  readonly channel: number;
  readonly payload: Uint8Array;
}

const HEAD_BYTES = 13;
const TYPES: ReadonlySet<number> = new Set(Object.values(FRAME));
const isType = (type: number): type is FrameType => TYPES.has(type);

export function encodeFrame({ number, type, channel, payload }: Frame): Uint8Array {
  const bytes = new Uint8Array(HEAD_BYTES + payload.length);
  const view = new DataView(bytes.buffer);
  // Never used twice in a trunk: not even a trunk of years has as many messages.
  view.setFloat64(0, number);
  view.setUint8(8, type);
  view.setUint32(9, channel);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}

/** Undefined for what is no frame. */
export function decodeFrame(bytes: Uint8Array): Frame | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const type = view.getUint8(8);
  if (!isType(type)) return undefined;
  return {
    number: view.getFloat64(0),
    type,
    channel: view.getUint32(9),
    payload: bytes.subarray(HEAD_BYTES),
  };
}

export function encodeCredit(bytes: number): Uint8Array {
  const payload = new Uint8Array(4);
  new DataView(payload.buffer).setUint32(0, bytes);
  return payload;
}

export const decodeCredit = (payload: Uint8Array): number =>
  payload.length === 4 ? new DataView(payload.buffer, payload.byteOffset).getUint32(0) : 0;

/** `byPeer` as in `ByteHandler.onClose` of the end that was closed. */
export const encodeClose = (reason: string, byPeer: boolean): Uint8Array =>
  new TextEncoder().encode(`${byPeer ? "p" : "n"}${reason.slice(0, 500)}`);

export function decodeClose(payload: Uint8Array): { readonly reason: string; readonly byPeer: boolean } {
  const text = new TextDecoder().decode(payload);
  return { reason: text.slice(1), byPeer: text.startsWith("p") };
}
