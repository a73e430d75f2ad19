/**
 * Attacks on logins, at the boundary of the process: guessing through a proxy, spraying, sharing the pair of address and
 * user name with a guesser, forged headers. They count answers and their order, and measure no time.
 */
import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { basic, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const TOPOLOGY = "/controller/v1/topology";
const TIMEOUT_MS = 180_000;

/** One connection that sends a request at a time. */
class HttpConnection {
  readonly #socket: Socket;
  #received = "";
  #onAnswer: ((status: number) => void) | undefined;

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1" });
    this.#socket.on("error", () => {});
    this.#socket.on("data", (bytes) => {
      this.#received += bytes.toString("latin1");
      const headEnd = this.#received.indexOf("\r\n\r\n");
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1] ?? 0);
      if (headEnd < 0 || this.#received.length < headEnd + 4 + length) return;
      const status = Number(this.#received.slice(9, 12));
      this.#received = "";
      this.#onAnswer?.(status);
    });
  }

  login(
    credentials: string,
    headers: Readonly<Record<string, string>> = {},
    path = TOPOLOGY,
  ): Promise<number> {
    const lines = Object.entries({ Host: "x", Authorization: basic(credentials), ...headers });
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
    );
    return new Promise((resolve) => {
      this.#onAnswer = resolve;
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

const portOf = (service: Service) => Number(new URL(service.url).port);

/** Guesses on one connection until the signal aborts. Each answer is passed on. */
async function guess(
  port: number,
  credentials: (n: number) => string,
  headers: (n: number) => Readonly<Record<string, string>>,
  signal: AbortSignal,
  onAnswer: (status: number) => void,
): Promise<void> {
  const connection = new HttpConnection(port);
  signal.addEventListener("abort", () => connection.close(), { once: true });
  for (let n = 0; !signal.aborted; n++) onAnswer(await connection.login(credentials(n), headers(n)));
}

const addressOf = (n: number) => `198.18.${(n >> 8) & 255}.${n & 255}`;

async function startBehindProxy(args: readonly string[] = []): Promise<Service> {
  return startService({
    args: ["--data", ":memory:", ...args],
    env: { GAZETTEER_TRUSTED_PROXIES: "127.0.0.1" },
  });
}

/** Answers to guesses that were checked; those that were refused cost nothing. */
class Answers {
  readonly counts = new Map<number, number>();
  add = (status: number): void => {
    this.counts.set(status, (this.counts.get(status) ?? 0) + 1);
  };
  of(status: number): number {
    return this.counts.get(status) ?? 0;
  }
}

test(
  "while 1,000 addresses guess through a proxy, a first login from another address is the next to be checked",
  async () => {
    await using service = await startBehindProxy();
    const port = portOf(service);
    const stop = new AbortController();
    const answers = new Answers();
    // 100 connections of a proxy, each with the requests of ten addresses, with passwords that differ.
    for (let c = 0; c < 100; c++) {
      const headers = (n: number) => ({ "X-Forwarded-For": addressOf(c * 10 + (n % 10)) });
      void guess(port, (n) => `reader:guess ${c} ${n}`, headers, stop.signal, answers.add);
    }
    await until(() => answers.of(401) >= 30, { what: "guesses to be checked", deadlineMs: 120_000 });
    for (let i = 0; i < 5; i++) {
      const before = answers.of(401);
      const login = new HttpConnection(port);
      // Another spelling of the same credential each time, so that each is a first login.
      const status = await login.login("reader:secret", {
        Authorization: `Basic${" ".repeat(i + 1)}${btoa("reader:secret")}`,
        "X-Forwarded-For": `203.0.113.${i}`,
      });
      login.close();
      expect(status).toBe(200);
      // Two checks run at a time, and one in four goes to those who wait longest.
      expect(answers.of(401) - before).toBeLessThanOrEqual(10);
    }
    stop.abort();
  },
  TIMEOUT_MS,
);

test(
  "one that shares address and user name with a guesser is verified at the rate of the pair, before the guesser",
  async () => {
    await using service = await startService();
    const port = portOf(service);
    const stop = new AbortController();
    const answers = new Answers();
    for (let c = 0; c < 12; c++)
      void guess(
        port,
        (n) => `reader:guess ${c} ${n}`,
        () => ({}),
        stop.signal,
        answers.add,
      );
    // The burst is used up, each connection has failed, and further guesses are refused.
    await until(() => answers.of(401) >= 13 && answers.of(429) > 0, { what: "the throttle" });
    const before = answers.of(401);
    const login = new HttpConnection(port);
    expect(await login.login("reader:secret")).toBe(200);
    login.close();
    expect(answers.of(401) - before).toBeLessThanOrEqual(3);
    stop.abort();
  },
  TIMEOUT_MS,
);

test(
  "behind a proxy, where connections are shared, it is verified after those that came before",
  async () => {
    await using service = await startBehindProxy();
    const port = portOf(service);
    const stop = new AbortController();
    const answers = new Answers();
    const headers = () => ({ Forwarded: 'for="[2001:db8::1]:4711"' });
    for (let c = 0; c < 5; c++)
      void guess(port, (n) => `reader:guess ${c} ${n}`, headers, stop.signal, answers.add);
    await until(() => answers.of(401) >= 12, { what: "the throttle" });
    const before = answers.of(401);
    const login = new HttpConnection(port);
    // Another address of the same /64.
    expect(await login.login("reader:secret", { Forwarded: 'for="[2001:db8::2]"' })).toBe(200);
    login.close();
    expect(answers.of(401) - before).toBeLessThanOrEqual(6);
    stop.abort();
  },
  TIMEOUT_MS,
);

test(
  "an address that sprays user names is throttled as a whole, and nobody else",
  async () => {
    await using service = await startService({
      args: ["--data", ":memory:", "--set", "limits.addressFailureBurst=20"],
      env: { GAZETTEER_TRUSTED_PROXIES: "127.0.0.1", GAZETTEER_LIMITS_ADDRESS_FAILURES_PER_MINUTE: "1" },
    });
    const port = portOf(service);
    const stop = new AbortController();
    const answers = new Answers();
    for (let c = 0; c < 30; c++) {
      const headers = () => ({ "X-Forwarded-For": "198.18.0.1" });
      void guess(port, (n) => `user ${c} ${n}:secret`, headers, stop.signal, answers.add);
    }
    await until(() => answers.of(401) === 20, { what: "the burst of the address" });
    const login = new HttpConnection(port);
    expect(await login.login("reader:secret", { "X-Forwarded-For": "198.18.0.2" })).toBe(200);
    login.close();
    expect(answers.of(401)).toBe(20);
    stop.abort();
  },
  TIMEOUT_MS,
);

test(
  "forged headers of a client that is no trusted proxy, and what it writes left of a proxy, change nothing",
  async () => {
    for (const trusted of ["", "127.0.0.1"]) {
      await using service = await startService({
        args: ["--data", ":memory:", "--set", "limits.failuresPerMinute=1"],
        env: { GAZETTEER_TRUSTED_PROXIES: trusted },
      });
      const port = portOf(service);
      const stop = new AbortController();
      const answers = new Answers();
      // Without a trusted proxy everything is forged; with one, it has appended the true address.
      const headers = (n: number): Record<string, string> =>
        n % 2 === 0
          ? { "X-Forwarded-For": `${addressOf(n)}${trusted && ", 198.51.100.7"}` }
          : { Forwarded: `for=${addressOf(n)}${trusted && ", for=198.51.100.7"}` };
      for (let c = 0; c < 20; c++)
        void guess(port, (n) => `reader:guess ${c} ${n}`, headers, stop.signal, answers.add);
      await until(() => answers.of(429) > 0, { what: "the throttle" });
      expect(answers.of(401)).toBeLessThanOrEqual(10);
      stop.abort();
    }
  },
  TIMEOUT_MS,
);

test(
  "with reader processes the throttle holds for the whole service",
  async () => {
    await using service = await startService({
      args: ["--data", ":memory:", "--readers", "3", "--set", "limits.failuresPerMinute=1"],
    });
    const port = portOf(service);
    await until(() => service.stderr().match(/reader listens/g)?.length === 2, { what: "the readers" });
    const stop = new AbortController();
    const answers = new Answers();
    for (let c = 0; c < 40; c++)
      void guess(
        port,
        (n) => `reader:guess ${c} ${n}`,
        () => ({}),
        stop.signal,
        answers.add,
      );
    await until(() => answers.of(429) > 20, { what: "the throttle" });
    expect(answers.of(401)).toBeLessThanOrEqual(10);
    stop.abort();
    // The right credential from elsewhere is accepted by every process.
    for (let i = 0; i < 12; i++) {
      const response = await fetch(service.url + TOPOLOGY, {
        headers: { authorization: basic("reader:secret"), connection: "close" },
      });
      expect([200, 429]).toContain(response.status);
    }
  },
  TIMEOUT_MS,
);
