/** A TCP proxy between the browser and the service, to simulate a lost connection. */
import { connect, createServer, type Server, type Socket } from "node:net";

export interface TcpProxy {
  readonly url: string;
  /** Closes all connections and accepts no new ones. */
  disconnect(): Promise<void>;
  /** Listens on the same port again. */
  reconnect(): Promise<void>;
}

export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let connected = true;
  const listen = (port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const listener = createServer((client) => {
        // The system accepted the connection just before the listener was closed.
        if (!connected) return void client.destroy();
        const upstream = connect(Number(targetPort), hostname);
        for (const [from, to] of [
          [client, upstream],
          [upstream, client],
        ] as const) {
          sockets.add(from);
          from.on("error", () => to.destroy());
          from.on("close", () => {
            sockets.delete(from);
            to.destroy();
          });
          from.pipe(to);
        }
      });
      listener.on("error", reject);
      listener.listen(port, "127.0.0.1", () => {
        const address = listener.address();
        server = listener;
        if (address && typeof address === "object") resolve(address.port);
      });
    });
  const port = await listen(0);
  return {
    url: `http://127.0.0.1:${port}`,
    async disconnect() {
      connected = false;
      const closed = new Promise((resolve) => server?.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async reconnect() {
      connected = true;
      await listen(port);
    },
  };
}
