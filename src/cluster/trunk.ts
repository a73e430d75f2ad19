/**
 * A connection between two nodes over NATS, with many byte channels. Messages are numbered, and each is signed with the key of
 * the trunk for its direction: those of others, and those that somebody sends again, are counted and ignored. When one is
 * missing, or nothing arrives for a while, the trunk ends with all its channels, on both sides; what was on its way is lost, as
 * with a connection that breaks.
 */
import type { NatsConnection, Subscription } from "@nats-io/transport-node";
import type { ByteChannel, ByteHandler } from "../lib/byte-channel.ts";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import {
  decodeClose,
  decodeCredit,
  decodeFrame,
  encodeClose,
  encodeFrame,
  FRAME,
  type Frame,
} from "./frames.ts";
import { isSignatureOf, SIGNATURE_BYTES, signatureOf } from "./nats/signed.ts";
import { type FrameSender, TrunkChannel } from "./trunk-channel.ts";

const PING_INTERVAL_MS = 500;
/** Shorter than the time after which a node is taken for dead, longer than a pause of a busy process. */
const SILENCE_MS = 3_000;
/** No channel has this number. */
const WHOLE_TRUNK = 0;
const NOTHING = new Uint8Array(0);

/** Returns the handler of a new channel; undefined closes it. */
export type AcceptChannel = (opening: unknown, channel: ByteChannel) => ByteHandler | undefined;

export interface TrunkOptions {
  readonly id: string;
  readonly connection: Pick<NatsConnection, "publish" | "subscribe">;
  readonly sendTo: string;
  readonly receiveFrom: string;
  readonly clock: Clock;
  /** Called for a message that is not of the other node. It is ignored. */
  readonly onForeign: () => void;
  /** Absent on the side that opens channels. */
  readonly accept?: AcceptChannel;
  /** Called once it is known that the other node has the key: with its first message. */
  readonly onOpen?: () => void;
}

export class Trunk implements FrameSender {
  readonly #options: TrunkOptions;
  readonly #subscription: Subscription;
  readonly #channels = new Map<number, TrunkChannel>();
  readonly #end = new AbortController();
  #lastSent = 0;
  #lastReceived = 0;
  #heardAt: number;
  #lastChannel = 0;
  /** Absent until both nodes have agreed on it. */
  #key: Uint8Array | undefined;
  #isOpen = false;

  constructor(options: TrunkOptions) {
    this.#options = options;
    this.#heardAt = options.clock.monotonic();
    this.#subscription = options.connection.subscribe(options.receiveFrom, {
      callback: (error, message) => {
        if (error) this.close(errorMessage(error));
        else this.#onMessage(message.data);
      },
    });
  }

  get id(): string {
    return this.#options.id;
  }

  /** Begins to send. The other end receives from now on. */
  start(key: Uint8Array): void {
    this.#isOpen = true;
    this.await(key);
  }

  /** Sends once the other end has sent something. */
  await(key: Uint8Array): void {
    this.#key = key;
    this.#heardAt = this.#options.clock.monotonic();
    void this.#ping();
  }

  /** Closes a trunk that the other end has not used yet. */
  closeUnused(): void {
    if (!this.#isOpen) this.close("the other node has connected again");
  }

  /** Aborts when it ends. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  /** `opening` is JSON. Undefined once the trunk has ended. */
  open(opening: unknown, handler: ByteHandler): ByteChannel | undefined {
    if (this.ended.aborted) return undefined;
    this.#lastChannel = (this.#lastChannel + 1) >>> 0;
    const channel = new TrunkChannel(this.#lastChannel, this);
    channel.handler = handler;
    this.#channels.set(this.#lastChannel, channel);
    this.sendFrame(FRAME.open, this.#lastChannel, new TextEncoder().encode(JSON.stringify(opening)));
    return channel;
  }

  close(reason: string): void {
    if (this.ended.aborted) return;
    // The other end need not wait until nothing arrives any more.
    this.#publish(FRAME.close, WHOLE_TRUNK, encodeClose(reason, false));
    this.#end.abort();
    this.#subscription.unsubscribe();
    for (const channel of [...this.#channels.values()]) channel.onEnd(reason, false);
  }

  sendFrame(type: Frame["type"], channel: number, payload: Uint8Array): void {
    if (!this.ended.aborted && !this.#publish(type, channel, payload)) this.close("not connected to NATS");
  }

  #publish(type: Frame["type"], channel: number, payload: Uint8Array): boolean {
    if (!this.#key || !this.#isOpen) return true;
    this.#lastSent++;
    const { connection, sendTo } = this.#options;
    const frame = encodeFrame({ number: this.#lastSent, type, channel, payload });
    try {
      connection.publish(sendTo, Buffer.concat([frame, signatureOf(this.#key, [sendTo, frame])]));
      return true;
    } catch {
      return false;
    }
  }

  forget(channel: number): void {
    this.#channels.delete(channel);
  }

  #onMessage(bytes: Uint8Array): void {
    if (this.ended.aborted) return;
    const frame = this.#isSigned(bytes) ? decodeFrame(bytes.subarray(0, -SIGNATURE_BYTES)) : undefined;
    if (!frame || frame.number <= this.#lastReceived) {
      this.#options.onForeign();
      return;
    }
    if (frame.number !== this.#lastReceived + 1) {
      this.close("messages between nodes were lost");
      return;
    }
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#options.onOpen?.();
    }
    this.#lastReceived = frame.number;
    this.#heardAt = this.#options.clock.monotonic();
    if (frame.type === FRAME.open) this.#onOpen(frame);
    else if (frame.type === FRAME.close && frame.channel === WHOLE_TRUNK)
      this.close(decodeClose(frame.payload).reason);
    else if (frame.type !== FRAME.ping) {
      // Of a channel that is closed here, something may still be on its way.
      const isValid = this.#channels.get(frame.channel)?.onFrame(frame, decodeCredit(frame.payload)) ?? true;
      if (!isValid) this.close("the other node violates the protocol of channels");
    }
  }

  #isSigned(bytes: Uint8Array): boolean {
    const end = bytes.length - SIGNATURE_BYTES;
    if (!this.#key || end < 0) return false;
    return isSignatureOf(this.#key, [this.#options.receiveFrom, bytes.subarray(0, end)], bytes.subarray(end));
  }

  #onOpen({ channel: id, payload }: Frame): void {
    const { accept } = this.#options;
    const opening = parse(payload);
    if (!accept || opening === undefined || this.#channels.has(id)) {
      this.close("the other node violates the protocol of channels");
      return;
    }
    const channel = new TrunkChannel(id, this);
    this.#channels.set(id, channel);
    const handler = accept(opening, channel);
    if (handler) channel.handler = handler;
    else channel.close("refused");
  }

  async #ping(): Promise<void> {
    const { clock } = this.#options;
    while (!this.ended.aborted) {
      this.sendFrame(FRAME.ping, WHOLE_TRUNK, NOTHING);
      await clock.sleep(PING_INTERVAL_MS, this.ended);
      if (clock.monotonic() - this.#heardAt > SILENCE_MS) this.close("the other node does not respond");
    }
  }
}

/** Undefined for what is no JSON. */
function parse(payload: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(payload));
  } catch {
    return undefined;
  }
}
