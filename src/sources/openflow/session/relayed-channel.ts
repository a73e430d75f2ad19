/**
 * The connection of a switch to another node, which relays it here over a byte channel: to the source it is a connection
 * like those of its own port. The relaying node has ended TLS and sends the address and the verified certificate of the peer.
 */
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { ByteChannel, ByteHandler } from "../../../lib/byte-channel.ts";
import type { Quota } from "../../../lib/quota.ts";
import type { PeerCertificate } from "./allow-list.ts";
import { BacklogAccount, createBacklogQuota } from "./backlog.ts";
import type { Channel } from "./transport.ts";

/** What the relaying node knows of a connection. */
const Opening = Type.Object({
  address: Type.String({ minLength: 1, maxLength: 100 }),
  port: Type.Integer({ minimum: 0, maximum: 65_535 }),
  certificate: Type.Optional(
    Type.Object({ commonName: Type.Optional(Type.String()), fingerprint: Type.String() }),
  ),
});
const isOpening = Compile(Opening);

export function openingOf({ remoteAddress, remotePort, certificate }: Channel): Type.Static<typeof Opening> {
  const { commonName, fingerprint } = certificate ?? {};
  return {
    address: remoteAddress,
    port: remotePort,
    ...(fingerprint !== undefined && {
      certificate: { fingerprint, ...(commonName !== undefined && { commonName }) },
    }),
  };
}

/** Accepts connections that other nodes relay; an opening that no relay sends is refused. */
export function acceptRelayed(
  accept: (channel: Channel) => ByteHandler | undefined,
): (opening: unknown, channel: ByteChannel, node: string) => ByteHandler | undefined {
  const backlog = createBacklogQuota();
  return (opening, channel, node) => {
    if (!isOpening.Check(opening)) return undefined;
    const relayed = new RelayedChannel(opening, channel, node, backlog);
    const handler = accept(relayed);
    return handler && relayed.handlerFor(handler);
  };
}

class RelayedChannel implements Channel {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly certificate: PeerCertificate | undefined;
  readonly relayedBy: string;
  readonly #channel: ByteChannel;
  readonly #backlog: BacklogAccount;

  constructor(
    { address, port, certificate }: Type.Static<typeof Opening>,
    channel: ByteChannel,
    relayedBy: string,
    backlog: Quota,
  ) {
    this.remoteAddress = address;
    this.remotePort = port;
    this.certificate = certificate && {
      commonName: certificate.commonName,
      fingerprint: certificate.fingerprint,
    };
    this.relayedBy = relayedBy;
    this.#channel = channel;
    this.#backlog = new BacklogAccount(backlog, address);
  }

  get backlogBytes(): number {
    return this.#channel.backlogBytes;
  }

  send(message: Uint8Array): void {
    this.#channel.send(message);
    // Of one turn of the event loop, so less than the window leaves at once.
    if (!this.#backlog.set(this.#channel.backlogBytes)) this.close("does not read what it is sent");
  }

  close(reason: string): void {
    this.#channel.close(reason);
  }

  terminate(): void {
    this.#channel.terminate();
  }

  pause(): void {
    this.#channel.pause();
  }

  resume(): void {
    this.#channel.resume();
  }

  /** The handler of the byte channel for the one of this channel. */
  handlerFor(handler: ByteHandler): ByteHandler {
    return {
      onData: (chunk) => handler.onData(chunk),
      onDrain: () => {
        this.#backlog.set(0);
        handler.onDrain?.();
      },
      onClose: (reason, byPeer) => {
        this.#backlog.set(0);
        handler.onClose(reason, byPeer);
      },
    };
  }
}
