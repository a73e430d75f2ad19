/**
 * A TCP proxy on loopback that a test owns: it can cut connections, refuse new ones, keep them open without passing anything
 * on, and lose what a server answers.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Ends all connections and refuses new ones until `open`. */
  cut(): void;
  /** Passes nothing on until `open`, and keeps all connections. */
  stall(): void;
  open(): void;
  /**
   * Passes the next bytes to the server that contain `text`; then loses what the server answers and cuts that connection.
   * Resolves when the answer is lost.
   */
  loseAnswerTo(text: string): Promise<void>;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const clients = new Set<Socket>();
  const sockets = new Set<Socket>();
  let isCut = false;
  let isStalled = false;
  let awaited: { readonly text: string; readonly done: () => void } | undefined;
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(targetPort, "127.0.0.1");
    let losing: (() => void) | undefined;
    const end = () => {
      clients.delete(client);
      for (const socket of [client, upstream]) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    clients.add(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      if (isStalled) socket.pause();
      socket.on("error", end);
      socket.on("close", end);
    }
    client.on("data", (data) => {
      if (awaited && data.includes(awaited.text)) {
        losing = awaited.done;
        awaited = undefined;
      }
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (!losing) return void client.write(data);
      losing();
      end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const cut = () => {
    isCut = true;
    for (const client of clients) client.destroy();
  };
  return {
    port: typeof address === "object" && address ? address.port : 0,
    cut,
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.pause();
    },
    open() {
      isCut = false;
      isStalled = false;
      for (const socket of sockets) socket.resume();
    },
    loseAnswerTo: (text) =>
      new Promise((resolve) => {
        awaited = { text, done: resolve };
      }),
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
