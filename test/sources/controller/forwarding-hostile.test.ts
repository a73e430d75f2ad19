/**
 * Forwarding to a controller that misbehaves, for clients that do: the client never gets a part for the whole, nothing
 * grows without bound, and whoever goes away takes the other side along.
 */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { hashPassword } from "../../../src/api/auth/password.ts";
import { Connection } from "../../service/connection.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { basic, type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { type RawUpstream, response, startRawUpstream } from "./raw-upstream.ts";

const MiB = 1024 * 1024;
const FLOWS = "/onos/v1/flows";
let upstream: RawUpstream;
let service: Service;

beforeAll(async () => {
  upstream = await startRawUpstream();
  const folder = temporaryFolder();
  const config = {
    aliases: ["onos"],
    limits: { forwards: 3, forwardsPerUser: 2 },
    sources: [
      {
        type: "controller",
        name: "onos",
        url: upstream.url,
        timeoutSeconds: 1,
        maxResponseBytes: 32 * MiB,
        forward: ["flows"],
      },
    ],
  };
  writeFileSync(join(folder, "g.json"), JSON.stringify(config));
  const passwords = join(folder, "users");
  const hash = await hashPassword("secret");
  writeFileSync(passwords, `ann:${hash}\nbob:${hash}\n`, { mode: 0o600 });
  service = await startService({
    args: ["--config", join(folder, "g.json"), "--data", ":memory:", "--users", passwords],
  });
});

beforeEach(() => {
  upstream.requests.length = 0;
});

/** Opens a connection and sends a request; the response is read by the test, or not. */
async function open(user = "reader"): Promise<Connection> {
  const connection = await Connection.open(service);
  connection.send(FLOWS, { Authorization: basic(`${user}:secret`) });
  return connection;
}

async function get(user = "reader") {
  const connection = await Connection.open(service);
  try {
    return await connection.get(FLOWS, { Authorization: basic(`${user}:secret`) });
  } finally {
    connection.close();
  }
}

const forwardsOpen = async (): Promise<number> => {
  const text = await (await service.fetch("/metrics")).text();
  return Number(/^gazetteer_forwards_open (\d+)$/m.exec(text)?.[1]);
};
const failures = async (): Promise<string> => {
  const text = await (await service.fetch("/metrics")).text();
  return /^gazetteer_forwarded_requests_total\{source="onos",status="502"\} (\d+)$/m.exec(text)?.[1] ?? "0";
};
const noneOpen = () => until(async () => (await forwardsOpen()) === 0, { what: "all forwards to end" });

/** Sends pieces as fast as they are accepted, until the socket closes. Returns the bytes that were accepted. */
function flood(socket: Socket, piece: string | Buffer): () => number {
  let sent = 0;
  const go = () => {
    while (!socket.destroyed) {
      sent += piece.length;
      if (!socket.write(piece)) return void socket.once("drain", go);
    }
  };
  go();
  return () => sent;
}

describe("a controller that does not send a response gives 502", () => {
  const cases: Record<string, (socket: Socket) => void> = {
    "that is silent": () => {},
    "that closes": (socket) => void socket.end(),
    "that resets": (socket) => void socket.resetAndDestroy(),
    "that sends garbage": (socket) => void socket.end("\x00\x01\x02 not HTTP\r\n\r\n"),
    "that never ends its headers": (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      flood(socket, `X-A: ${"a".repeat(8000)}\r\n`);
    },
    "that never ends one header": (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nX-A: ");
      flood(socket, "a".repeat(65_536));
    },
    "that sends its headers slowly": (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => socket.write("X"), 100);
      socket.on("close", () => clearInterval(timer));
    },
    "that repeats 100": (socket) => void flood(socket, "HTTP/1.1 100 Continue\r\n\r\n".repeat(100)),
    "that switches protocols": (socket) =>
      void socket.end("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nx"),
    "with a status that does not exist": (socket) => void socket.end(response("x", "", "999 Odd")),
    "with a length that is not allowed": (socket) =>
      void socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${33 * MiB}\r\n\r\nhello`),
    "with two lengths": (socket) =>
      void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhello"),
  };
  for (const [name, respond] of Object.entries(cases)) {
    test(name, async () => {
      upstream.respond = respond;
      // A busy machine may have no time for the request at first.
      const { status, body } = await until(
        async () => {
          const response = await get();
          return response.status === 503 ? undefined : response;
        },
        { what: "a response that is not overloaded" },
      );
      expect(status).toBe(502);
      expect(Object.keys(JSON.parse(body.toString()))).toEqual(["code", "message"]);
      expect(body.toString()).not.toContain("127.0.0.1");
      await until(() => upstream.last.closed, { what: "the connection to the controller to close" });
      await noneOpen();
    });
  }

  test("a series of failures is logged once, and its end", async () => {
    const failures = service.stderr().split("forwarding fails").length - 1;
    expect(failures).toBe(1);
    upstream.respond = (socket) => void socket.end(response("ok"));
    expect((await get()).status).toBe(200);
    await until(() => service.stderr().includes("forwarding works again"), { what: "the line of the log" });
  });
});

describe("a body that fails ends the client's connection", () => {
  const cases: Record<string, (socket: Socket) => void> = {
    "shorter than its length": (socket) =>
      void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\nhello"),
    "without its last chunk": (socket) =>
      void socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
    "with a malformed chunk": (socket) =>
      void socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"),
    "that stops": (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\nhello"),
    "without end": (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      flood(socket, `10000\r\n${"a".repeat(65_536)}\r\n`);
    },
    "without a length": (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      flood(socket, "a".repeat(65_536));
    },
  };
  for (const [name, respond] of Object.entries(cases)) {
    test(name, async () => {
      upstream.respond = respond;
      const client = await drain();
      // Neither the length of the head nor a last chunk is reached, unless the failure comes before the first byte.
      expect(client.complete).toBe(client.head.startsWith("HTTP/1.1 502"));
      expect(client.bytes).toBeLessThan(33 * MiB);
      await until(() => upstream.last.closed, { what: "the connection to the controller to close" });
      await noneOpen();
    });
  }

  test("two framings: the chunks count, not the length", async () => {
    upstream.respond = (socket) =>
      void socket.end(
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      );
    const { status, headers, body } = await get();
    if (status === 200) {
      expect([headers.get("content-length"), body.toString()]).toEqual([undefined, "hello"]);
    } else expect(status).toBe(502);
  });

  test("compressed, although nobody accepts that: it is bounded after decompression", async () => {
    const bomb = Bun.gzipSync(Buffer.alloc(64 * MiB));
    upstream.respond = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.end(bomb);
    };
    const client = await drain();
    expect(client.complete).toBe(false);
    expect(client.bytes).toBeLessThan(33 * MiB);
    expect(client.head.toLowerCase()).not.toContain("content-encoding");
    await noneOpen();
  });
});

/** Reads until the service closes the connection. */
async function drain(): Promise<{ head: string; bytes: number; complete: boolean }> {
  const socket = connect({ port: Number(new URL(service.url).port), host: "127.0.0.1" });
  socket.on("error", () => {});
  socket.write(
    `GET ${FLOWS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${basic("reader:secret")}\r\n\r\n`,
  );
  let head = "";
  let bytes = 0;
  let end = "";
  socket.on("data", (chunk: Buffer) => {
    if (!head.includes("\r\n\r\n")) head += chunk.toString("latin1");
    bytes += chunk.length;
    end = (end + chunk.subarray(-5).toString("latin1")).slice(-5);
  });
  await new Promise((resolve) => socket.once("close", resolve));
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.POSITIVE_INFINITY);
  const complete = end === "0\r\n\r\n" || bytes - head.indexOf("\r\n\r\n") - 4 >= length;
  return { head: head.slice(0, head.indexOf("\r\n\r\n")), bytes, complete };
}

describe("clients", () => {
  test("one that does not read holds the controller back", async () => {
    let sent = () => 0;
    upstream.respond = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${31 * MiB}\r\n\r\n`);
      sent = flood(socket, "a".repeat(65_536));
    };
    const socket = connect({ port: Number(new URL(service.url).port), host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.pause();
    socket.write(`GET ${FLOWS} HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("reader:secret")}\r\n\r\n`);
    // It stands still when all buffers are full. The bound is that of the kernel's buffers, not of the service.
    let last = -1;
    await until(
      () => {
        const still = sent() > 0 && sent() === last;
        last = sent();
        return still;
      },
      { what: "the controller to be held back", everyMs: 500 },
    );
    expect(sent()).toBeLessThan(31 * MiB);
    const held = /^gazetteer_user_bytes_held\{user="reader"\} (\d+)$/m.exec(
      await (await service.fetch("/metrics")).text(),
    );
    expect(Number(held?.[1])).toBeGreaterThan(64 * 1024);
    expect(Number(held?.[1])).toBeLessThan(4 * MiB);
    socket.destroy();
    await until(() => upstream.last.closed, { what: "the connection to the controller to close" });
    await noneOpen();
  });

  const timeouts = () => service.stderr().split(" within 1 s").length;
  let failuresBefore = "";
  let timeoutsBefore = 0;
  beforeEach(async () => {
    failuresBefore = await failures();
    timeoutsBefore = timeouts();
    upstream.respond = (socket) => void socket.end(response("ok"));
    expect((await get()).status).toBe(200);
    upstream.requests.length = 0;
  });
  /** Not because of the time-out: that would be a failure of the controller. */
  const endedWithClient = async () => {
    await until(() => upstream.last.closed, { what: "the connection to the controller to close" });
    await noneOpen();
    expect(await failures()).toBe(failuresBefore);
    expect(timeouts()).toBe(timeoutsBefore);
  };

  const endings: Record<string, (client: Connection) => void> = { closes: (client) => client.close() };
  for (const [name, end] of Object.entries(endings)) {
    test(`one that ${name} before the response ends the forwarded request`, async () => {
      upstream.respond = () => {};
      const client = await open();
      await until(() => upstream.requests.length === 1, { what: "the forwarded request" });
      expect(upstream.last.closed).toBe(false);
      end(client);
      await endedWithClient();
    });

    test(`one that ${name} within the body ends the forwarded request`, async () => {
      upstream.respond = (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\nhello");
      const client = await open();
      expect((await client.readHead()).status).toBe(200);
      end(client);
      await endedWithClient();
    });
  }

  test("have a limit each, and one together", async () => {
    upstream.respond = (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\nhello");
    const pulse = setInterval(() => {
      for (const { socket } of upstream.requests) socket.write("a");
    }, 200);
    try {
      const clients = [await open("ann"), await open("ann"), await open("bob")];
      await until(() => upstream.requests.length === 3, { what: "three forwarded requests" });
      const ann = await get("ann");
      expect([ann.status, ann.headers.get("retry-after")]).toEqual([429, "1"]);
      expect(JSON.parse(ann.body.toString())).toMatchObject({ type: "/docs/errors#too-many-forwards" });
      const bob = await get("bob");
      expect([bob.status, bob.headers.get("retry-after")]).toEqual([503, "2"]);
      expect(await forwardsOpen()).toBe(3);
      for (const client of clients) client.close();
      await noneOpen();
    } finally {
      clearInterval(pulse);
    }
    upstream.respond = (socket) => void socket.end(response("ok"));
    expect((await get("ann")).status).toBe(200);
  });
});
