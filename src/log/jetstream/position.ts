/** The position up to which a node has applied the stream. Stored with the copy, in the same transaction as each batch. */
import Type from "typebox";
import { Value } from "typebox/value";

/** A message of the chain that this node has applied. */
export const ChainLink = Type.Object({
  sequence: Type.Integer({ minimum: 1 }),
  signature: Type.String({ minLength: 1 }),
});
export type ChainLink = Type.Static<typeof ChainLink>;
/** A message that nobody has signed has an empty signature. */
const IgnoredLink = Type.Object({ ...ChainLink.properties, signature: Type.String() });

export const StreamPosition = Type.Object({
  /** When the stream was created: another stream of the same name has other messages. */
  created: Type.String(),
  /** Sequence of the last message that is applied or ignored. */
  sequence: Type.Integer({ minimum: 0 }),
  /** The last messages that are a part of the log, the oldest first. */
  links: Type.Array(ChainLink, { minItems: 1 }),
  /** The last messages that were ignored, so that another message in the place of one of them is noticed. */
  ignored: Type.Array(IgnoredLink),
  /** The node that runs each source, by the takeovers so far. */
  holders: Type.Record(Type.String(), Type.String()),
});
export type StreamPosition = Type.Static<typeof StreamPosition>;

/** The position after the base message, which has this signature. */
export const firstPosition = (created: string, signature: string): StreamPosition => ({
  created,
  sequence: 1,
  links: [{ sequence: 1, signature }],
  ignored: [],
  holders: {},
});

/**
 * Stored in place of a position where this copy cannot be continued. The next start moves it away, or deletes it where it has
 * nothing that the stream does not have.
 */
export const COPY_TO_MOVE_AWAY = "null";
export const COPY_TO_DELETE = "false";

export const encodePosition = (position: StreamPosition): string => JSON.stringify(position);

/** Undefined where the text is no position. */
export function decodePosition(text: string | undefined): StreamPosition | undefined {
  if (text === undefined) return undefined;
  const value: unknown = JSON.parse(text);
  return Value.Check(StreamPosition, value) ? value : undefined;
}
