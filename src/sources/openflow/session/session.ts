/**
 * The OpenFlow session of one switch: handshake (§6.3.1), echo and limits. The session implements the protocol and passes
 * what it receives about the network to its `SessionEvents`. Messages are handled in steps (`inbox.ts`).
 *
 * A session that violates the protocol or a limit is closed, with an error message where the protocol has one, and no
 * other session is affected. Reasons: a malformed message, another version than 1.3, a handshake or echo timeout, too
 * many ports. A session that has no tokens left for messages, or whose events must wait, is paused until the next tick, so
 * that TCP applies backpressure.
 */
import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../lib/logger.ts";
import { type Quota, QuotaAccount } from "../../../lib/quota.ts";
import type { Scheduler } from "../../../lib/scheduler.ts";
import type { Steps } from "../../../lib/steps.ts";
import { TokenBucket } from "../../../lib/token-bucket.ts";
import { MessageFramer } from "../codec/framing.ts";
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
} from "../codec/openflow-messages.ts";
import type { PortDescription } from "../codec/port.ts";
import { WireError } from "../codec/wire.ts";
import { COOKIE, COOKIE_MASK } from "../flows.ts";
import type { OpenflowCounter } from "../openflow-counters.ts";
import { Inbox } from "./inbox.ts";
import type { Channel, ChannelHandler } from "./openflow-listener.ts";

/** What all sessions of a source share. */
export interface SessionContext {
  readonly events: SessionEvents;
  readonly switches: SessionSwitches;
  readonly echoIntervalMs: number;
  readonly log: Logger;
  readonly clock: Pick<Clock, "monotonic">;
  readonly scheduler: Scheduler;
  /** The quota for the ports of sessions whose handshake is not complete. */
  readonly heldPorts: Quota;
  /** The quota for bytes that were received and not handled yet. */
  readonly heldBytes: Quota;
}

/** The state of a port as its switch reports it. */
export interface PortReport {
  readonly number: number;
  /** Undefined when the switch has removed the port. */
  readonly description: PortDescription | undefined;
}

/** The table of the switches that have sessions. */
interface SessionSwitches {
  /** Whether the handshake may end now. This is checked again at each tick until it ends. */
  mayConnect(session: Session): boolean;
  /** Whether further messages must not be handled until the next tick. */
  mustWait(session: Session): boolean;
  sessionReady(session: Session): Steps<void>;
  portChanged(session: Session, change: PortReport): void;
}

export interface SessionEvents {
  packetIn(session: Session, inPort: number, frame: Uint8Array): void;
  /** Called when the switch has refused the master role, because it has another master of a newer generation. */
  roleRefused(session: Session): void;
  sessionClosed(session: Session, reason: string, byPeer: boolean): void;
  count(counter: OpenflowCounter): void;
}

/** Maximum number of ports of one switch. */
export const MAX_PORTS = 8192;
/** The rate and the burst of messages that one session may send. */
const MESSAGE_RATE = { burst: 4000, refillMs: 1000 / 20_000 };
const HANDSHAKE_TIMEOUT_MS = 10_000;
const EMPTY = new Uint8Array(0);
const ALIVE_CHECK_TIMEOUT_MS = 2000;
const MAX_BARRIERS = 1000;
/** A peer that does not close its side is disconnected after this time. */
const CLOSE_TIMEOUT_MS = 2000;
const MAX_HELLO_BYTES = 2048;
const MAX_MESSAGE_BYTES = 0xffff;
const MESSAGES_PER_STEP = 8;

export class Session implements ChannelHandler {
  readonly channel: Channel;
  /** `HOST:PORT` of the peer. */
  readonly remote: string;
  /** The device id, empty until the handshake has received the features of the switch. */
  deviceId = "";
  auxiliary = 0;
  /** Number of flows with this source's cookie that the switch had when it connected. They are from before a restart. */
  inheritedFlows = 0;
  description: SwitchDescription | undefined;
  #hasReportedError = false;
  /** The ports that were received in the handshake, until the switch table has them. */
  readonly ports = new Map<number, PortDescription>();
  readonly #portAccount: QuotaAccount;
  readonly #context: SessionContext;
  readonly #events: SessionEvents;
  readonly #framer = new MessageFramer();
  readonly #inbox: Inbox;
  readonly #handlers: Handlers;
  readonly #openedAt: number;
  readonly #messageTokens: TokenBucket;
  readonly #barriers = new Map<number, () => void>();
  /** The replies that are missing. Once there are none, the handshake ends before the next message is handled. */
  readonly #pendingReplies = new Set(["features", "description", "ports"]);
  #state: "hello" | "handshake" | "ready" | "closed" = "hello";
  #peerVersion = 0;
  #now: number;
  #echoRepliedAt: number;
  /**
   * The time at which the session is closed unless an echo reply arrives. Other messages do not extend it, because a stalled
   * switch may still send.
   */
  #echoDeadline = Number.POSITIVE_INFINITY;
  #xid = 1;
  #wasDelayed = false;
  /** The time at which the session was closed here; undefined when it is open or the switch closed it. */
  #closedAt: number | undefined;

  constructor(channel: Channel, context: SessionContext) {
    const now = context.clock.monotonic();
    this.channel = channel;
    const { remoteAddress: host, remotePort: port } = channel;
    this.remote = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    this.#portAccount = new QuotaAccount(context.heldPorts, host);
    this.#context = context;
    this.#events = context.events;
    this.#openedAt = now;
    this.#messageTokens = new TokenBucket(MESSAGE_RATE, now);
    this.#now = now;
    this.#echoRepliedAt = now;
    this.#handlers = this.#createHandlers();
    this.#inbox = new Inbox(this, this.#framer, context.scheduler, context.heldBytes);
  }

  get isReady(): boolean {
    return this.#state === "ready";
  }

  /** Whether messages are no longer handled. The connection may still be open. */
  get isClosed(): boolean {
    return this.#state === "closed" || this.#closedAt !== undefined;
  }

  start(): void {
    this.#framer.maxMessageBytes = MAX_HELLO_BYTES;
    this.sendBytes(HELLO);
  }

  send<K extends MessageKind>(kind: K, body: Bodies[K], xid = this.#xid++): void {
    if (this.#state !== "closed") this.channel.send(encode(kind, body, xid));
  }

  /** Sends messages that are already encoded. */
  sendBytes(messages: Uint8Array): void {
    if (this.#state !== "closed") this.channel.send(messages);
  }

  /** Resolves when the switch has processed all messages sent so far, or the session is closed. */
  barrier(): Promise<void> {
    if (this.#barriers.size >= MAX_BARRIERS) this.close("does not reply to barriers");
    if (this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const xid = this.#xid++;
      this.#barriers.set(xid, resolve);
      this.send("barrierRequest", {}, xid);
    });
  }

  /** Closes the session unless the switch replies to an echo request soon. */
  checkAlive(now: number): void {
    if (this.#echoDeadline > now + ALIVE_CHECK_TIMEOUT_MS) this.#requestEcho(now + ALIVE_CHECK_TIMEOUT_MS);
  }

  close(reason: string): void {
    this.#closedAt ??= this.#now;
    this.channel.close(reason);
  }

  onData(chunk: Uint8Array): void {
    if (this.isClosed) return;
    this.#inbox.push(chunk);
  }

  paused(): void {
    this.#events.count("paused_total");
  }

  *handleMessages(): Steps<"wait" | "done"> {
    for (;;) {
      const next = this.#handleSome();
      if (next === "pause") yield;
      else if (next === "connect") {
        yield* this.#context.switches.sessionReady(this);
        this.#releasePorts();
      } else return next;
    }
  }

  /** Handles the messages of one step. It is not a generator, because most chunks are handled in one step. */
  #handleSome(): "pause" | "connect" | "wait" | "done" {
    if (this.#context.switches.mustWait(this)) return "wait";
    const now = this.#context.clock.monotonic();
    const count = Math.min(MESSAGES_PER_STEP, this.#messageTokens.available(now));
    let handled = 0;
    try {
      for (; handled < count; handled++) {
        if (this.isClosed) return "done";
        if (this.#pendingReplies.size === 0 && this.#state === "handshake") {
          if (!this.#mayConnect()) return "wait";
          this.#state = "ready";
          return "connect";
        }
        const message = this.#framer.next();
        if (!message) return "done";
        this.#handleMessage(message);
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#closeMalformed(error);
      return "done";
    } finally {
      this.#messageTokens.take(now, handled);
    }
    return count < MESSAGES_PER_STEP ? "wait" : "pause";
  }

  #mayConnect(): boolean {
    if (this.#context.switches.mayConnect(this)) return true;
    if (!this.#wasDelayed) this.#events.count("changes_delayed_total");
    this.#wasDelayed = true;
    return false;
  }

  onClose(reason: string, byPeer: boolean): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    for (const resolve of this.#barriers.values()) resolve();
    this.#barriers.clear();
    this.#inbox.clear();
    this.#releasePorts();
    this.#events.sessionClosed(this, reason, byPeer);
  }

  tick(now: number): void {
    this.#now = now;
    if (this.#closedAt !== undefined) {
      if (now - this.#closedAt >= CLOSE_TIMEOUT_MS) this.channel.terminate();
      return;
    }
    this.#inbox.tick();
    const { echoIntervalMs } = this.#context;
    if (this.#state === "hello" || this.#state === "handshake") {
      if (now - this.#openedAt >= HANDSHAKE_TIMEOUT_MS) this.close("handshake timeout");
      return;
    }
    if (now >= this.#echoDeadline) this.close("no echo reply");
    else if (this.#echoDeadline === Number.POSITIVE_INFINITY && now - this.#echoRepliedAt >= echoIntervalMs)
      this.#requestEcho(now + 2 * echoIntervalMs);
  }

  #requestEcho(deadline: number): void {
    this.#echoDeadline = deadline;
    this.send("echoRequest", { data: EMPTY });
  }

  #handleMessage(message: Uint8Array): void {
    const [version = 0, type] = message;
    this.#peerVersion = version;
    if (this.#state === "hello" && type !== 0 && type !== 1)
      throw new WireError("a message before the hello");
    if (version !== VERSION && type !== 0 && type !== 1)
      throw new WireError(`version ${version} after the handshake`);
    if (dispatch(message, this.#handlers) === undefined) {
      const xid = new DataView(message.buffer, message.byteOffset).getUint32(4);
      this.send("error", { type: ERROR.badRequest, code: ERROR.badType, data: message.slice(0, 64) }, xid);
    }
  }

  #closeMalformed(error: WireError): void {
    this.#events.count("malformed_total");
    this.send("error", { type: ERROR.badRequest, code: ERROR.badLength, data: EMPTY });
    this.close(`malformed: ${error.message}`);
  }

  /** Closes a session that is not accepted. By default it follows the protocol. */
  reject(text: string, code: number = ERROR.helloEperm): void {
    this.send("error", { type: ERROR.helloFailed, code, data: new TextEncoder().encode(text) });
    this.close(text);
  }

  #handleError({ type, code }: Bodies["error"]): void {
    this.#events.count("switch_errors_total");
    // Only the first error of a session is logged, because a switch may report one for each of thousands of messages. The
    // errors of a connection that has not identified itself as a switch are not, because anybody can open many of them.
    if (this.deviceId !== "" && !this.#hasReportedError) {
      this.#context.log.warn("switch reports an error", { device: this.deviceId, type, code });
      this.#hasReportedError = true;
    }
    if (this.#state === "hello") this.close("the switch rejected the hello");
    else if (this.isReady && type === ERROR.roleRequestFailed && code === ERROR.roleStale)
      this.#events.roleRefused(this);
  }

  #createHandlers(): Handlers {
    return {
      hello: (body) => this.#handleHello(body),
      error: (body) => this.#handleError(body),
      echoRequest: ({ data }, xid) => this.send("echoReply", { data }, xid),
      echoReply: () => {
        this.#echoRepliedAt = this.#now;
        this.#echoDeadline = Number.POSITIVE_INFINITY;
      },
      featuresReply: (body) => this.#handleFeatures(body),
      multipartReply: (body) => this.#handleMultipart(body),
      portStatus: ({ reason, port }) => {
        const { number } = port;
        const removed = reason === PORT_REASON.delete;
        if (this.isReady)
          this.#context.switches.portChanged(this, { number, description: removed ? undefined : port });
        else if (!removed) this.#storePort(port);
        else if (this.ports.delete(number)) this.#portAccount.set(this.ports.size);
      },
      packetIn: ({ inPort, frame }) => {
        if (this.isReady) this.#events.packetIn(this, inPort, frame);
      },
      barrierReply: (_, xid) => {
        this.#barriers.get(xid)?.();
        this.#barriers.delete(xid);
      },
      roleReply: () => {},
    };
  }

  #handleHello({ versions }: Bodies["hello"]): void {
    if (this.#state !== "hello") return;
    // The version bitmap decides (§6.3.1). Without one, the peer supports its own version and all lower ones.
    const supported = versions.length > 0 ? versions.includes(VERSION) : this.#peerVersion >= VERSION;
    if (!supported) {
      this.reject("only OpenFlow 1.3 (0x04) is supported", ERROR.incompatible);
      return;
    }
    this.#state = "handshake";
    this.#framer.maxMessageBytes = MAX_MESSAGE_BYTES;
    this.sendBytes(HANDSHAKE_REQUESTS);
  }

  #handleFeatures(body: Bodies["featuresReply"]): void {
    if (this.#state !== "handshake") return;
    this.deviceId = `of:${body.dpid}`;
    this.auxiliary = body.auxiliary;
    this.#pendingReplies.delete("features");
  }

  #handleMultipart(body: Bodies["multipartReply"]): void {
    if (this.#state !== "handshake") return;
    if (body.description) {
      this.description = body.description;
      this.#pendingReplies.delete("description");
    }
    if (body.flowCount !== undefined) this.inheritedFlows = body.flowCount;
    for (const port of body.ports ?? []) this.#storePort(port);
    if (body.ports && !body.more) this.#pendingReplies.delete("ports");
  }

  #storePort(port: PortDescription): void {
    if (this.isClosed) return;
    this.ports.set(port.number, port);
    if (this.ports.size > MAX_PORTS) this.close(`more than ${MAX_PORTS} ports`);
    else if (!this.#portAccount.set(this.ports.size)) {
      this.#events.count("ports_refused_total");
      this.close("too many ports in the handshakes of its peer");
    }
  }

  #releasePorts(): void {
    this.ports.clear();
    this.#portAccount.set(0);
  }
}

const HELLO = encode("hello", { versions: [VERSION] });

/** All requests of the handshake, which are sent in one write. A switch replies in the same order. */
const HANDSHAKE_REQUESTS = Buffer.concat([
  encode("featuresRequest", {}),
  encode("multipartRequest", { type: MULTIPART.description }),
  encode("multipartRequest", { type: MULTIPART.aggregate, cookie: COOKIE, cookieMask: COOKIE_MASK }),
  encode("multipartRequest", { type: MULTIPART.portDescription }),
  encode("roleRequest", { role: ROLE.equal, generation: 0n }),
]);
