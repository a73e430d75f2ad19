/**
 * Peers that misuse the TLS handshake: stalled, malformed and oversized ones, bursts, renegotiation. What each costs is
 * bounded and counted, and other clients are served meanwhile.
 */
import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { HANDSHAKE_TIMEOUT_MS, MAX_HANDSHAKES } from "../../src/http1/tls.ts";
import { LiveTlsIdentity } from "../../src/http1/tls-identity.ts";
import { AUTHORIZATION, type Harness, openHarness } from "../api/harness.ts";
import { createCertificates } from "../support/certificates.ts";
import { temporaryFolder } from "../support/folder.ts";
import { until } from "../support/until.ts";

const folder = temporaryFolder();
const read = (name: string) => readFileSync(join(folder, name), "utf8");
/** The first record of a real client. */
let clientHello: Buffer;

beforeAll(async () => {
  createCertificates(folder, ["server"]);
  clientHello = await captureClientHello();
});

const openTlsHarness = () =>
  openHarness({ tls: new LiveTlsIdentity({ cert: read("server.pem"), key: read("server.key") }) });

const handshakes = ({ server }: Harness) => {
  const counts = server.metrics().gazetteer_tls_handshakes_total ?? {};
  const of = (result: string) => counts[`result="${result}"`];
  return {
    completed: of("completed"),
    failed: of("failed"),
    timeout: of("timeout"),
    displaced: of("displaced"),
  };
};

async function captureClientHello(): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes: Buffer) => {
      resolve(bytes);
      socket.destroy();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  connectTls({ port: address.port, host: "127.0.0.1", rejectUnauthorized: false }).on("error", () => {});
  const hello = await promise;
  server.close();
  return hello;
}

interface Peer {
  readonly socket: Socket;
  isClosed: boolean;
  received: Buffer;
}

async function openPeer({ port }: Harness, localAddress = "127.0.0.1"): Promise<Peer> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  const peer: Peer = { socket, isClosed: false, received: Buffer.alloc(0) };
  socket.on("error", () => {});
  socket.on("data", (bytes: Buffer) => {
    peer.received = Buffer.concat([peer.received, bytes]);
  });
  socket.on("close", () => {
    peer.isClosed = true;
  });
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  return peer;
}

const openPeers = (harness: Harness, count: number, localAddress?: string) =>
  Promise.all(Array.from({ length: count }, () => openPeer(harness, localAddress)));

/** A new connection, and one response. */
async function readTopology({ url }: Harness): Promise<number> {
  const response = await fetch(`${url}/controller/v1/topology`, {
    headers: { Authorization: AUTHORIZATION, Connection: "close" },
    tls: { ca: read("ca.pem") },
  });
  await response.text();
  return response.status;
}

test("peers that stall in the handshake are closed, the oldest of the greediest address first; others are served", async () => {
  await using harness = await openTlsHarness();
  const other = await openPeer(harness, "127.0.0.2");
  other.socket.write(clientHello.subarray(0, 100));
  const stalled = await openPeers(harness, MAX_HANDSHAKES + 20);
  for (const { socket } of stalled) if (socket.writable) socket.write(clientHello.subarray(0, 7));
  expect(await readTopology(harness)).toBe(200);
  const { displaced, timeout } = handshakes(harness);
  // 1021 stalled ones and the reader: 22 more than there may be.
  expect({ displaced, timeout }).toEqual({ displaced: 22, timeout: 0 });
  expect(other.isClosed).toBe(false);
  await until(() => stalled.filter(({ isClosed }) => isClosed).length === 22, { what: "the displaced" });

  await until(() => harness.clock.advance(HANDSHAKE_TIMEOUT_MS).then(() => other.isClosed), {
    what: "the timeout",
  });
  await until(() => stalled.every(({ isClosed }) => isClosed), { what: "all stalled ones to be closed" });
  expect(handshakes(harness).timeout).toBe(MAX_HANDSHAKES - 1);
  expect(await readTopology(harness)).toBe(200);
});

test("a stalled handshake after the hello is closed too", async () => {
  await using harness = await openTlsHarness();
  const peer = await openPeer(harness);
  peer.socket.write(clientHello);
  await until(() => peer.received.length > 0, { what: "the server's flight" });
  await until(() => harness.clock.advance(HANDSHAKE_TIMEOUT_MS).then(() => peer.isClosed), {
    what: "the timeout",
  });
  expect(handshakes(harness).timeout).toBe(1);
});

test("a burst of hellos from one address does not delay the handshake of another", async () => {
  await using harness = await openTlsHarness();
  const burst = await openPeers(harness, 200);
  const other = await openPeer(harness, "127.0.0.2");
  const answered: Peer[] = [];
  for (const peer of [...burst, other]) peer.socket.once("data", () => answered.push(peer));
  for (const { socket } of [...burst, other]) socket.write(clientHello);
  await until(() => answered.length === burst.length + 1, { what: "all server flights" });
  expect(answered.indexOf(other)).toBeLessThan(burst.length / 2);
  for (const { socket } of [...burst, other]) socket.destroy();
});

const record = (length: number, content: Buffer) =>
  Buffer.concat([Buffer.from([0x16, 3, 1, length >> 8, length & 0xff]), content]);

for (const [name, bytes] of [
  ["zeros", () => Buffer.alloc(100)],
  ["SSH", () => Buffer.from("ssh-2.0-client\r\n")],
  ["SSL 2", () => Buffer.from([0x80, 0x2e, 1, 0, 2])],
  ["another major version", () => Buffer.from([0x16, 9, 1, 0, 10])],
  ["a record that is no hello", () => record(64, Buffer.alloc(64, 0xff))],
  ["a hello with changed bytes", () => Buffer.from(clientHello).fill(0xee, 60)],
  ["a record longer than any hello", () => record(0xffff, Buffer.alloc(30_000))],
  [
    "a hello of 128 kB",
    () => record(0x4000, Buffer.concat([Buffer.from([1, 1, 0xff, 0xff]), Buffer.alloc(131_072)])),
  ],
] as const) {
  test(`instead of a hello: ${name}`, async () => {
    await using harness = await openTlsHarness();
    const peer = await openPeer(harness);
    peer.socket.write(bytes());
    await until(() => peer.isClosed, { what: "the connection to be closed" });
    expect(handshakes(harness)).toEqual({ completed: 0, failed: 1, timeout: 0, displaced: 0 });
    expect(await readTopology(harness)).toBe(200);
  });
}

test("endless bytes within a handshake are refused", async () => {
  await using harness = await openTlsHarness();
  const peer = await openPeer(harness);
  peer.socket.write(clientHello);
  await until(() => peer.received.length > 0, { what: "the server's flight" });
  // Change cipher spec records, which TLS 1.3 ignores.
  const ignored = Buffer.concat(Array.from({ length: 20_000 }, () => Buffer.from([0x14, 3, 3, 0, 1, 1])));
  peer.socket.write(ignored);
  await until(() => peer.isClosed, { what: "the connection to be closed" });
  expect(handshakes(harness).failed).toBe(1);
});

test("HTTP without TLS gets a response that says so", async () => {
  await using harness = await openTlsHarness();
  const peer = await openPeer(harness);
  peer.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await until(() => peer.isClosed, { what: "the connection to be closed" });
  const text = peer.received.toString();
  expect(text).toStartWith("HTTP/1.1 400 ");
  expect(text).toContain("application/problem+json");
  expect(text).toContain("This port expects TLS; use https:// in the address.");
});

test("renegotiation closes the connection and no other", async () => {
  await using harness = await openTlsHarness();
  const client = Bun.spawn(["openssl", "s_client", "-connect", `127.0.0.1:${harness.port}`, "-tls1_2"], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const output = new Response(client.stdout).text();
  await until(() => handshakes(harness).completed === 1, { what: "the handshake" });
  // A line with R alone is openssl's command to renegotiate.
  client.stdin.write("R\n");
  await client.stdin.flush();
  await client.exited;
  expect(await output).toContain("Cipher is ECDHE");
  expect(handshakes(harness).completed).toBe(1);
  expect(await readTopology(harness)).toBe(200);
});
