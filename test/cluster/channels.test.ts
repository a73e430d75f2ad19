/** Byte channels between two nodes over a real NATS server: order, flow control, and the end of a node. */
import { describe, expect, test } from "bun:test";
import { connect, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { Channels } from "../../src/cluster/channels.ts";
import type { ByteChannel } from "../../src/lib/byte-channel.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { type NatsServers, startNatsServers } from "../support/nats-servers.ts";
import { until } from "../support/until.ts";

const SUBJECT = "gazetteer.test.requests";

/** One end of a channel: what it has received, and how it was closed. */
class End {
  readonly chunks: Uint8Array[] = [];
  closed: { readonly reason: string; readonly byPeer: boolean } | undefined;
  channel: ByteChannel | undefined;
  drains = 0;
  onData = (chunk: Uint8Array): void => {
    this.chunks.push(chunk.slice());
  };
  onDrain = (): void => {
    this.drains++;
  };
  onClose = (reason: string, byPeer: boolean): void => {
    this.closed = { reason, byPeer };
  };

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }
}

interface Node extends AsyncDisposable {
  readonly connection: NatsConnection;
  readonly channels: Channels;
  foreignMessages: number;
}

async function openNode(servers: NatsServers, name: string, key = Buffer.from("key")): Promise<Node> {
  const connection = await connect({ servers: servers.urls, reconnectTimeWait: 50 });
  const onForeign = () => {
    node.foreignMessages++;
  };
  const node = {
    connection,
    channels: new Channels({ connection, subject: SUBJECT, node: name, key, clock: systemClock, onForeign }),
    foreignMessages: 0,
    [Symbol.asyncDispose]: () => connection.close(),
  };
  return node;
}

/** Node b opens a channel to node a. */
async function openPair(a: Node, b: Node, signal: AbortSignal) {
  const [atA, atB] = [new End(), new End()];
  const openings: unknown[] = [];
  const stop = a.channels.accept("topic", (opening, channel) => {
    openings.push(opening);
    atA.channel = channel;
    return atA;
  });
  const opener = b.channels.connect("topic", () => "a", signal);
  const channel = await until(() => opener.open({ from: "b" }, atB), { what: "a trunk" });
  atB.channel = channel;
  await until(() => atA.channel, { what: "the channel at the other node" });
  return { atA, atB, openings, stop, opener };
}

const sample = (length: number) => Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 7) % 251));

describe("channels between nodes", () => {
  test("carry bytes in order in both directions, and close with the reason", async () => {
    await using nats = await startNatsServers();
    await using a = await openNode(nats, "a");
    await using b = await openNode(nats, "b");
    const end = new AbortController();
    const { atA, atB, openings } = await openPair(a, b, end.signal);
    expect(openings).toEqual([{ from: "b" }]);
    // Far more than the window.
    const bytes = sample(3_000_000);
    for (let at = 0; at < bytes.length; at += 10_000) atB.channel?.send(bytes.subarray(at, at + 10_000));
    atA.channel?.send(sample(1000));
    await until(() => atA.bytes.length === bytes.length && atB.bytes.length === 1000, { what: "all bytes" });
    expect(atA.bytes.equals(bytes)).toBe(true);
    expect(atB.bytes.equals(sample(1000))).toBe(true);
    expect(atB.drains).toBeGreaterThan(0);
    atB.channel?.close("done");
    await until(() => atA.closed && atB.closed, { what: "both ends closed" });
    expect(atA.closed).toEqual({ reason: "done", byPeer: false });
    end.abort();
  });

  test("a paused end stops the sender at the window, and no other channel; a sender that goes on is closed", async () => {
    await using nats = await startNatsServers();
    await using a = await openNode(nats, "a");
    await using b = await openNode(nats, "b");
    const end = new AbortController();
    const { atA, atB, opener } = await openPair(a, b, end.signal);
    const paused = atA.channel;
    paused?.pause();
    for (let i = 0; i < 20; i++) atB.channel?.send(sample(10_000));
    const other = new End();
    const first = atA.chunks.length;
    opener.open({}, other)?.send(sample(10));
    await until(() => atA.chunks.length > first && atA.bytes.length >= 64 * 1024 + 10, {
      what: "the window",
    });
    expect(atA.bytes.length).toBe(64 * 1024 + 10);
    expect(atB.channel?.backlogBytes).toBe(200_000 - 64 * 1024);
    paused?.resume();
    await until(() => atA.bytes.length === 200_010, { what: "the rest" });
    paused?.pause();
    for (let i = 0; i < 500; i++) atB.channel?.send(sample(10_000));
    await until(() => atB.closed, { what: "the end of the sender" });
    expect(atB.closed?.reason).toBe("does not read what it is sent");
    end.abort();
  });

  test("messages of others, and those that are sent again, are counted and change nothing", async () => {
    await using nats = await startNatsServers();
    await using a = await openNode(nats, "a");
    await using b = await openNode(nats, "b");
    const sent: Msg[] = [];
    const spy = b.connection.subscribe(`${SUBJECT}.>`, { callback: (_, message) => void sent.push(message) });
    await b.connection.flush();
    const end = new AbortController();
    const { atA, atB, openings } = await openPair(a, b, end.signal);
    atB.channel?.send(sample(1000));
    await until(() => atA.bytes.length === 1000, { what: "the bytes" });
    spy.unsubscribe();
    const counted = a.foreignMessages;
    const ofTrunk = sent.filter(({ subject }) => subject.endsWith(".a"));
    const request = sent.findLast(({ subject }) => subject.includes(".channels."));
    const [frame] = ofTrunk;
    if (!request || !frame) throw new Error("nothing was sent");
    b.connection.publish(request.subject, request.data, { reply: `${request.reply}x` });
    for (const { subject, data } of ofTrunk) b.connection.publish(subject, data);
    // For the other direction, changed, too short, and none at all.
    b.connection.publish(frame.subject.replace(/a$/, "b"), frame.data);
    const changed = Uint8Array.from(frame.data, (byte, i) => (i === 20 ? byte ^ 1 : byte));
    b.connection.publish(frame.subject, changed);
    b.connection.publish(frame.subject, frame.data.subarray(0, 20));
    b.connection.publish(request.subject, "{}");
    const count = ofTrunk.length + 4;
    await until(() => a.foreignMessages - counted === count, { what: "the count at a" });
    await until(() => b.foreignMessages === 1, { what: "the count at b" });
    expect([atA.closed, atB.closed, openings.length]).toEqual([undefined, undefined, 1]);
    atB.channel?.send(sample(10));
    await until(() => atA.bytes.length === 1010, { what: "more bytes on the same channel" });
    // A node with another secret gets no trunk.
    await using c = await openNode(nats, "c", Buffer.from("another"));
    const refused = a.foreignMessages;
    const opener = c.channels.connect("topic", () => "a", end.signal);
    await until(() => a.foreignMessages > refused, { what: "the refusal" });
    expect(opener.open({}, new End())).toBeUndefined();
    end.abort();
  });

  test("lost messages, and a node that is gone: channels end", async () => {
    await using nats = await startNatsServers();
    await using a = await openNode(nats, "a");
    await using b = await openNode(nats, "b");
    const end = new AbortController();
    const { atA, atB, opener } = await openPair(a, b, end.signal);
    // Node b sends, and one message does not arrive.
    const { publish } = b.connection;
    b.connection.publish = () => {};
    atB.channel?.send(sample(10));
    await Promise.resolve();
    b.connection.publish = publish.bind(b.connection);
    await until(() => atA.closed && atB.closed, { what: "the end of the trunk" });
    expect(atA.closed).toEqual({ reason: "messages between nodes were lost", byPeer: false });
    // Node b connects again by itself.
    const again = new End();
    await until(() => opener.open({}, again), { what: "another trunk" });
    await a.connection.close();
    await until(() => again.closed, { what: "the end of node a" });
    expect(again.closed?.byPeer).toBe(false);
    expect(opener.open({}, new End())).toBeUndefined();
    end.abort();
  });
});
