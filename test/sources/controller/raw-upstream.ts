/**
 * A controller made of a bare socket: it records the bytes that it gets and sends whatever a test says. What the source
 * itself polls is answered with 404 and not recorded; forwarded requests are those with a `Via` header.
 */
import { afterAll } from "bun:test";
import { createServer, type Socket } from "node:net";

export interface ForwardedRequest {
  /** The request line and the headers, as they arrived. */
  readonly head: string;
  readonly socket: Socket;
  /** Whether this service has closed the connection. */
  readonly closed: boolean;
}

export interface RawUpstream {
  readonly url: string;
  /** The forwarded requests, in order. */
  readonly requests: ForwardedRequest[];
  /** What happens to the next forwarded requests. */
  respond: (socket: Socket, head: string) => void;
  readonly last: ForwardedRequest;
}

const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});

const POLLED = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

export const response = (body: string, headers = "", status = "200 OK"): string =>
  `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n${headers}\r\n${body}`;

export async function startRawUpstream(path = "/onos/v1"): Promise<RawUpstream> {
  const requests: ForwardedRequest[] = [];
  const sockets = new Set<Socket>();
  const upstream = {
    url: "",
    requests,
    respond: (socket: Socket, _head: string): void => void socket.end(response('{"flows":[]}')),
    get last(): ForwardedRequest {
      const last = requests.at(-1);
      if (!last) throw new Error("nothing was forwarded");
      return last;
    },
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = "";
    let closed = false;
    socket.on("error", () => {});
    socket.on("close", () => {
      closed = true;
      sockets.delete(socket);
    });
    const onData = (data: Buffer) => {
      text += data.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      socket.off("data", onData);
      socket.resume();
      const head = text.slice(0, end);
      if (!/^via: /im.test(head)) return void socket.end(POLLED);
      requests.push({
        head,
        socket,
        get closed() {
          return closed;
        },
      });
      upstream.respond(socket, head);
    };
    socket.on("data", onData);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the upstream does not listen");
  upstream.url = `http://127.0.0.1:${address.port}${path}`;
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return upstream;
}
