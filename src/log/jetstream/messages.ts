/**
 * The messages of a cluster's stream.
 *
 * - `base`: the first message of the stream. It names the log and the revision that the stream continues.
 * - `batch`: one batch, or a part of a batch that is larger than a message. Parts are consecutive messages: a batch whose
 *   parts are interrupted by another message was given up by its writer and is ignored.
 * - `takeover`: the node runs a source from this message on.
 * - `turn`: the node requests a turn to append, and the others wait for it (`turns.ts`).
 *
 * Every message names its log, because a stream that was deleted and made again is another log. Every message is signed with
 * the key of the log, which only nodes have, so that other NATS users who may publish cannot write to the log. All other
 * messages are foreign and ignored.
 *
 * Batches and takeovers form a chain: each contains the signature of the last message that its writer has applied, and is
 * accepted only directly after that message (`batch-assembler.ts`). So no message can be replayed, and none is accepted from a
 * writer that has applied other messages than the stream has now. A turn changes no state, is valid for a limited time, and is
 * not a part of the chain.
 *
 * Every message has the number of its format. All headers with our prefix are signed, in any format, so that a node recognises
 * a message of a newer version as one of its log, and stops there instead of misreading it.
 *
 * Headers describe a message. The payload of a batch consists of the compressed blocks of entries that the embedded log
 * stores (`batch-codec.ts`).
 */
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { isSignatureOf, signatureOf } from "../../cluster/nats/signed.ts";
import { yieldToLoop } from "../../lib/yield-to-loop.ts";
import { blocksOf, compress, decodeEntries, encodeEntries, joinBlocks, pacedParts } from "../batch-codec.ts";
import type { Batch, LogEntry } from "../log.ts";

/** Maximum messages between the last one that a node knows and its turn request. An older turn request is treated as a replay. */
const MAX_TURN_DELAY = 1_000;

/** Format of messages and snapshots. A version whose messages this one would misread has a larger number. */
export const FORMAT = 2;

const PREFIX = "Gazetteer-";
const FORMAT_HEADER = "Gazetteer-Format";
const TYPE = "Gazetteer-Type";
const NODE = "Gazetteer-Node";
const BATCH = "Gazetteer-Batch";
const PART = "Gazetteer-Part";
const REVISION = "Gazetteer-Revision";
const TIME = "Gazetteer-Time";
const SOURCE = "Gazetteer-Source";
const LOG = "Gazetteer-Log";
const KEY = "Gazetteer-Key";
const AFTER = "Gazetteer-After";
const PREVIOUS = "Gazetteer-Previous";
const SIGNATURE = "Gazetteer-Signature";

export interface EncodedMessage {
  /** The message id, which is the same for each attempt to publish the message. */
  readonly id: string;
  readonly signature: string;
  readonly headers: MsgHdrs;
  readonly data: Uint8Array;
}

export interface MessageWriter {
  /** The id of the log. */
  readonly log: string;
  /** The signing key of the log. */
  readonly key: Uint8Array;
  readonly node: string;
}

/** The headers of a message. Those of the client, which search all names for each value, are read into a map once. */
export interface MessageHeaders {
  get(name: string): string | undefined;
  keys(): Iterable<string>;
}

/** A message as it arrives. */
export interface StreamMessage {
  readonly sequence: number;
  readonly headers: MessageHeaders | undefined;
  readonly data: Uint8Array;
}

export type ReadMessage =
  | ({ readonly type: "base" } & Base)
  | BatchPartMessage
  | {
      readonly type: "takeover";
      readonly log: string;
      readonly source: string;
      readonly node: string;
      readonly previous: string;
    }
  | { readonly type: "turn"; readonly log: string; readonly node: string }
  /** A message of a version that this one cannot read. */
  | { readonly type: "newer"; readonly format: number }
  | { readonly type: "older" }
  | { readonly type: "foreign" };

export interface Base {
  readonly log: string;
  readonly revision: number;
  readonly time: number;
  /** The signing key of the log, sealed. */
  readonly key: string;
}

export interface BatchPartMessage {
  readonly type: "part";
  readonly log: string;
  readonly node: string;
  /** Random id of the batch. */
  readonly batch: string;
  readonly revision: number;
  readonly time: number;
  /** Number of this part, from 0 to `parts - 1`. */
  readonly part: number;
  readonly parts: number;
  /** Signature of the message before: of the last applied message in the first part, of the previous part in the others. */
  readonly previous: string;
  readonly data: Uint8Array;
}

/** The messages of a batch, none with a payload over `maxBytes`. `previous` is the signature of the message before them. */
export async function encodeBatch(
  { revision, time, entries }: Batch,
  { log, key, node }: MessageWriter,
  batchId: string,
  previous: string,
  maxBytes: number,
): Promise<EncodedMessage[]> {
  const blocks: Uint8Array[] = [];
  for await (const part of pacedParts(entries)) blocks.push(compress(encodeEntries(part)));
  const payload = joinBlocks(blocks);
  const parts = Math.max(1, Math.ceil(payload.length / maxBytes));
  const messages: EncodedMessage[] = [];
  for (let part = 0; part < parts; part++) {
    if (part > 0) await yieldToLoop();
    const values = {
      [TYPE]: "batch",
      [LOG]: log,
      [NODE]: node,
      [BATCH]: batchId,
      [PART]: `${part}/${parts}`,
      [REVISION]: String(revision),
      [TIME]: String(time),
      [PREVIOUS]: messages.at(-1)?.signature ?? previous,
    };
    const data = payload.subarray(part * maxBytes, (part + 1) * maxBytes);
    messages.push(encodeSigned(key, `${batchId}.${part}`, values, data));
  }
  return messages;
}

export const encodeBase = (base: Base, key: Uint8Array, id: string): EncodedMessage =>
  encodeSigned(key, id, {
    [TYPE]: "base",
    [LOG]: base.log,
    [REVISION]: String(base.revision),
    [TIME]: String(base.time),
    [KEY]: base.key,
  });

/** Encodes a takeover. `previous` is the signature of the message before it. */
export const encodeTakeover = (
  source: string,
  { log, key, node }: MessageWriter,
  id: string,
  previous: string,
): EncodedMessage =>
  encodeSigned(key, id, {
    [TYPE]: "takeover",
    [LOG]: log,
    [SOURCE]: encodeURIComponent(source),
    [NODE]: node,
    [PREVIOUS]: previous,
  });

/** Encodes a turn request. `after` is the sequence of the last message that the node knows. */
export const encodeTurn = ({ log, key, node }: MessageWriter, id: string, after: number): EncodedMessage =>
  encodeSigned(key, id, { [TYPE]: "turn", [LOG]: log, [NODE]: node, [AFTER]: String(after) });

/** Encodes and signs a message with these headers. */
export function encodeSigned(
  key: Uint8Array,
  id: string,
  values: Readonly<Record<string, string>>,
  data = new Uint8Array(0),
): EncodedMessage {
  const result = headers();
  for (const [name, value] of Object.entries({ [FORMAT_HEADER]: String(FORMAT), ...values }))
    result.set(name, value);
  const signature = signatureOf(key, signedParts(result, data)).toString("base64url");
  result.set(SIGNATURE, signature);
  return { id, signature, headers: result, data };
}

/** The signed parts of a message: all headers with our prefix, including those that this version does not know, and the data. */
function signedParts(headers: MessageHeaders, data: Uint8Array): (string | Uint8Array)[] {
  const names: string[] = [];
  for (const name of headers.keys()) if (name.startsWith(PREFIX) && name !== SIGNATURE) names.push(name);
  const parts: (string | Uint8Array)[] = [];
  for (const name of names.sort()) parts.push(name, headers.get(name) ?? "");
  parts.push(data);
  return parts;
}

/** Whether a node has signed the message, with the key of the log. */
export function isSigned({ headers, data }: StreamMessage, key: Uint8Array): boolean {
  if (!headers) return false;
  const given = Buffer.from(headers.get(SIGNATURE) ?? "", "base64url");
  return isSignatureOf(key, signedParts(headers, data), given);
}

/** The signature of a message, which the next message contains; empty where the message has none. */
export const signatureIn = ({ headers }: StreamMessage): string => headers?.get(SIGNATURE) ?? "";

/** The id under which a message was published; empty where it has none. */
export const messageId = ({ headers }: StreamMessage): string => headers?.get("Nats-Msg-Id") ?? "";

/** Parses a message. Does not check its signature (see `isSigned`). */
export function readMessage({ sequence, headers, data }: StreamMessage): ReadMessage {
  const type = headers?.get(TYPE);
  const text = (name: string): string => headers?.get(name) ?? "";
  const [log, node, batch] = [text(LOG), text(NODE), text(BATCH)];
  const format = integer(text(FORMAT_HEADER)) ?? 0;
  if (format > FORMAT) return { type: "newer", format };
  if (format < FORMAT) return { type: format > 0 ? "older" : "foreign" };
  const revision = integer(text(REVISION));
  const time = integer(text(TIME));
  const previous = text(PREVIOUS);
  if (type === "takeover" && text(SOURCE) !== "" && node !== "") {
    const source = decodeSource(text(SOURCE));
    return source === undefined ? { type: "foreign" } : { type, log, source, node, previous };
  }
  const after = integer(text(AFTER));
  if (type === "turn" && after !== undefined && sequence - after <= MAX_TURN_DELAY)
    return { type, log, node };
  if (revision === undefined || time === undefined) return { type: "foreign" };
  if (type === "base" && log !== "") return { type, log, revision, time, key: text(KEY) };
  const [part, parts] = text(PART).split("/").map(integer);
  if (type !== "batch" || batch === "" || part === undefined || parts === undefined || part >= parts)
    return { type: "foreign" };
  return { type: "part", log, node, batch, revision, time, part, parts, previous, data };
}

/** The complete payload of a batch with these messages. */
export const joinPayload = (messages: readonly { readonly data: Uint8Array }[]): Uint8Array =>
  messages.length === 1 && messages[0] ? messages[0].data : Buffer.concat(messages.map(({ data }) => data));

/** Decodes all entries of a complete payload. Rejects when it is malformed. */
export async function decodePayload(payload: Uint8Array): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (const [i, block] of blocksOf(payload).entries()) {
    if (i > 0) await yieldToLoop();
    for (const pause of decodeEntries(block, entries)) if (pause === undefined) await yieldToLoop();
  }
  return entries;
}

const integer = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);

function decodeSource(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
