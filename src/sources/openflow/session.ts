/**
 * One switch's OpenFlow session: handshake (§6.3.1), liveness, limits. It knows the protocol and nothing of the
 * network: what it learns goes up to its `SessionOwner`.
 *
 * A session that misbehaves ends, politely where the protocol has a word for it, and takes nothing with it: a message
 * that cannot be read, a version that is not 1.3, silence in the handshake or later, more ports than any switch has.
 * One that floods is paused for the rest of the tick, so TCP holds the switch back and the others are served.
 */
import type { Logger } from "../../lib/logger.ts";
import { Framing } from "./codec/framing.ts";
import {
  type Bodies,
  dispatch,
  ERROR,
  encode,
  type Handlers,
  type MessageKind,
  MULTIPART,
  PORT_REASON,
  ROLE,
  type SwitchDescription,
  VERSION,
} from "./codec/messages.ts";
import type { PortDescription } from "./codec/port.ts";
import { WireError } from "./codec/wire.ts";
import { COOKIE, COOKIE_MASK } from "./flows.ts";
import type { Channel, Receiver } from "./transport.ts";

export interface SessionLimits {
  readonly handshakeMs: number;
  readonly echoIntervalMs: number;
  readonly maxPorts: number;
  /** Messages taken between two ticks. */
  readonly maxMessages: number;
}

export interface SessionOwner {
  /** The handshake is done. */
  ready(session: Session): void;
  portChanged(session: Session, port: PortDescription): void;
  portRemoved(session: Session, port: number): void;
  packetIn(session: Session, inPort: number, frame: Uint8Array): void;
  ended(session: Session, reason: string, byPeer: boolean): void;
  /** Something worth counting: a name for the metrics. */
  count(what: "malformed_total" | "switch_errors_total" | "paused_total"): void;
}

const NOTHING = new Uint8Array(0);
const CHALLENGE_MS = 2000;
const LONGEST_HELLO = 2048;
const LONGEST_MESSAGE = 0xffff;
type Fact = "features" | "description" | "ports";
const HELLO = encode("hello", { versions: [VERSION] });
/** All that is asked of a switch at first, in one go: the answers come in the same order. */
const QUESTIONS = Buffer.concat([
  encode("featuresRequest", {}),
  encode("multipartRequest", { type: MULTIPART.description }),
  encode("multipartRequest", { type: MULTIPART.aggregate, cookie: COOKIE, cookieMask: COOKIE_MASK }),
  encode("multipartRequest", { type: MULTIPART.portDescription }),
  encode("roleRequest", { role: ROLE.equal, generation: 0n }),
]);

export class Session implements Receiver {
  readonly channel: Channel;
  /** Filled by the handshake. */
  deviceId = "";
  auxiliary = 0;
  tables = 0;
  /** Flows with our cookie that were there when it connected: from an earlier life of ours. */
  inheritedFlows = 0;
  description: SwitchDescription | undefined;
  readonly ports = new Map<number, PortDescription>();
  readonly #owner: SessionOwner;
  readonly #limits: SessionLimits;
  readonly #log: Logger;
  readonly #framing = new Framing();
  readonly #handlers: Handlers;
  readonly #openedAt: number;
  readonly #barriers = new Map<number, () => void>();
  readonly #awaited = new Set<Fact>(["features", "description", "ports"]);
  #state: "hello" | "asking" | "ready" | "ended" = "hello";
  #peerVersion = 0;
  #now: number;
  /** The echo request that waits for its answer. Messages of other kinds are no answer: what stalls may still send. */
  #askedAt: number | undefined;
  #answeredAt: number;
  #mustAnswerBy = Number.POSITIVE_INFINITY;
  #xid = 1;
  #taken = 0;
  #paused = false;

  constructor(channel: Channel, owner: SessionOwner, limits: SessionLimits, log: Logger, now: number) {
    this.channel = channel;
    this.#owner = owner;
    this.#limits = limits;
    this.#log = log;
    this.#openedAt = now;
    this.#now = now;
    this.#answeredAt = now;
    this.#handlers = this.#makeHandlers();
  }

  get isReady(): boolean {
    return this.#state === "ready";
  }

  get remote(): string {
    const { remoteAddress: host, remotePort: port } = this.channel;
    return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  }

  start(): void {
    this.#framing.longest = LONGEST_HELLO;
    this.sendBytes(HELLO);
  }

  send<K extends MessageKind>(kind: K, body: Bodies[K], xid = this.#xid++): void {
    if (this.#state !== "ended") this.channel.send(encode(kind, body, xid));
  }

  /** Messages written beforehand. */
  sendBytes(messages: Uint8Array): void {
    if (this.#state !== "ended") this.channel.send(messages);
  }

  /** Resolves when the switch has done all it was sent so far, or the session is over. */
  barrier(): Promise<void> {
    if (this.#state === "ended") return Promise.resolve();
    return new Promise((resolve) => {
      const xid = this.#xid++;
      this.#barriers.set(xid, resolve);
      this.send("barrierRequest", {}, xid);
    });
  }

  /** Another claims to be this switch: whoever still answers keeps the name. */
  challenge(now: number): void {
    if (this.#mustAnswerBy < Number.POSITIVE_INFINITY) return;
    this.#mustAnswerBy = now + CHALLENGE_MS;
    this.send("echoRequest", { data: NOTHING });
  }

  end(reason: string): void {
    this.channel.end(reason);
  }

  received(chunk: Uint8Array): void {
    if (this.#state === "ended") return;
    try {
      this.#framing.push(chunk);
      for (let message = this.#framing.next(); message; message = this.#framing.next()) {
        this.#take(message);
        if (this.#isEnded()) return;
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#refuseMalformed(error);
    }
    if (this.#taken > this.#limits.maxMessages && !this.#paused && !this.#isEnded()) {
      this.#paused = true;
      this.#owner.count("paused_total");
      this.channel.pause();
    }
  }

  ended(reason: string, byPeer: boolean): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    for (const resolve of this.#barriers.values()) resolve();
    this.#barriers.clear();
    this.#owner.ended(this, reason, byPeer);
  }

  tick(now: number): void {
    this.#now = now;
    this.#taken = 0;
    if (this.#paused) {
      this.#paused = false;
      this.channel.resume();
    }
    const { handshakeMs, echoIntervalMs } = this.#limits;
    if (this.#state === "hello" || this.#state === "asking") {
      if (now - this.#openedAt >= handshakeMs) this.end("no handshake in time");
      return;
    }
    const waitsMs = now - (this.#askedAt ?? now);
    if (now >= this.#mustAnswerBy || waitsMs >= 2 * echoIntervalMs) {
      this.end("silent");
    } else if (this.#askedAt === undefined && now - this.#answeredAt >= echoIntervalMs) {
      this.#askedAt = now;
      this.send("echoRequest", { data: NOTHING });
    }
  }

  // A getter would do, but the compiler would remember its value across calls that change it.
  #isEnded(): boolean {
    return this.#state === "ended";
  }

  #take(message: Uint8Array): void {
    this.#taken++;
    const [version = 0, type] = message;
    this.#peerVersion = version;
    if (this.#state === "hello" && type !== 0 && type !== 1) throw new WireError("speaks before its hello");
    if (version !== VERSION && type !== 0 && type !== 1)
      throw new WireError(`version ${version} after the handshake`);
    if (dispatch(message, this.#handlers) === undefined) {
      const xid = new DataView(message.buffer, message.byteOffset).getUint32(4);
      this.send("error", { type: ERROR.badRequest, code: ERROR.badType, data: message.slice(0, 64) }, xid);
    }
  }

  #refuseMalformed(error: WireError): void {
    this.#owner.count("malformed_total");
    this.send("error", { type: ERROR.badRequest, code: ERROR.badLength, data: NOTHING });
    this.end(`malformed: ${error.message}`);
  }

  #refuse(code: number, text: string): void {
    this.send("error", { type: ERROR.helloFailed, code, data: new TextEncoder().encode(text) });
    this.end(text);
  }

  /** Ends a session that is in order but not wanted. */
  refuse(text: string): void {
    this.#refuse(ERROR.helloEperm, text);
  }

  #makeHandlers(): Handlers {
    return {
      hello: (body) => this.#hello(body),
      error: (body) => {
        this.#owner.count("switch_errors_total");
        this.#log.debug("switch reports an error", {
          device: this.deviceId,
          type: body.type,
          code: body.code,
        });
        if (this.#state === "hello") this.end("refused our hello");
      },
      echoRequest: ({ data }, xid) => this.send("echoReply", { data }, xid),
      echoReply: () => {
        this.#askedAt = undefined;
        this.#answeredAt = this.#now;
        this.#mustAnswerBy = Number.POSITIVE_INFINITY;
      },
      featuresReply: (body) => this.#features(body),
      multipartReply: (body) => this.#multipart(body),
      portStatus: ({ reason, port }) => {
        if (reason === PORT_REASON.delete) {
          this.ports.delete(port.number);
          if (this.isReady) this.#owner.portRemoved(this, port.number);
        } else if (this.#keep(port) && this.isReady) this.#owner.portChanged(this, port);
      },
      packetIn: ({ inPort, frame }) => {
        if (this.isReady) this.#owner.packetIn(this, inPort, frame);
      },
      barrierReply: (_, xid) => {
        this.#barriers.get(xid)?.();
        this.#barriers.delete(xid);
      },
      roleReply: () => {},
    };
  }

  #hello({ versions }: Bodies["hello"]): void {
    if (this.#state !== "hello") return;
    // §6.3.1: the bitmaps decide; a peer without one means its own version and everything below.
    const spoken = versions.length > 0 ? versions.includes(VERSION) : this.#peerVersion >= VERSION;
    if (!spoken) {
      this.#refuse(ERROR.incompatible, "only OpenFlow 1.3 (0x04) is spoken here");
      return;
    }
    this.#state = "asking";
    this.#framing.longest = LONGEST_MESSAGE;
    this.sendBytes(QUESTIONS);
  }

  #features(body: Bodies["featuresReply"]): void {
    if (this.#state !== "asking") return;
    this.deviceId = `of:${body.dpid}`;
    this.auxiliary = body.auxiliary;
    this.tables = body.tables;
    this.#arrived("features");
  }

  #multipart(body: Bodies["multipartReply"]): void {
    if (this.#state !== "asking") return;
    if (body.description) {
      this.description = body.description;
      this.#arrived("description");
    }
    if (body.flowCount !== undefined) this.inheritedFlows = body.flowCount;
    for (const port of body.ports ?? []) this.#keep(port);
    if (body.ports && !body.more) this.#arrived("ports");
  }

  #keep(port: PortDescription): boolean {
    this.ports.set(port.number, port);
    if (this.ports.size <= this.#limits.maxPorts) return true;
    this.end(`more than ${this.#limits.maxPorts} ports`);
    return false;
  }

  #arrived(what: Fact): void {
    this.#awaited.delete(what);
    if (this.#awaited.size > 0 || this.#state !== "asking") return;
    this.#state = "ready";
    this.#owner.ready(this);
  }
}
