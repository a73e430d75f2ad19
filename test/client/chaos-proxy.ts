/**
 * A TCP proxy that breaks connections: each lasts for a given number of bytes, then both ends lose it, wherever in a
 * record, a chunk or a character that is. Its own address stays while the service behind it stops and starts.
 */
import { afterAll } from "bun:test";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface ChaosProxy {
  readonly url: string;
  /** Where connections go; undefined refuses them. */
  forwardTo(url: string | undefined): void;
  /** Connections broken so far. */
  readonly broken: number;
}

const servers = new Set<Server>();
const sockets = new Set<Socket>();
afterAll(() => {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
});

/** `limitBytes` gives the limit of the next connection: it breaks after so many bytes of responses. */
export async function startChaosProxy(limitBytes: () => number): Promise<ChaosProxy> {
  let port: number | undefined;
  let broken = 0;
  const server = createServer((near) => {
    if (port === undefined) return near.destroy();
    const far = connect(port, "127.0.0.1");
    let left = limitBytes();
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", end);
      socket.on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    near.pipe(far);
    far.on("data", (bytes: Buffer) => {
      const passed = bytes.subarray(0, Math.floor(left));
      left -= bytes.length;
      const taken = near.write(passed, () => {
        if (left <= 0) end();
      });
      if (left <= 0) broken++;
      // The service must feel a slow reader through the proxy too.
      if (left <= 0) far.pause();
      else if (!taken) {
        far.pause();
        near.once("drain", () => far.resume());
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
