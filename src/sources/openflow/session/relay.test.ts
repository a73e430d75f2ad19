import { expect, test } from "bun:test";
import type { ByteChannel, ByteHandler } from "../../../lib/byte-channel.ts";
import { ManualClock } from "../../../lib/clock.ts";
import { resolveSettings } from "../options.ts";
import { HELLO } from "./handshake.ts";
import { Relay } from "./relay.ts";
import type { Channel } from "./transport.ts";

class FakeChannel implements Channel {
  readonly remoteAddress = "192.0.2.1";
  readonly remotePort = 1000;
  readonly certificate = undefined;
  readonly relayedBy = undefined;
  readonly sent: Uint8Array[] = [];
  readonly calls: string[] = [];
  backlogBytes = 0;
  handler: ByteHandler | undefined;
  send(bytes: Uint8Array): void {
    this.sent.push(bytes);
  }
  close(reason: string): void {
    this.calls.push(`close ${reason}`);
    this.handler?.onClose(reason, false);
  }
  terminate(): void {
    this.close("terminated");
  }
  pause(): void {
    this.calls.push("pause");
  }
  resume(): void {
    this.calls.push("resume");
  }
}

function startRelay(options: { maxDevicesPerAddress?: number } = {}) {
  const clock = new ManualClock(0);
  const holder = { isReachable: false, channels: [] as { channel: FakeChannel; handler: ByteHandler }[] };
  const open = (_: unknown, handler: ByteHandler): ByteChannel | undefined => {
    if (!holder.isReachable) return undefined;
    const channel = new FakeChannel();
    holder.channels.push({ channel, handler });
    return channel;
  };
  const relay = new Relay({ open }, resolveSettings({ forwarding: "bridge", ...options }), clock);
  const connect = (): FakeChannel => {
    const channel = new FakeChannel();
    channel.handler = relay.accept(channel, false);
    return channel;
  };
  return { clock, holder, relay, connect };
}
const bytes = (length: number) => new Uint8Array(length).fill(1);

test("a switch gets the hello, and is not read until the node that runs the source is reached", () => {
  const { holder, relay, connect } = startRelay();
  const channel = connect();
  expect(channel.sent).toEqual([HELLO]);
  channel.handler?.onData(bytes(8));
  expect(channel.calls).toEqual(["pause"]);
  expect([relay.size, relay.waiting]).toEqual([1, 1]);
  holder.isReachable = true;
  relay.tick();
  expect(holder.channels[0]?.channel.sent).toEqual([bytes(8)]);
  expect([relay.size, relay.waiting]).toEqual([1, 0]);
  holder.channels[0]?.handler.onDrain?.();
  expect(channel.calls).toEqual(["pause", "resume"]);
  channel.handler?.onClose("closed by the switch", true);
  expect(holder.channels[0]?.channel.calls).toEqual(["close closed by the switch"]);
  expect(relay.size).toBe(0);
});

test("one that waits too long, or sends too much before, is closed; so is one whose other end closes", () => {
  const { clock, holder, relay, connect } = startRelay();
  const [silent, loud] = [connect(), connect()];
  for (let i = 0; i < 5; i++) loud.handler?.onData(bytes(64 * 1024));
  expect(loud.calls).toEqual(["pause", "close sends too much before it is relayed"]);
  clock.advance(9_999);
  relay.tick();
  expect(silent.calls).toEqual([]);
  clock.advance(1);
  relay.tick();
  expect(silent.calls).toEqual(["close terminated"]);
  expect(relay.size).toBe(0);
  holder.isReachable = true;
  const relayed = connect();
  relayed.handler?.onData(bytes(8));
  holder.channels[0]?.handler.onClose("the other node does not respond", false);
  expect(relayed.calls).toEqual(["close the other node does not respond"]);
});

test("each side is not read while the other one does not accept what it is sent", () => {
  const { holder, connect } = startRelay();
  holder.isReachable = true;
  const channel = connect();
  channel.handler?.onData(bytes(8));
  const [toHolder] = holder.channels;
  if (!toHolder) throw new Error("not relayed");
  toHolder.channel.backlogBytes = 100_000;
  channel.handler?.onData(bytes(8));
  channel.handler?.onData(bytes(8));
  expect(channel.calls).toEqual(["pause"]);
  toHolder.handler.onDrain?.();
  expect(channel.calls).toEqual(["pause", "resume"]);
  channel.backlogBytes = 100_000;
  toHolder.handler.onData(bytes(8));
  expect(toHolder.channel.calls).toEqual(["pause"]);
  channel.handler?.onDrain?.();
  expect(toHolder.channel.calls).toEqual(["pause", "resume"]);
});

test("the limits of sessions apply", () => {
  const { relay, connect } = startRelay({ maxDevicesPerAddress: 2 });
  expect([connect(), connect(), connect()].map(({ handler }) => handler !== undefined)).toEqual([
    true,
    true,
    false,
  ]);
  expect(relay.size).toBe(2);
});
