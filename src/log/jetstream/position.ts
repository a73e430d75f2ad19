/** The position up to which a node has applied the stream. Stored with the copy, in the same transaction as each batch. */
import Type from "typebox";
import { Value } from "typebox/value";

/** A message of the chain that this node has applied, named by its sequence and signature. */
export const ChainLink = Type.Object({
  sequence: Type.Integer({ minimum: 1 }),
  signature: Type.String({ minLength: 1 }),
});
export type ChainLink = Type.Static<typeof ChainLink>;
/** An ignored message. Its signature is empty where it is not signed. */
const IgnoredLink = Type.Object({ ...ChainLink.properties, signature: Type.String() });

export const StreamPosition = Type.Object({
  /** The time at which the stream was created. Another stream of the same name has other messages. */
  created: Type.String(),
  /** Sequence of the last message that is applied or ignored. */
  sequence: Type.Integer({ minimum: 0 }),
  /** The last messages that are a part of the log, the oldest first. */
  links: Type.Array(ChainLink, { minItems: 1 }),
  /** The last messages that were ignored, so that another message in the place of one of them is noticed. */
  ignored: Type.Array(IgnoredLink),
  /** The node that runs each source, according to the takeovers so far. */
  holders: Type.Record(Type.String(), Type.String()),
});
export type StreamPosition = Type.Static<typeof StreamPosition>;

/** The position after the base message, whose signature is given. */
export const firstPosition = (created: string, signature: string): StreamPosition => ({
  created,
  sequence: 1,
  links: [{ sequence: 1, signature }],
  ignored: [],
  holders: {},
});

/**
 * Values that are stored in place of a position where this copy cannot be continued. The next start moves the copy away, or
 * deletes it where everything in it was loaded from the stream.
 */
export const COPY_TO_MOVE_AWAY = "null";
export const COPY_TO_DELETE = "false";

export const encodePosition = (position: StreamPosition): string => JSON.stringify(position);

/** Parses a stored position; undefined where the text is not a position. */
export function decodePosition(text: string | undefined): StreamPosition | undefined {
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  return Value.Check(StreamPosition, value) ? value : undefined;
}
