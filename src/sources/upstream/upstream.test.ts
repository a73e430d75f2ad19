import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { gzipSync } from "node:zlib";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { createCertificate, createCertificates } from "../../../test/support/certificates.ts";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { until } from "../../../test/support/until.ts";
import { createClient } from "../../client/client.ts";
import { systemClock } from "../../lib/clock.ts";
import { UpstreamError } from "./exchange.ts";
import { type UpstreamOptions, upstreamOptions } from "./options.ts";
import { Upstream } from "./upstream.ts";

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

interface Peer {
  readonly url: string;
  /** The text of each request. */
  readonly requests: string[];
  readonly open: Set<Socket>;
}

/** A listener that answers each request with bytes, or as the function does. */
async function startPeer(
  answer: string | Uint8Array | ((socket: Socket, request: string) => void),
  tls?: { cert: string; key: string },
): Promise<Peer> {
  const open = new Set<Socket>();
  const requests: string[] = [];
  const onConnection = (socket: Socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => {});
    socket.once("data", (data) => {
      requests.push(data.toString());
      if (typeof answer === "function") answer(socket, data.toString());
      else socket.end(answer);
    });
  };
  const server = tls ? createTlsServer(tls, onConnection) : createServer(onConnection);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return { url: `${tls ? "https" : "http"}://127.0.0.1:${address.port}/base`, requests, open };
}

const upstreamOf = (peer: Peer, options: Partial<UpstreamOptions> = {}, clock = systemClock) =>
  new Upstream({ url: peer.url, ...options }, { clock });

const response = (body: string, headers = "") =>
  `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;

const gzipped = (body: Uint8Array): Buffer => {
  const bytes = gzipSync(body);
  const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
};

/** Everything after the head, for as long as the connection is open. */
function writeForever(socket: Socket, head: string): void {
  socket.write(head);
  const block = Buffer.alloc(64 * 1024, "x");
  const write = () => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on("drain", write);
  write();
}

const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

test("a response, with what was sent for it", async () => {
  const peer = await startPeer(response('{"a":1}', 'etag: "7"\r\nset-cookie: session=1\r\n'));
  const upstream = upstreamOf(peer, { credentials: "ann:sécret:1" });
  const result = await upstream.get("/devices?x=1", { etag: '"6"', accept: "application/xml" });
  expect(result).toMatchObject({ ok: true, status: 200 });
  if (!result.ok) return;
  expect(Buffer.from(result.body).toString()).toBe('{"a":1}');
  expect(result.headers.get("etag")).toBe('"7"');
  const [request] = peer.requests;
  expect(request).toStartWith("GET /base/devices?x=1 HTTP/1.1\r\n");
  const header = (name: string) => new RegExp(`^${name}: (.*)\r$`, "im").exec(request ?? "")?.[1];
  expect(header("authorization")).toBe(`Basic ${Buffer.from("ann:sécret:1").toString("base64")}`);
  expect(header("if-none-match")).toBe('"6"');
  expect(header("accept")).toBe("application/xml");
  await upstream.get("");
  expect(peer.requests[1]).toStartWith("GET /base HTTP/1.1\r\n");
  expect(peer.requests[1]?.toLowerCase()).not.toContain("cookie");
  await upstream.get(new URL("/.well-known/host-meta", upstream.url));
  expect(peer.requests[2]).toStartWith("GET /.well-known/host-meta HTTP/1.1\r\n");
  expect(upstream.get(new URL("http://192.0.2.1/"))).rejects.toThrow("192.0.2.1");
});

test("a request body", async () => {
  const peer = await startPeer(response("ok"));
  expect(await upstreamOf(peer).get("rpc", { method: "POST", body: "{}" })).toMatchObject({ ok: true });
  expect(peer.requests[0]).toMatch(/^POST \/base\/rpc [\s\S]*content-length: 2\r\n[\s\S]*\r\n\r\n\{\}$/i);
});

test("gzip is decoded", async () => {
  const result = await upstreamOf(await startPeer(gzipped(Buffer.from("hello")))).get("");
  expect(result.ok && Buffer.from(result.body).toString()).toBe("hello");
});

test("304 is a success without a body, also with the headers of a body", async () => {
  const head = 'HTTP/1.1 304 Not Modified\r\ncontent-encoding: gzip\r\netag: "7"\r\n\r\n';
  expect(await upstreamOf(await startPeer(head)).get("", { etag: '"7"' })).toMatchObject({
    ok: true,
    status: 304,
  });
});

test.each([
  ["401 Unauthorized", "credentials", 401],
  ["403 Forbidden", "credentials", 403],
  ["404 Not Found", "status", 404],
  ["500 Oops", "status", 500],
  ["302 Found\r\nlocation: http://192.0.2.1/", "status", 302],
] as const)("status %s is the failure %s", async (line, code, status) => {
  const peer = await startPeer(`HTTP/1.1 ${line}\r\ncontent-length: 7\r\n\r\n{"e":1}`);
  const failure = await upstreamOf(peer, { credentials: "ann:secret" }).get("x?token=abc");
  if (failure.ok) throw new Error("expected a failure");
  expect(failure).toMatchObject({ code, status });
  expect(Buffer.from(failure.errorBody ?? []).toString()).toBe('{"e":1}');
  expect(failure.message).toContain("/base/x: ");
  expect(failure.message).toContain(String(status));
  expect(failure.message).not.toMatch(/secret|token|192\.0\.2|\n/);
  expect(peer.requests).toHaveLength(1);
});

test("an error body is read up to 64 KiB", async () => {
  const peer = await startPeer((socket) => writeForever(socket, "HTTP/1.1 409 Conflict\r\n\r\n"));
  const failure = await upstreamOf(peer).get("");
  expect(!failure.ok && failure.errorBody?.length).toBe(64 * 1024);
  await until(() => peer.open.size === 0, { what: "the connection to be closed" });
});

test("any status is a result where it is wanted", async () => {
  const peer = await startPeer("HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno");
  expect(await upstreamOf(peer).get("", { anyStatus: true })).toMatchObject({ ok: true, status: 404 });
});

test.each([
  ["a length over the limit", `HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n`],
  ["no length", "HTTP/1.1 200 OK\r\n\r\n"],
])("an endless body is cut: %s", async (_name, head) => {
  const peer = await startPeer((socket) => writeForever(socket, head));
  const failure = await upstreamOf(peer, { maxResponseBytes: 1_000_000 }).get("");
  expect(failure).toMatchObject({ ok: false, code: "too-large" });
  await until(() => peer.open.size === 0, { what: "the connection to be closed" });
});

test("a gzip bomb is cut where it exceeds the limit", async () => {
  const bomb = gzipped(Buffer.alloc(200 * 1024 * 1024));
  const peer = await startPeer(bomb);
  const failure = await upstreamOf(peer, { maxResponseBytes: 1024 * 1024 }).get("");
  expect(failure).toMatchObject({ ok: false, code: "too-large" });
});

test("a nested encoding or an unknown one is refused", async () => {
  const peer = await startPeer(response("x", "content-encoding: gzip, gzip\r\n"));
  expect(await upstreamOf(peer).get("")).toMatchObject({ ok: false, code: "protocol" });
});

test("truncated and corrupt gzip", async () => {
  const whole = gzipped(Buffer.from("hello hello hello"));
  const corrupt = Buffer.from(whole);
  corrupt.fill(0xff, corrupt.length - 12);
  expect(await upstreamOf(await startPeer(corrupt)).get("")).toMatchObject({ code: "protocol" });
  const cut = whole.subarray(0, whole.length - 10);
  expect(await upstreamOf(await startPeer(cut)).get("")).toMatchObject({ ok: false });
});

test.each([
  ["a length that is not reached", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello", "unreachable"],
  ["chunks without an end", `${CHUNKED}5\r\nhello\r\n`, "unreachable"],
  ["nothing", "", "unreachable"],
  ["another protocol", "SSH-2.0-OpenSSH_9\r\n", "protocol"],
  ["a malformed chunk", `${CHUNKED}zz\r\nhello\r\n`, "protocol"],
  [
    "too many headers",
    `HTTP/1.1 200 OK\r\n${"x-a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n".repeat(9999)}\r\n`,
    "protocol",
  ],
] as const)("a broken response: %s", async (_name, bytes, code) => {
  const peer = await startPeer(bytes);
  expect(await upstreamOf(peer).get("")).toMatchObject({ ok: false, code });
  await until(() => peer.open.size === 0, { what: "the connection to be closed" });
});

test("a reset in the middle of the body", async () => {
  const peer = await startPeer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello", () => socket.resetAndDestroy());
  });
  expect(await upstreamOf(peer).get("")).toMatchObject({ ok: false, code: "unreachable" });
});

test("nothing listens there, and a name that does not exist", async () => {
  const failure = await new Upstream({ url: "http://127.0.0.1:1/x" }, { clock: systemClock }).get("");
  expect(failure).toMatchObject({
    code: "unreachable",
    message: "127.0.0.1:1/x: nothing listens there (ECONNREFUSED)",
  });
  const unknown = await new Upstream({ url: "http://nowhere.invalid" }, { clock: systemClock }).get("");
  expect(unknown).toMatchObject({ code: "unreachable" });
});

test("a peer that accepts and never responds", async () => {
  const clock = new ManualClock();
  const peer = await startPeer(() => {});
  const result = upstreamOf(peer, { timeoutSeconds: 7 }, clock).get("");
  await until(() => peer.requests.length === 1, { what: "the request" });
  await clock.advance(7000);
  expect(await result).toMatchObject({ code: "timeout", message: expect.stringContaining("7 s") });
  await until(() => peer.open.size === 0, { what: "the connection to be closed" });
  expect(clock.sleeping).toBe(0);
});

test("a body that drips, each byte within the time-out, is cut at the time-out of the request", async () => {
  const clock = new ManualClock();
  let socket: Socket | undefined;
  const peer = await startPeer((opened) => {
    socket = opened;
    opened.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
  });
  const result = upstreamOf(peer, { timeoutSeconds: 5 }, clock).get("");
  await until(() => socket, { what: "the request" });
  for (let second = 0; second < 5; second++) {
    await new Promise<void>((resolve) => socket?.write("x", () => resolve()));
    await Bun.sleep(0);
    await clock.advance(1000);
  }
  expect(await result).toMatchObject({ code: "timeout" });
});

test("a stream lives longer than the time-out while data arrive, and is cut by silence", async () => {
  const clock = new ManualClock();
  let socket: Socket | undefined;
  const peer = await startPeer((opened) => {
    socket = opened;
    opened.write("HTTP/1.1 200 OK\r\n\r\n");
  });
  const stream = await upstreamOf(peer, { timeoutSeconds: 5 }, clock).stream("");
  if (!stream.ok) throw new Error(stream.message);
  for (const part of ["a", "b", "c"]) {
    const read = stream.chunks.next();
    await clock.advance(4000);
    socket?.write(part);
    expect(Buffer.from((await read).value ?? []).toString()).toBe(part);
    // The consumer is busy: nobody reads, so that is not silence.
    await clock.advance(60_000);
  }
  const silent = stream.chunks.next();
  silent.catch(() => {});
  await clock.advance(5000);
  await expect(silent).rejects.toBeInstanceOf(UpstreamError);
  await until(() => peer.open.size === 0, { what: "the connection to be closed" });
});

test("a consumer that does not read stops the peer", async () => {
  let written = 0;
  const peer = await startPeer((socket) => {
    const write = socket.write.bind(socket);
    socket.write = (chunk: string | Uint8Array) => {
      written += chunk.length;
      return write(chunk);
    };
    writeForever(socket, "HTTP/1.1 200 OK\r\n\r\n");
  });
  const stream = await upstreamOf(peer).stream("");
  if (!stream.ok) throw new Error(stream.message);
  await stream.chunks.next();
  let before = -1;
  const stopped = () => {
    const same = written === before;
    before = written;
    return same;
  };
  await until(stopped, { what: "the peer to stop", everyMs: 200 });
  expect(written).toBeLessThan(64 * 1024 * 1024);
  stream.close();
  await until(() => peer.open.size === 0, { what: "the connection to be closed" });
});

test("an abort closes the connection, before and in the response", async () => {
  for (const head of ["", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx"]) {
    const peer = await startPeer((socket) => socket.write(head));
    const abort = new AbortController();
    const result = upstreamOf(peer).get("", { signal: abort.signal });
    await until(() => peer.requests.length === 1, { what: "the request" });
    abort.abort();
    expect(await result).toMatchObject({ code: "aborted" });
    await until(() => peer.open.size === 0, { what: "the connection to be closed" });
  }
  const peer = await startPeer(response("x"));
  expect(await upstreamOf(peer).get("", { signal: AbortSignal.abort() })).toMatchObject({ code: "aborted" });
  expect(peer.requests).toEqual([]);
});

test("TLS: its authority, another authority, another host name, no TLS", async () => {
  const folder = temporaryFolder();
  createCertificates(folder, ["good"]);
  createCertificates(folder, [], "stranger");
  createCertificate(folder, "renamed", { extensions: "subjectAltName=DNS:other.example" });
  const pem = async (name: string) => ({
    cert: await Bun.file(join(folder, `${name}.pem`)).text(),
    key: await Bun.file(join(folder, `${name}.key`)).text(),
  });
  const good = await startPeer(response("ok"), await pem("good"));
  const renamed = await startPeer(response("ok"), await pem("renamed"));
  const ca = join(folder, "ca.pem");
  expect(await upstreamOf(good, { ca }).get("")).toMatchObject({ ok: true });
  expect(await upstreamOf(good).get("")).toMatchObject({
    code: "tls",
    message: expect.stringMatching(/the certificate is not trusted \(\w+\); name its authority with ca$/),
  });
  expect(await upstreamOf(good, { ca: join(folder, "stranger.pem") }).get("")).toMatchObject({ code: "tls" });
  expect(await upstreamOf(renamed, { ca }).get("")).toMatchObject({
    code: "tls",
    message: expect.stringContaining("another host name"),
  });
  expect(good.requests.length + renamed.requests.length).toBe(1);
  const missing = await upstreamOf(good, { ca: join(folder, "missing.pem") }).get("");
  expect(missing).toMatchObject({
    code: "tls",
    message: expect.stringContaining("ca: missing.pem does not exist"),
  });
  expect(await upstreamOf(good, { ca: folder }).checkFiles()).toEndWith("is not a regular file");
  const plain = await startPeer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  const wrong = new Upstream({ url: plain.url.replace("http:", "https:"), ca }, { clock: systemClock });
  expect(await wrong.get("")).toMatchObject({ code: "tls" });
});

test("credentials are read at each request and never shown", async () => {
  const peer = await startPeer(response("ok"));
  const file = join(temporaryFolder(), "credentials");
  const upstream = upstreamOf(peer, { credentialsFile: file });
  const missing = await upstream.get("");
  expect(missing).toMatchObject({ code: "credentials" });
  expect(peer.requests).toEqual([]);
  writeFileSync(file, "without a colon");
  const malformed = await upstream.get("");
  expect(malformed).toMatchObject({ code: "credentials" });
  expect(JSON.stringify([missing, malformed])).not.toContain("without a colon");
  for (const secret of ["ann:one", "ann:two"]) {
    writeFileSync(file, `${secret}\n`);
    expect(await upstream.get("")).toMatchObject({ ok: true });
    expect(peer.requests.at(-1)).toContain(Buffer.from(secret).toString("base64"));
  }
});

test("a proxy of the environment is not used", async () => {
  const peer = await startPeer(response("ok"));
  const before = process.env.HTTP_PROXY;
  process.env.HTTP_PROXY = "http://127.0.0.1:1";
  try {
    expect(await upstreamOf(peer).get("")).toMatchObject({ ok: true });
  } finally {
    if (before === undefined) delete process.env.HTTP_PROXY;
    else process.env.HTTP_PROXY = before;
  }
});

test("the client of another Gazetteer uses it", async () => {
  const body = '{"time":1,"devices":2,"links":3,"clusters":4}';
  const peer = await startPeer(response(body));
  const upstream = upstreamOf(peer, { credentials: "ann:secret" });
  const client = createClient({ url: peer.url.replace("/base", "/controller/v1"), fetch: upstream.fetch });
  expect(await client.topology()).toMatchObject({ devices: 2 });
  expect(peer.requests[0]).toMatch(/^GET \/controller\/v1\/topology [\s\S]*authorization: Basic/i);
  const gone = await startPeer((socket) => socket.destroy());
  const failing = createClient({ url: gone.url, fetch: upstreamOf(gone).fetch });
  const error = await failing.topology().catch((thrown: unknown) => thrown);
  expect(error instanceof Error && error.cause).toBeInstanceOf(UpstreamError);
});

test.each([
  ["http://127.0.0.1:8181/onos/v1", true],
  ["https://[2001:db8::1]/x?y=1", true],
  ["http://ann:secret@host/", false],
  ["http://ann@host/", false],
  ["ftp://host/", false],
  ["file:///etc/passwd", false],
  ["host:8181", false],
  ["http://", false],
  ["http://host:99999/", false],
  ["http://host/#x", false],
  ["http://host/a b", false],
])("the url %s: %s", (url, valid) => {
  expect(Compile(Type.Object(upstreamOptions)).Check({ url })).toBe(valid);
});
