/** Work before authentication: connections without credentials that pipeline, send bodies without end, or hold slots. */
import type { Socket } from "node:net";
import { type Attack, flood, openSocket, repeat, requestText, type Stop, type Target } from "./attack.ts";

const PATH = "/controller/v1/hosts";
const BLOCK_BYTES = 65_536;
/** More than the default of `limits.connections` and the connections that may be idle besides. */
const HELD_CONNECTIONS = 11_500;
const PARALLEL_OPENS = 200;

const block = (text: string): Uint8Array =>
  new TextEncoder().encode(text.repeat(Math.ceil(BLOCK_BYTES / text.length)));

/** One connection at a time: sends the head, then the block again and again. Answers are read and discarded. */
function flooding(name: string, what: string, head: string, bytes: Uint8Array): Attack {
  return {
    name,
    what,
    start: async (target) =>
      repeat(async (signal) => {
        const socket = await openSocket(target);
        socket.resume();
        socket.write(head);
        await flood(socket, bytes, signal);
      }),
  };
}

/** Half of them send nothing, half the head of a request whose body does not come. */
async function startSilentConnections(target: Target): Promise<Stop> {
  const head = requestText(PATH, { "Content-Length": "10" });
  const sockets: Socket[] = [];
  let refused = 0;
  for (let opened = 0; opened < HELD_CONNECTIONS; opened += PARALLEL_OPENS) {
    const group = Array.from({ length: PARALLEL_OPENS }, async (_, i) => {
      const socket = await openSocket(target, { from: `127.1.0.${1 + (i % 200)}` });
      if (i % 2 === 0) socket.write(head);
      sockets.push(socket);
    });
    for (const result of await Promise.allSettled(group)) if (result.status === "rejected") refused++;
    if (refused > 0) break;
  }
  return async () => {
    const open = sockets.filter((socket) => !socket.destroyed).length;
    for (const socket of sockets) socket.destroy();
    return `${open} of ${sockets.length} connections still open`;
  };
}

const CHUNKED = { "Transfer-Encoding": "chunked" };

export const CONNECTION_ATTACKS: readonly Attack[] = [
  flooding("pipelined", "pipelined GETs without credentials", "", block(requestText(PATH))),
  flooding(
    "one-byte-chunks",
    "a body of one-byte chunks after the 401",
    requestText(PATH, CHUNKED),
    block("1\r\na\r\n"),
  ),
  flooding(
    "trailers",
    "trailers without end after the 401",
    `${requestText(PATH, CHUNKED)}0\r\n`,
    block("X: y\r\n"),
  ),
  flooding(
    "body",
    "a body without end after the 401",
    requestText(PATH, { "Content-Length": "1000000000000" }),
    block("x"),
  ),
  { name: "silent", what: "11,500 connections that never send", start: startSilentConnections },
];
