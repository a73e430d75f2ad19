/**
 * Byte channels between nodes: a node accepts them for a topic; another one keeps a trunk to the node that it names, and opens
 * channels in it. One trunk a pair of nodes and topic.
 *
 * The request for a trunk and its answer are signed with a key that is derived from the secret of the cluster, and each side
 * gives something random: what follows is signed with a key of this trunk alone. A request that somebody sends again makes a
 * trunk that nobody can use, and ends no other.
 */
import { randomBytes } from "node:crypto";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { ByteChannel, ByteHandler } from "../lib/byte-channel.ts";
import type { Clock } from "../lib/clock.ts";
import { readSignedText, signatureOf, signText } from "./nats/signed.ts";
import { subjectToken } from "./subject-token.ts";
import { type AcceptChannel, Trunk } from "./trunk.ts";

const REQUEST_TIMEOUT_MS = 2_000;
/** Between two attempts, and looks whether another node is named. */
const PAUSE_MS = 100;
const Random = Type.String({ pattern: "^[0-9a-f]{32}$" });
const isRequest = Compile(Type.Object({ node: Type.String({ maxLength: 200 }), id: Random }));
const isAnswer = Compile(Type.Object({ random: Random }));

export interface ChannelsOptions {
  readonly connection: Pick<NatsConnection, "publish" | "subscribe" | "request">;
  /** Of subjects of requests between nodes. */
  readonly subject: string;
  /** This node. */
  readonly node: string;
  /** That all nodes have and nobody else. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  /** Called for messages of others on the subjects of nodes. They are ignored. */
  readonly onForeign: () => void;
}

/** Returns the handler of a channel that `node` has opened; undefined closes it. */
export type AcceptFrom = (opening: unknown, channel: ByteChannel, node: string) => ByteHandler | undefined;

/** What opens channels to another node. */
export interface ChannelOpener {
  /** Undefined while that node cannot be reached. */
  open(opening: unknown, handler: ByteHandler): ByteChannel | undefined;
}

export class Channels {
  readonly #options: ChannelsOptions;
  constructor(options: ChannelsOptions) {
    this.#options = options;
  }

  /** Accepts the channels of other nodes for a topic. Returns what ends that, and every channel. */
  accept(topic: string, accept: AcceptFrom): () => void {
    const { connection, node, key, onForeign } = this.#options;
    const subject = this.#requestSubject(node, topic);
    /** By the node at the other end: the one in use, and the one that was requested last. */
    const [trunks, requested] = [new Map<string, Trunk>(), new Map<string, Trunk>()];
    const onRequest = (message: Msg) => {
      const request = readSignedText(key, subject, message.string());
      const isNew = isRequest.Check(request) && trunks.get(request.node)?.id !== request.id;
      if (!isNew) {
        onForeign();
        return;
      }
      const random = randomHex();
      const trunk = this.#createTrunk(request.id, {
        accept: (opening, channel) => accept(opening, channel, request.node),
        onOpen: () => {
          trunks.get(request.node)?.close("the other node has connected again");
          trunks.set(request.node, trunk);
        },
      });
      requested.get(request.node)?.closeUnused();
      requested.set(request.node, trunk);
      trunk.ended.addEventListener("abort", () => {
        for (const known of [trunks, requested])
          if (known.get(request.node) === trunk) known.delete(request.node);
      });
      trunk.await(this.#trunkKey(request.id, random));
      message.respond(signText(key, answerTo(request.id), { random }));
    };
    const subscription = connection.subscribe(subject, {
      callback: (error, message) => {
        if (!error) onRequest(message);
      },
    });
    return () => {
      subscription.unsubscribe();
      for (const trunk of [...trunks.values(), ...requested.values()])
        trunk.close("the other node has stopped");
    };
  }

  /** Keeps a trunk to the node that `nodeOf` names, until `signal` aborts. */
  connect(topic: string, nodeOf: () => string | undefined, signal: AbortSignal): ChannelOpener {
    let trunk: Trunk | undefined;
    const run = async () => {
      while (!signal.aborted) {
        const node = nodeOf();
        trunk = node === undefined ? undefined : await this.#dial(node, topic);
        while (trunk && !trunk.ended.aborted && !signal.aborted && nodeOf() === node)
          await this.#options.clock.sleep(PAUSE_MS, signal);
        trunk?.close("the other node is not the one to connect to any more");
        await this.#options.clock.sleep(PAUSE_MS, signal);
      }
    };
    void run();
    return { open: (opening, handler) => trunk?.open(opening, handler) };
  }

  /** Undefined when the node does not accept it, or cannot be reached. */
  async #dial(to: string, topic: string): Promise<Trunk | undefined> {
    const { connection, node, key, onForeign } = this.#options;
    const id = randomHex();
    const subject = this.#requestSubject(to, topic);
    const trunk = this.#createTrunk(id);
    try {
      const timeout = REQUEST_TIMEOUT_MS;
      const response = await connection.request(subject, signText(key, subject, { node, id }), { timeout });
      const answer = readSignedText(key, answerTo(id), response.string());
      if (isAnswer.Check(answer)) {
        trunk.start(this.#trunkKey(id, answer.random));
        return trunk;
      }
      onForeign();
    } catch {
      // That node is gone, or does not run the source any more.
    }
    trunk.close("the other node does not accept channels");
    return undefined;
  }

  #createTrunk(
    id: string,
    accepting?: { readonly accept: AcceptChannel; readonly onOpen: () => void },
  ): Trunk {
    const { connection, clock, onForeign } = this.#options;
    const { fromDialer, toDialer } = this.#trunkSubjects(id);
    const [sendTo, receiveFrom] = accepting ? [toDialer, fromDialer] : [fromDialer, toDialer];
    return new Trunk({ id, connection, sendTo, receiveFrom, clock, onForeign, ...accepting });
  }

  #trunkKey(id: string, random: string): Uint8Array {
    return signatureOf(this.#options.key, ["trunk", id, random]);
  }

  #requestSubject(node: string, topic: string): string {
    return `${this.#options.subject}.channels.${subjectToken(node)}.${subjectToken(topic)}`;
  }

  #trunkSubjects(id: string): { readonly fromDialer: string; readonly toDialer: string } {
    const subject = `${this.#options.subject}.trunk.${id}`;
    return { fromDialer: `${subject}.a`, toDialer: `${subject}.b` };
  }
}

const randomHex = (): string => randomBytes(16).toString("hex");
/** An answer is signed for one request. */
const answerTo = (id: string): string => `trunk ${id}`;
