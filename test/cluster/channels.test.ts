/** Byte channels between two nodes over a real NATS server: order, flow control, and the end of a node. */
import { describe, expect, test } from "bun:test";
import { connect, type NatsConnection } from "@nats-io/transport-node";
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
}

async function openNode(servers: NatsServers, node: string): Promise<Node> {
  const connection = await connect({ servers: servers.urls, reconnectTimeWait: 50 });
  return {
    connection,
    channels: new Channels({ connection, subject: SUBJECT, node, clock: systemClock }),
    [Symbol.asyncDispose]: () => connection.close(),
  };
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

  test("lost messages, a node that is gone and a foreign message: channels end, or nothing happens", async () => {
    await using nats = await startNatsServers();
    await using a = await openNode(nats, "a");
    await using b = await openNode(nats, "b");
    const end = new AbortController();
    const { atA, atB, opener } = await openPair(a, b, end.signal);
    // What others send is ignored and counted.
    const subjects = new Set<string>();
    const spy = b.connection.subscribe(`${SUBJECT}.trunk.*.a`, {
      callback: (_, message) => {
        subjects.add(message.subject);
      },
    });
    await until(() => subjects.size > 0, { what: "a message of the trunk" });
    spy.unsubscribe();
    for (const subject of subjects) b.connection.publish(subject, "no frame");
    b.connection.publish(`${SUBJECT}.channels.YQ.dG9waWM`, "{}");
    await until(() => a.channels.foreignMessages === 2, { what: "the foreign messages" });
    expect(atA.closed).toBeUndefined();
    // A message that does not follow the last one: something was lost.
    for (const subject of subjects) b.connection.publish(subject, Uint8Array.of(0, 1, 0, 0, 5, 0, 0, 0, 0));
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
