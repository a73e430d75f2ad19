/** A cable between browser and service that can be pulled and plugged in again: a plain TCP forwarder. */
import { connect, createServer, type Server, type Socket } from "node:net";

export interface PatchCable {
  readonly url: string;
  /** Ends every connection and accepts no other. */
  pull(): Promise<void>;
  plug(): Promise<void>;
}

export async function layCable(target: string): Promise<PatchCable> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let plugged = true;
  const open = (at: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const listener = createServer((near) => {
        // Accepted by the system just before the listener was closed.
        if (!plugged) return void near.destroy();
        const far = connect(Number(port), hostname);
        for (const [one, other] of [
          [near, far],
          [far, near],
        ] as const) {
          sockets.add(one);
          one.on("error", () => other.destroy());
          one.on("close", () => {
            sockets.delete(one);
            other.destroy();
          });
          one.pipe(other);
        }
      });
      listener.on("error", reject);
      listener.listen(at, "127.0.0.1", () => {
        const address = listener.address();
        server = listener;
        if (address && typeof address === "object") resolve(address.port);
      });
    });
  const own = await open(0);
  return {
    url: `http://127.0.0.1:${own}`,
    async pull() {
      plugged = false;
      const closed = new Promise((resolve) => server?.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async plug() {
      plugged = true;
      await open(own);
    },
  };
}
