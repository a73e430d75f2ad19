/** One set of users for all nodes (`cluster.shareUsers`), in real processes on a real NATS server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Kvm } from "@nats-io/kv";
import { parseUsers } from "../../src/api/auth/users-file.ts";
import { clusterNames } from "../../src/cluster/nats/nats-cluster.ts";
import { ClusterSecret } from "../../src/cluster/nats/sealed.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type NatsServers, startNatsServers } from "../support/nats-servers.ts";
import { basic, generatedCredentials } from "../support/service.ts";
import { until } from "../support/until.ts";
import { ServiceNode, testNats } from "./service-nodes.ts";

const NAME = "people";
const BUCKET = clusterNames(NAME).users;
const SECRET = "a secret of the cluster";
/** The tests try wrong passwords again and again. */
const limits = { failureBurst: 10_000, failuresPerMinute: 60_000, addressFailureBurst: 100_000 };
const DIFFERS = /users-differ/g;
const secretFile = join(temporaryFolder(), "secret");

let nats: NatsServers;
beforeAll(async () => {
  writeFileSync(secretFile, `${SECRET}\n`, { mode: 0o600 });
  nats = await startNatsServers();
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
});

const hashes = new Map<string, string>();
/** A password is the name of its user, and `suffix`. */
async function writeUsers(node: ServiceNode, ...users: readonly (readonly [name: string, suffix: string])[]) {
  const lines = users.map(async ([name, suffix]) => {
    const password = name + suffix;
    const hash =
      hashes.get(password) ?? (await Bun.password.hash(password, { algorithm: "bcrypt", cost: 4 }));
    hashes.set(password, hash);
    return `${name}:${hash}\n`;
  });
  writeFileSync(join(node.folder, "users"), (await Promise.all(lines)).join(""), { mode: 0o600 });
}

function createNode(name: string, more: Readonly<Record<string, unknown>> = {}): ServiceNode {
  const node = new ServiceNode({ nats, name: NAME, replicas: 1 }, name);
  const cluster = { servers: nats.urls.split(","), name: NAME, replicas: 1, node: name };
  node.configure([], {
    users: join(node.folder, "users"),
    cluster: { ...cluster, shareUsers: true, secretFile },
    limits,
    ...more,
  });
  return node;
}

async function statusOf(node: ServiceNode, credentials: string): Promise<number> {
  const headers = { authorization: basic(credentials), connection: "close" };
  const response = await node.service.fetch("/controller/v1/devices", { headers });
  await response.arrayBuffer();
  return response.status;
}

/** In all processes of the node: several connections in a row give the same. */
const untilStatus = (node: ServiceNode, credentials: string, status: number) =>
  until(
    async () => {
      for (let i = 0; i < 6; i++) if ((await statusOf(node, credentials)) !== status) return false;
      return true;
    },
    { what: `${status} for ${credentials} on ${node.name}` },
  );

/** Resolves when the stream that was opened as this user ends. */
async function openStream(
  node: ServiceNode,
  credentials: string,
): Promise<{ readonly ended: Promise<void> }> {
  const headers = { authorization: basic(credentials), accept: "text/event-stream" };
  const response = await node.service.fetch("/controller/v1/devices", { headers });
  expect(response.status).toBe(200);
  const read = async () => {
    for await (const _ of response.body ?? []);
  };
  return { ended: read().catch(() => {}) };
}

const secret = new ClusterSecret(Buffer.from(SECRET));
const openValue = (sealed: Uint8Array) => {
  const plain = secret.open(`users of ${BUCKET}`, sealed);
  return plain && (JSON.parse(Buffer.from(plain).toString()) as { version: number; users: string[][] });
};

test("a change of one node's file is applied on all; removed users stay removed", async () => {
  await using a = createNode("a", { readers: 2 });
  await using b = createNode("b");
  await writeUsers(a, ["ann", "-a"], ["bob", ""]);
  await writeUsers(b, ["ann", "-b"], ["bob", ""], ["zed", ""]);
  await a.start();
  await b.start();

  // The first node's file is the cluster's; the other one says that its own differs.
  await untilStatus(b, "ann:ann-a", 200);
  expect(await statusOf(b, "ann:ann-b")).toBe(401);
  expect(await statusOf(b, "zed:zed")).toBe(401);
  expect(b.service.stderr().match(DIFFERS)).toHaveLength(1);
  expect(a.service.stderr()).not.toMatch(DIFFERS);

  await using client = await testNats({ nats });
  const kv = await new Kvm(client.jetstream).open(BUCKET);
  const value = async () => (await kv.get("users"))?.value ?? new Uint8Array();
  const withBob = await value();
  /** Undefined also while there is no bucket. */
  const names = async () =>
    openValue(await value().catch(() => new Uint8Array()))?.users.map(([name]) => name);
  expect(await names()).toEqual(["ann", "bob"]);
  for (const text of ["ann", "bob", "$2b$", hashes.get("bob")?.slice(8, 20) ?? ""])
    expect(Buffer.from(withBob).includes(text)).toBe(false);

  const streams = await Promise.all([openStream(a, "bob:bob"), openStream(b, "bob:bob")]);
  const kept = await openStream(b, "ann:ann-a");
  let isKeptEnded = false;
  void kept.ended.then(() => {
    isKeptEnded = true;
  });
  await writeUsers(a, ["ann", "-a"], ["cy", ""]);
  await Promise.all(streams.map(({ ended }) => ended));
  expect(isKeptEnded).toBe(false);
  for (const node of [a, b]) {
    await untilStatus(node, "cy:cy", 200);
    await untilStatus(node, "bob:bob", 401);
  }

  // The file of b still has bob and zed: only what changes in it is applied, and the last change of ann wins.
  await writeUsers(b, ["ann", "-last"], ["bob", ""], ["zed", ""], ["dan", ""]);
  for (const node of [a, b]) {
    await untilStatus(node, "dan:dan", 200);
    expect(await statusOf(node, "ann:ann-last")).toBe(200);
    expect(await statusOf(node, "ann:ann-a")).toBe(401);
    expect(await statusOf(node, "bob:bob")).toBe(401);
  }
  expect(await names()).toEqual(["ann", "cy", "dan"]);

  // Whoever may write to the bucket brings no old set back, nor removes the users.
  for (const write of [
    () => kv.put("users", withBob),
    () => kv.put("users", "no users"),
    () => kv.delete("users"),
    () => client.manager.streams.delete(`KV_${BUCKET}`),
  ]) {
    await write();
    // Seldom: NATS 2.9 ends with an error when a bucket is read in the moment in which it is made.
    await until(async () => (await names())?.join() === "ann,cy,dan", {
      what: "the newest users again",
      everyMs: 1_000,
    });
    expect(await statusOf(b, "bob:bob")).toBe(401);
  }

  // In the bucket that was made again revisions begin anew, and its changes reach the nodes that run.
  await writeUsers(a, ["ann", "-last"], ["cy", ""], ["dan", ""], ["fay", ""]);
  for (const node of [a, b]) await untilStatus(node, "fay:fay", 200);
  await writeUsers(a, ["ann", "-last"], ["cy", ""], ["dan", ""]);
  for (const node of [a, b]) await untilStatus(node, "fay:fay", 401);

  // Without NATS the last known users apply, also after a start; a change is applied once NATS is back.
  await b.kill();
  await nats.servers[0]?.kill();
  await b.start();
  await untilStatus(b, "dan:dan", 200);
  expect(await statusOf(b, "bob:bob")).toBe(401);
  await writeUsers(b, ["ann", "-last"], ["bob", ""], ["dan", ""], ["eve", ""]);
  await until(() => b.service.stderr().includes("users-not-shared"), {
    what: "the line of the pending change",
  });
  await nats.servers[0]?.start();
  for (const node of [a, b]) await untilStatus(node, "eve:eve", 200);
  expect(await statusOf(a, "bob:bob")).toBe(401);
}, 180_000);

test("a generated user is that of the first node; the next ones have it too", async () => {
  const own = { users: undefined };
  await using first = createNode("c", own);
  await using second = createNode("d", own);
  const cluster = {
    servers: nats.urls.split(","),
    name: "generated",
    replicas: 1,
    shareUsers: true,
    secretFile,
  };
  for (const node of [first, second]) node.configure([], { cluster: { ...cluster, node: node.name } });
  await first.start(null);
  const credentials = generatedCredentials(first.service);
  await second.start(null);
  expect(second.service.stdout()).not.toContain("password ");
  expect(await statusOf(second, credentials)).toBe(200);

  // A node that goes alone keeps them; its copy is a users file that needs no secret.
  const copy = join(second.folder, "data", "cluster-generated.users");
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect(parseUsers(readFileSync(copy, "utf8"), copy).has("reader")).toBe(true);
  expect(await second.service.stop()).toBe(0);
  second.configure([], { cluster: {} });
  await second.start(null);
  expect(await statusOf(second, credentials)).toBe(200);
}, 120_000);
