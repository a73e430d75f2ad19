/**
 * Byte channels between nodes: a node accepts them for a topic; another one keeps a trunk to the node that it names, and opens
 * channels in it. One trunk a pair of nodes and topic.
 */
import { randomBytes } from "node:crypto";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { ByteChannel, ByteHandler } from "../lib/byte-channel.ts";
import type { Clock } from "../lib/clock.ts";
import { type AcceptChannel, Trunk } from "./trunk.ts";

const REQUEST_TIMEOUT_MS = 2_000;
/** Between two attempts, and looks whether another node is named. */
const PAUSE_MS = 100;
const Request = Type.Object({
  node: Type.String({ maxLength: 200 }),
  id: Type.String({ pattern: "^[0-9a-f]{32}$" }),
});
const isRequest = Compile(Request);

export interface ChannelsOptions {
  readonly connection: Pick<NatsConnection, "publish" | "subscribe" | "request">;
  /** Of subjects of requests between nodes. */
  readonly subject: string;
  /** This node. */
  readonly node: string;
  readonly clock: Clock;
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
  /** Messages of others on the subjects of nodes; they are ignored. */
  foreignMessages = 0;

  constructor(options: ChannelsOptions) {
    this.#options = options;
  }

  /** Accepts the channels of other nodes for a topic. Returns what ends that, and every channel. */
  accept(topic: string, accept: AcceptFrom): () => void {
    const { connection, node } = this.#options;
    /** By the node at the other end. */
    const trunks = new Map<string, Trunk>();
    const onRequest = (message: Msg) => {
      const request = readRequest(message);
      if (!request) {
        this.foreignMessages++;
        return;
      }
      const { fromDialer, toDialer } = this.#trunkSubjects(request.id);
      trunks.get(request.node)?.close("the other node has connected again");
      const trunk = this.#createTrunk(toDialer, fromDialer, (opening, channel) =>
        accept(opening, channel, request.node),
      );
      trunks.set(request.node, trunk);
      trunk.ended.addEventListener("abort", () => {
        if (trunks.get(request.node) === trunk) trunks.delete(request.node);
      });
      message.respond();
      trunk.start();
    };
    const subscription = connection.subscribe(this.#requestSubject(node, topic), {
      callback: (error, message) => {
        if (!error) onRequest(message);
      },
    });
    return () => {
      subscription.unsubscribe();
      for (const trunk of [...trunks.values()]) trunk.close("the other node has stopped");
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
    const { connection, node } = this.#options;
    const id = randomBytes(16).toString("hex");
    const { fromDialer, toDialer } = this.#trunkSubjects(id);
    const trunk = this.#createTrunk(fromDialer, toDialer);
    try {
      await connection.request(this.#requestSubject(to, topic), JSON.stringify({ node, id }), {
        timeout: REQUEST_TIMEOUT_MS,
      });
      trunk.start();
      return trunk;
    } catch {
      trunk.close("the other node does not accept channels");
      return undefined;
    }
  }

  #createTrunk(sendTo: string, receiveFrom: string, accept?: AcceptChannel): Trunk {
    const { connection, clock } = this.#options;
    const onForeign = () => {
      this.foreignMessages++;
    };
    return new Trunk({ connection, sendTo, receiveFrom, clock, onForeign, ...(accept && { accept }) });
  }

  #requestSubject(node: string, topic: string): string {
    return `${this.#options.subject}.channels.${token(node)}.${token(topic)}`;
  }

  #trunkSubjects(id: string): { readonly fromDialer: string; readonly toDialer: string } {
    const subject = `${this.#options.subject}.trunk.${id}`;
    return { fromDialer: `${subject}.a`, toDialer: `${subject}.b` };
  }
}

/** A name as one token of a subject. */
const token = (name: string): string => Buffer.from(name).toString("base64url");

function readRequest(message: Msg): Type.Static<typeof Request> | undefined {
  try {
    const value: unknown = message.json();
    return isRequest.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
