/** Up to where a node has applied the stream. Stored with the local copy, in the same transaction as each batch. */
import Type from "typebox";
import { Value } from "typebox/value";

/** A message of the chain, where this node has applied it. */
export const ChainLink = Type.Object({
  sequence: Type.Integer({ minimum: 1 }),
  signature: Type.String({ minLength: 1 }),
});
export type ChainLink = Type.Static<typeof ChainLink>;
/** One that nobody has signed has no signature. */
const IgnoredLink = Type.Object({ ...ChainLink.properties, signature: Type.String() });

export const StreamPosition = Type.Object({
  /** When the stream was created: another stream of the same name has other messages. */
  created: Type.String(),
  /** Of the last message that is applied, or means nothing. */
  sequence: Type.Integer({ minimum: 0 }),
  /** The last ones that are a part of the log; the oldest first. */
  links: Type.Array(ChainLink, { minItems: 1 }),
  /** The last ones that mean nothing, so that another one in place of such a one is noticed. */
  ignored: Type.Array(IgnoredLink),
  /** The node that runs each source, by the takeovers so far. */
  holders: Type.Record(Type.String(), Type.String()),
});
export type StreamPosition = Type.Static<typeof StreamPosition>;

/** After the base, which has this signature. */
export const firstPosition = (created: string, signature: string): StreamPosition => ({
  created,
  sequence: 1,
  links: [{ sequence: 1, signature }],
  ignored: [],
  holders: {},
});

/** In place of a position: the copy cannot be gone on from. It is kept elsewhere, or has nothing that the stream has not. */
export const COPY_TO_MOVE_AWAY = "null";
export const COPY_TO_DELETE = "false";

export const encodePosition = (position: StreamPosition): string => JSON.stringify(position);

/** Undefined where there is none. */
export function decodePosition(text: string | undefined): StreamPosition | undefined {
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  return Value.Check(StreamPosition, value) ? value : undefined;
}
