/**
 * What NATS itself can lose, shown with the plain client and real servers, without anything of Gazetteer: the list in
 * docs/cluster.md. `bun bench/cluster/engine/losses.ts [NAME …]`; NATS_SERVER names another binary. `power` and `full` mount
 * file systems of their own, so they need root.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DiscardPolicy, JetStreamApiError, StorageType } from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { headers } from "@nats-io/transport-node";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { routes } from "./routes.ts";
import { type Client, retry, type Server, startServers, version } from "./servers.ts";

const STREAM = { name: "LOG", subjects: ["log"] };
const MESSAGES = 50;

const outcome = (publish: Promise<{ seq: number }>): Promise<string> =>
  publish.then(
    ({ seq }) => `stored as ${seq}`,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

const lastOf = async ({ manager }: Client): Promise<number> =>
  (await retry(() => manager.streams.info(STREAM.name))).state.last_seq;

async function publishAll({ js }: Client, from = 0): Promise<number> {
  let last = 0;
  for (let n = from; n < from + MESSAGES; n++) last = (await js.publish("log", `m${n}`)).seq;
  return last;
}

const run = (command: string, ...args: string[]): void => {
  execFileSync(command, args, { stdio: "ignore" });
};

/** kill -9 of all servers at once, right after an acknowledgement. */
async function killed(replicas: number): Promise<string> {
  await using servers = await startServers(replicas);
  const [first] = servers.all;
  if (!first) return "";
  let acknowledged = 0;
  {
    await using client = await first.client();
    await retry(() => client.manager.streams.add({ ...STREAM, num_replicas: replicas }));
    acknowledged = await publishAll(client);
    await Promise.all(servers.all.map((server) => server.kill()));
  }
  for (const server of servers.all) server.start();
  await using client = await first.client();
  return `${acknowledged} acknowledged, ${await lastOf(client)} there after the start`;
}

/** The disk as it is when the power fails: what the kernel has not written yet is gone. */
async function power(jetstream: string): Promise<string> {
  const folder = mkdtempSync("/tmp/nats-power-");
  const [image, disk] = [join(folder, "disk.img"), join(folder, "disk")];
  writeFileSync(image, new Uint8Array(64 << 20));
  run("mkfs.ext4", "-q", image);
  run("mkdir", disk);
  run("mount", "-o", "loop", image, disk);
  try {
    let acknowledged = 0;
    {
      await using servers = await startServers(1, { storeOf: () => join(disk, "data"), jetstream });
      await using client = await (servers.all[0] ?? raise()).client();
      await retry(() => client.manager.streams.add(STREAM));
      run("sync");
      acknowledged = await publishAll(client);
      copyFileSync(image, `${image}.off`);
    }
    run("umount", disk);
    run("mount", "-o", "loop", `${image}.off`, disk);
    await using servers = await startServers(1, { storeOf: () => join(disk, "data"), jetstream });
    await using client = await (servers.all[0] ?? raise()).client();
    return `${acknowledged} acknowledged, ${await lastOf(client)} there after the power is back`;
  } finally {
    run("umount", disk);
    rmSync(folder, { recursive: true });
  }
}

/** A stream in memory, and the only server that has it starts again. */
async function memory(): Promise<string> {
  await using servers = await startServers(1);
  const server = servers.all[0] ?? raise();
  let acknowledged = 0;
  {
    await using client = await server.client();
    await retry(() => client.manager.streams.add({ ...STREAM, storage: StorageType.Memory }));
    acknowledged = await publishAll(client);
  }
  await server.kill();
  server.start();
  await using client = await server.client();
  const after = await client.manager.streams.info(STREAM.name).then(
    ({ state }) => `${state.messages} there`,
    (error: Error) => error.message,
  );
  return `${acknowledged} acknowledged; after the start: ${after}`;
}

/** A message with a TTL of a second of its own. */
async function ttl(): Promise<string> {
  await using servers = await startServers(1);
  await using client = await (servers.all[0] ?? raise()).client();
  const config = { ...STREAM, allow_msg_ttl: true };
  // As a request, because the client itself refuses it for an older server.
  const created = await retry(() =>
    client.connection.request("$JS.API.STREAM.CREATE.LOG", JSON.stringify(config)),
  );
  const { config: accepted } = created.json<{ config?: { allow_msg_ttl?: boolean } }>();
  const own = headers();
  own.set("Nats-TTL", "1s");
  const published = await outcome(client.js.publish("log", "short", { headers: own }));
  await Bun.sleep(4_000);
  const { state } = await client.manager.streams.info(STREAM.name);
  return `allow_msg_ttl of the stream: ${accepted?.allow_msg_ttl ?? "ignored"}; with Nats-TTL 1s: ${published}; after 4 s there are ${state.messages} messages`;
}

/** A disk that is full, and has room again. */
async function full(): Promise<string> {
  const disk = mkdtempSync("/tmp/nats-full-");
  run("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk);
  try {
    await using servers = await startServers(1, { storeOf: () => disk });
    const server = servers.all[0] ?? raise();
    let [whenFull, whenFree] = ["", ""];
    {
      await using client = await server.client();
      await retry(() => client.manager.streams.add({ ...STREAM, discard: DiscardPolicy.New }));
      await publishAll(client);
      const payload = new Uint8Array(256 << 10);
      for (let n = 0; n < 100 && (n === 0 || whenFull.startsWith("stored")); n++)
        whenFull = await outcome(client.js.publish("log", payload, { timeout: 2_000, retries: 0 }));
      run("mount", "-o", "remount,size=64m", disk);
      await Bun.sleep(3_000);
      whenFree = await outcome(client.js.publish("log", "after", { timeout: 2_000, retries: 0 }));
    }
    await server.kill();
    server.start();
    await using client = await server.client();
    await lastOf(client);
    const restarted = await outcome(client.js.publish("log", "after"));
    return `full: ${whenFull}; with room again: ${whenFree}; after a restart: ${restarted}`;
  } finally {
    await Bun.sleep(500);
    run("umount", "-l", disk);
  }
}

/** A leader refuses because of a message that it never stores. */
async function refused(): Promise<string> {
  await using servers = await startServers(3);
  const name = await (async () => {
    await using client = await (servers.all[0] ?? raise()).client();
    await retry(() => client.manager.streams.add({ ...STREAM, num_replicas: 3 }));
    await publishAll(client);
    return (await client.manager.streams.info(STREAM.name)).cluster?.leader ?? "";
  })();
  const leader = servers.all[Number(name.slice(1))] ?? raise();
  const followers = servers.all.filter((server) => server !== leader);
  let answers: string[] = [];
  {
    await using client = await leader.client();
    await Promise.all(followers.map((server) => server.kill()));
    const publish = (id: string) =>
      outcome(
        client.js.publish("log", id, {
          msgID: id,
          expect: { lastSequence: MESSAGES },
          timeout: 2_000,
          retries: 0,
        }),
      );
    answers = await Promise.all([publish("first"), publish("second")]);
    await leader.kill();
  }
  for (const server of followers) server.start();
  await using client = await (followers[0] ?? raise()).client();
  return `last is ${MESSAGES}; first: ${answers[0]}; second: ${answers[1]}; then, with another leader, the last is ${await lastOf(client)}`;
}

/** Messages that were sent on a connection that broke. */
async function silent(): Promise<string> {
  await using servers = await startServers(1);
  const server = servers.all[0] ?? raise();
  await using direct = await server.client();
  await retry(() => direct.manager.streams.add(STREAM));
  await using proxy = await startTcpProxy(server.port);
  const cut = await server.client([proxy.port]);
  const seen: number[] = [];
  const messages = await (await cut.js.consumers.get("LOG")).consume({ idle_heartbeat: 2_000 });
  void (async () => {
    for await (const { seq } of messages) seen.push(seq);
  })();
  await publishAll(direct);
  await retry(async () => {
    if (seen.length < MESSAGES) throw new Error("not yet");
  });
  proxy.stall();
  const lost = (await direct.js.publish("log", "lost")).seq;
  await Bun.sleep(500);
  proxy.cut();
  proxy.open();
  await Bun.sleep(15_000);
  const before = seen.includes(lost);
  await direct.js.publish("log", "next");
  await Bun.sleep(3_000);
  await cut.connection.close();
  return `sent when the connection broke: ${before ? "arrived" : "not arrived"} 15 s after it was back; after the next message: ${seen.includes(lost) ? "arrived" : "not arrived"}`;
}

const LEASE_TTL_MS = 16_000;
const DISTURBED_MS = 150_000;

/** Pauses or kills one or two of the servers for some seconds, again and again. */
async function disturb(servers: readonly Server[]): Promise<void> {
  const below = (count: number) => Math.floor(Math.random() * count);
  for (const end = performance.now() + DISTURBED_MS; performance.now() < end; ) {
    const [first, isKilled] = [below(3), below(2) === 0];
    const targets = servers.filter((_, n) => n === first || (below(4) === 0 && n === (first + 1) % 3));
    for (const server of targets) await (isKilled ? server.kill() : server.pause());
    await Bun.sleep(1_000 + below(9_000));
    for (const server of targets) isKilled ? server.start() : server.resume();
    await Bun.sleep(1_000 + below(2_000));
  }
}

/** Two clients that want the same entries of a bucket with a TTL, as leases: create, and update by revision. */
async function leases(storage: StorageType): Promise<string> {
  await using servers = await startServers(3);
  const options = { ttl: LEASE_TTL_MS, replicas: 3, history: 1, storage, allow_direct: false };
  const ports = servers.all.map(({ port }) => port);
  await using first = await (servers.all[0] ?? raise()).client(ports);
  await retry(() => new Kvm(first.js).create("leases", options));
  const holders = new Map<string, { readonly name: string; readonly until: number }>();
  const counts = { acknowledged: 0, "not found right after": 0, "held by both": 0 };
  let isOver = false;
  const want = async (name: string, key: string) => {
    await using client = await (servers.all[0] ?? raise()).client(ports);
    const kv: KV = await retry(() => new Kvm(client.js).open("leases"));
    let revision = 0;
    while (!isOver) {
      const sentAt = performance.now();
      try {
        const isNew = revision === 0;
        revision = isNew ? await kv.create(key, name) : await kv.update(key, name, revision, 1_000);
        counts.acknowledged++;
        const other = holders.get(key);
        if (other && other.name !== name && other.until > performance.now()) counts["held by both"]++;
        holders.set(key, { name, until: sentAt + LEASE_TTL_MS });
        if (isNew && (await kv.get(key).catch(() => undefined)) === null) counts["not found right after"]++;
        // Now and then it is late.
        await Bun.sleep(Math.random() < 0.06 ? LEASE_TTL_MS * 1.25 : LEASE_TTL_MS / 8);
      } catch (error) {
        if (revision > 0 && isOtherRevision(error)) {
          revision = 0;
          if (holders.get(key)?.name === name) holders.delete(key);
        }
        await Bun.sleep(500);
      }
    }
  };
  const wanting = ["x", "y", "z"].flatMap((key) => ["a", "b"].map((name) => want(name, key)));
  await disturb(servers.all);
  isOver = true;
  await Promise.all(wanting);
  return JSON.stringify(counts);
}

const isOtherRevision = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === 10071;

const raise = (): never => {
  throw new Error("no server");
};

const CASES: Readonly<Record<string, () => Promise<string>>> = {
  "killed-1": () => killed(1),
  "killed-3": () => killed(3),
  power: () => power(""),
  "power-always": () => power(", sync_interval: always"),
  memory,
  ttl,
  full,
  refused,
  silent,
  leases: () => leases(StorageType.File),
  "leases-memory": () => leases(StorageType.Memory),
  routes: () => routes({ seconds: 150, disturbances: ["stall", "stall", "cut", "kill", "pause"] }),
  "routes-only": () => routes({ seconds: 150, disturbances: ["stall", "cut"] }),
  "no-routes": () => routes({ seconds: 150, disturbances: ["kill", "pause"] }),
};

const names = process.argv.slice(2);
console.log(version());
for (const [name, task] of Object.entries(CASES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  console.log(`${name}: ${await task().catch((error: unknown) => `did not run: ${error}`)}`);
}
process.exit(0);
