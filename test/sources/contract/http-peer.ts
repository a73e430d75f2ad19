/**
 * An HTTP server for rows whose source reads over HTTP: responds as `handle` says, and can fail and misbehave. It counts
 * requests and open connections.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Misbehaviour } from "./row.ts";

export interface HttpReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpPeer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  fail(): Promise<void>;
  misbehave(how: Misbehaviour): Promise<void>;
  mend(): Promise<void>;
  reads(): number;
  openCount(): number;
}

const HUGE_BYTES = 1024 * 1024;
const CHUNK = "x".repeat(64 * 1024);

/** Limits for the source that the misbehaviours exceed. */
export const HTTP_LIMITS = { timeoutSeconds: 1, maxResponseBytes: 512 * 1024 } as const;

export async function startHttpPeer(
  handle: (request: IncomingMessage) => HttpReply | Promise<HttpReply>,
): Promise<HttpPeer> {
  let state: "serving" | "failing" | Misbehaviour = "serving";
  let reads = 0;
  const sockets = new Set<Socket>();
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (state === "failing") return void request.socket.destroy();
    if (state === "slow") return void response.flushHeaders();
    if (state === "huge") return void response.end(" ".repeat(HUGE_BYTES));
    if (state === "endless") return void writeWithoutEnd(response);
    const { status = 200, headers = {}, body = "" } = await handle(request);
    response.writeHead(status, headers).end(body);
    reads++;
  };
  const server: Server = createServer((request, response) => void respond(request, response));
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const become = async (next: typeof state) => {
    state = next;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    fail: () => become("failing"),
    misbehave: become,
    mend: () => become("serving"),
    reads: () => reads,
    openCount: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** As fast as the other end reads. */
function writeWithoutEnd(response: ServerResponse): void {
  const write = () => {
    while (!response.destroyed && response.write(CHUNK));
  };
  response.on("drain", write);
  write();
}
