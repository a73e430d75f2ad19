/**
 * Guessing: 1,000 addresses try passwords as fast as the service lets them (a refusal is waited out as `Retry-After`
 * says) while users that have not logged in before send their first request, each from an address of its own.
 */
import type { Socket } from "node:net";
import { type Attack, openSocket, repeat, requestText, type Stop, sleep, type Target } from "./attack.ts";

const GUESSERS = 1000;
const LOGIN_INTERVAL_MS = 300;
const LOGIN_TIMEOUT_MS = 15_000;
const PATH = "/controller/v1/topology";

interface Answer {
  readonly status: number;
  readonly retryAfterMs: number;
}

/** Sends a request and waits for the head of the answer; status 0 when the connection closes first. */
function ask(socket: Socket, authorization: string, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve) => {
    let text = "";
    const finish = (answer: Answer) => {
      socket.off("data", read);
      socket.off("close", fail);
      signal.removeEventListener("abort", fail);
      resolve(answer);
    };
    const fail = () => finish({ status: 0, retryAfterMs: 0 });
    const read = (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const head = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (head < 0 || text.length < head + 4 + length) return;
      const retryAfterMs = Number(/retry-after: (\d+)/i.exec(text)?.[1] ?? 0) * 1000;
      finish({ status: Number(text.slice(9, 12)), retryAfterMs });
    };
    socket.on("data", read);
    socket.once("close", fail);
    signal.addEventListener("abort", fail, { once: true });
    if (socket.destroyed || signal.aborted) fail();
    else socket.write(requestText(PATH, { Authorization: authorization }));
  });
}

const addressOf = (block: number, n: number): string => `127.${block}.${n >> 8}.${1 + ((n & 0xff) % 254)}`;

async function guess(target: Target, loop: number, signal: AbortSignal): Promise<void> {
  const socket = await openSocket(target, { from: addressOf(10, loop) });
  for (let n = 0; !signal.aborted && !socket.destroyed; n++) {
    const wrong = `Basic ${btoa(`user${loop}:guess${n}`)}`;
    const { status, retryAfterMs } = await ask(socket, wrong, signal);
    if (status === 429 || status === 503) await sleep(Math.max(1000, retryAfterMs), signal);
  }
  socket.destroy();
}

async function startGuessing(target: Target): Promise<Stop> {
  const stopGuessing = repeat((signal, loop) => guess(target, loop, signal), GUESSERS);
  const latencies: number[] = [];
  let refused = 0;
  let next = 0;
  const logins: Promise<void>[] = [];
  const login = async (authorization: string, n: number) => {
    const began = performance.now();
    const socket = await openSocket(target, { from: addressOf(20, n) });
    const { status } = await ask(socket, authorization, AbortSignal.timeout(LOGIN_TIMEOUT_MS));
    socket.destroy();
    if (status === 200) latencies.push(performance.now() - began);
    else refused++;
  };
  const timer = setInterval(() => {
    const authorization = target.newcomers[next];
    if (authorization !== undefined) logins.push(login(authorization, next++).catch(() => void refused++));
  }, LOGIN_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(logins);
    await stopGuessing();
    const slowest = Math.round(Math.max(0, ...latencies));
    return `first logins: ${latencies.length} of ${latencies.length + refused}, slowest ${slowest} ms`;
  };
}

export const LOGIN_ATTACKS: readonly Attack[] = [
  { name: "guessing", what: "1,000 addresses guess passwords", start: startGuessing },
];
