/**
 * Whether messages that a stream has acknowledged, or delivered, are replaced by others when the routes between its servers
 * are stalled or cut, and servers killed. A client of each server publishes after the last message that it has received, and
 * follows the stream. At the end, what they were given is compared with what the stream has.
 */
import { DeliverPolicy } from "@nats-io/jetstream";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { type Client, retry, type Server, startServers } from "./servers.ts";

const STREAM = { name: "LOG", subjects: ["log"] };
const SERVERS = 3;
const PUBLISH_EVERY_MS = 50;
const PUBLISH_TIMEOUT_MS = 3_000;
/** A consumer whose leader is gone says nothing of it. */
const FOLLOW_AGAIN_MS = 6_000;
const SETTLE_MS = 15_000;
const READ_MS = 30_000;
const SHOWN = 5;

export interface RouteOptions {
  readonly seconds: number;
  /** What is done to a server, besides pauses of it. */
  readonly disturbances: readonly ("stall" | "cut" | "kill" | "pause")[];
}

/** What clients were given: by sequence, the messages. */
class Given {
  readonly #bySequence = new Map<number, Set<string>>();
  count = 0;

  add(sequence: number, text: string): void {
    const known = this.#bySequence.get(sequence) ?? new Set();
    if (!known.has(text)) this.count++;
    this.#bySequence.set(sequence, known.add(text));
  }

  /** Those that the stream does not have at their place. */
  missingIn(stream: ReadonlyMap<number, string>): string[] {
    return [...this.#bySequence].flatMap(([sequence, texts]) =>
      [...texts]
        .filter((text) => stream.get(sequence) !== text)
        .map((text) => `${sequence}: ${text}, now ${stream.get(sequence) ?? "nothing"}`),
    );
  }
}

class Writer {
  readonly acknowledged = new Given();
  readonly delivered = new Given();
  readonly #client: Client;
  readonly #name: string;
  readonly #stop = new AbortController();
  #last = 0;

  constructor(client: Client, name: string) {
    this.#client = client;
    this.#name = name;
  }

  async run(): Promise<void> {
    await Promise.all([this.#follow(), this.#publish()]);
  }

  stop(): void {
    this.#stop.abort();
  }

  async #publish(): Promise<void> {
    for (let n = 0; !this.#stop.signal.aborted; n++) {
      const text = `${this.#name}-${n}`;
      try {
        const { seq, duplicate } = await this.#client.js.publish("log", text, {
          msgID: text,
          expect: { lastSequence: this.#last },
          timeout: PUBLISH_TIMEOUT_MS,
          retries: 0,
        });
        if (!duplicate) this.acknowledged.add(seq, text);
      } catch {
        // Another one was first, or there is no answer.
      }
      await Bun.sleep(Math.random() * 2 * PUBLISH_EVERY_MS);
    }
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const consumer = await this.#client.js.consumers.get(STREAM.name, {
          deliver_policy: DeliverPolicy.StartSequence,
          opt_start_seq: this.#last + 1,
        });
        const messages = await consumer.consume({ max_messages: 256, idle_heartbeat: 2_000 });
        const stop = () => messages.stop();
        const timer = setTimeout(stop, FOLLOW_AGAIN_MS);
        this.#stop.signal.addEventListener("abort", stop, { once: true });
        for await (const message of messages) {
          this.delivered.add(message.seq, message.string());
          this.#last = Math.max(this.#last, message.seq);
        }
        clearTimeout(timer);
      } catch {
        await Bun.sleep(250);
      }
    }
  }
}

export async function routes({ seconds, disturbances }: RouteOptions): Promise<string> {
  const proxies: { readonly ends: readonly number[]; readonly proxy: TcpProxy }[] = [];
  const routeVia = async (from: number, to: number, port: number): Promise<number> => {
    const proxy = await startTcpProxy(port);
    proxies.push({ ends: [from, to], proxy });
    return proxy.port;
  };
  await using servers = await startServers(SERVERS, { routeVia });
  const [first] = servers.all;
  if (!first) throw new Error("no server");
  await using client = await first.client(servers.all.map(({ port }) => port));
  await retry(() => client.manager.streams.add({ ...STREAM, num_replicas: SERVERS }));
  const clients = await Promise.all(servers.all.map((server) => server.client()));
  const writers = clients.map((each, n) => new Writer(each, `w${n}`));
  const running = writers.map((writer) => writer.run());
  const routesOf = (n: number) => proxies.filter(({ ends }) => ends.includes(n)).map(({ proxy }) => proxy);
  const events: string[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    const target = Math.floor(Math.random() * SERVERS);
    const what = disturbances[Math.floor(Math.random() * disturbances.length)] ?? "stall";
    const server = servers.all[target];
    if (server) events.push(await disturb(what, server, target, routesOf(target)));
    await Bun.sleep(500 + Math.random() * 3_000);
  }
  await Bun.sleep(SETTLE_MS);
  for (const writer of writers) writer.stop();
  await Promise.all(running);
  const stored = await read(client);
  await Promise.all(clients.map((each) => each.connection.close()));
  await Promise.all(proxies.map(({ proxy }) => proxy[Symbol.asyncDispose]()));
  const describe = (what: "acknowledged" | "delivered"): string => {
    const count = writers.reduce((sum, writer) => sum + writer[what].count, 0);
    const missing = writers.flatMap((writer) => writer[what].missingIn(stored));
    return `of ${count} ${what}, ${missing.length} are not what the stream has (${missing.slice(0, SHOWN).join("; ")})`;
  };
  return `${events.length} disturbances; the stream has ${stored.size} messages; ${describe("acknowledged")}; ${describe("delivered")}`;
}

async function disturb(
  what: RouteOptions["disturbances"][number],
  server: Server,
  target: number,
  proxies: readonly TcpProxy[],
): Promise<string> {
  const ms = 1_000 + Math.random() * 11_000;
  if (what === "kill") await server.kill();
  else if (what === "pause") server.pause();
  else for (const proxy of proxies) proxy[what]();
  await Bun.sleep(ms);
  if (what === "kill") server.start();
  else if (what === "pause") server.resume();
  else for (const proxy of proxies) proxy.open();
  return `${what} ${target} for ${Math.round(ms)} ms`;
}

async function read({ js, manager }: Client): Promise<Map<number, string>> {
  const stored = new Map<number, string>();
  const consumer = await retry(() => js.consumers.get(STREAM.name, { deliver_policy: DeliverPolicy.All }));
  const state = await retry(async () => {
    const info = await manager.streams.info(STREAM.name);
    // A server that does not lead the stream yet may say that it is empty.
    if (info.state.messages === 0) throw new Error("the stream is empty");
    return info.state;
  });
  const messages = await consumer.consume({ max_messages: 1_000 });
  // A stream may lack its last messages.
  const timer = setTimeout(() => messages.stop(), READ_MS);
  for await (const message of messages) {
    stored.set(message.seq, message.string());
    if (message.seq >= state.last_seq) break;
  }
  clearTimeout(timer);
  return stored;
}
