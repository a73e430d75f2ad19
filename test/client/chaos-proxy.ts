/**
 * A TCP proxy that breaks connections: each is closed at both ends after a given number of bytes, which may be in the
 * middle of a record, a chunk or a character. Its address stays the same while the service behind it restarts.
 */
import { afterAll } from "bun:test";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface ChaosProxy {
  readonly url: string;
  /** The service that connections go to; undefined closes new connections. */
  forwardTo(url: string | undefined): void;
  /** The number of connections broken so upstream. */
  readonly broken: number;
}

const servers = new Set<Server>();
const sockets = new Set<Socket>();
afterAll(() => {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
});

/** `limitBytes` returns the limit of the next connection: it breaks after that many bytes of responses. */
export async function startChaosProxy(limitBytes: () => number): Promise<ChaosProxy> {
  let port: number | undefined;
  let broken = 0;
  const server = createServer((client) => {
    if (port === undefined) return client.destroy();
    const upstream = connect(port, "127.0.0.1");
    let remaining = limitBytes();
    const destroyBoth = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", destroyBoth);
      socket.on("close", () => {
        sockets.delete(socket);
        destroyBoth();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (bytes: Buffer) => {
      const passed = bytes.subarray(0, Math.floor(remaining));
      remaining -= bytes.length;
      const hasRoom = client.write(passed, () => {
        if (remaining <= 0) destroyBoth();
      });
      if (remaining <= 0) broken++;
      // Passes backpressure on to the service.
      if (remaining <= 0) upstream.pause();
      else if (!hasRoom) {
        upstream.pause();
        client.once("drain", () => upstream.resume());
      }
    });
  });
  servers.add(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    forwardTo(url) {
      port = url === undefined ? undefined : Number(new URL(url).port);
    },
    get broken() {
      return broken;
    },
  };
}
