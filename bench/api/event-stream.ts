/** A client of an event stream on a plain socket, which costs less processor time than `fetch`. */
import { connect, type Socket } from "node:net";
import type { Peer } from "./peers.ts";
import { AUTHORIZATION } from "./wrk.ts";

/** Resolves when the first bytes have arrived. `target` is below the prefix. */
export function openEventStream({ url }: Peer, target: string): Promise<Socket> {
  const { hostname, port, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      const head = [`GET ${pathname}/${target} HTTP/1.1`, "Host: bench", `Authorization: ${AUTHORIZATION}`];
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
    });
    socket.on("error", reject);
    socket.on("data", () => resolve(socket));
  });
}

/** Reports for each change how many milliseconds after its commit it has arrived. */
export function reportLatencies(socket: Socket, report: (ms: number) => void): void {
  socket.setEncoding("utf8");
  let rest = "";
  socket.on("data", (chunk: string) => {
    const now = Date.now();
    const text = rest + chunk;
    const end = text.lastIndexOf("\n\n");
    rest = text.slice(end + 2);
    const changes = text.slice(0, end + 1).matchAll(/"revision":\d+,"time":(\d+)/g);
    for (const [, time] of changes) report(now - Number(time));
  });
}
