/**
 * Attacks on logins, at the boundary of the process: guessing through a proxy, spraying, sharing the pair of address and
 * user name with a guesser, forged headers, clients that go away. They count the checks of the service and the answers,
 * and measure no time.
 */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { hashPassword } from "../../src/api/auth/password.ts";
import { temporaryFolder } from "../support/folder.ts";
import { basic, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const TOPOLOGY = "/controller/v1/topology";
const TIMEOUT_MS = 180_000;

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One connection. Answers come in the order of the requests. */
class HttpConnection {
  readonly #socket: Socket;
  readonly #waiting: ((answer: Answer) => void)[] = [];
  #received = "";

  constructor(port: number, localAddress = "127.0.0.1") {
    this.#socket = connect({ port, host: "127.0.0.1", localAddress });
    this.#socket.on("error", () => {});
    this.#socket.on("data", (bytes) => {
      this.#received += bytes.toString("latin1");
      for (let answer = this.#take(); answer; answer = this.#take()) this.#waiting.shift()?.(answer);
    });
  }

  #take(): Answer | undefined {
    const bodyStart = this.#received.indexOf("\r\n\r\n") + 4;
    if (bodyStart < 4) return undefined;
    const end = bodyStart + Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1] ?? 0);
    if (this.#received.length < end) return undefined;
    const answer = {
      status: Number(this.#received.slice(9, 12)),
      body: this.#received.slice(bodyStart, end),
    };
    this.#received = this.#received.slice(end);
    return answer;
  }

  /** Sends the requests at once. */
  ask(
    ...requests: readonly { path?: string; headers: Readonly<Record<string, string>> }[]
  ): Promise<Answer[]> {
    const answers = requests.map(() => new Promise<Answer>((resolve) => this.#waiting.push(resolve)));
    const texts = requests.map(({ path = TOPOLOGY, headers }) => {
      const lines = Object.entries({ Host: "x", ...headers });
      return `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
    });
    this.#socket.write(texts.join(""));
    return Promise.all(answers);
  }

  async login(credentials: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    const [answer] = await this.ask({ headers: { Authorization: basic(credentials), ...headers } });
    return answer?.status ?? 0;
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

/** Passwords that were checked and are wrong. */
const wrongIn = (metrics: string): number =>
  Number(/^gazetteer_logins_total\{outcome="wrong"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);

/**
 * Logs in, and returns how many guesses the service has checked from the moment at which this login came until it was
 * checked. The service itself counts them, at those moments: three requests are sent at once on one connection, and a
 * request is handled when the one before is answered. The credentials of the outer two are known to the service.
 */
async function guessesBefore(service: Service, headers: Readonly<Record<string, string>>): Promise<number> {
  const metrics = { path: "/metrics", headers: { Authorization: basic("reader:secret") } };
  const connection = new HttpConnection(portOf(service));
  const [before, login, after] = await connection.ask(metrics, { headers }, metrics);
  connection.close();
  expect([before?.status, login?.status, after?.status]).toEqual([200, 200, 200]);
  return wrongIn(after?.body ?? "") - wrongIn(before?.body ?? "");
}

/** Another spelling of the same credential for each number, so that each is a first login. */
const firstLogin = (n: number, user = "reader") => `Basic${" ".repeat(n + 2)}${btoa(`${user}:secret`)}`;

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
  "while 300 addresses guess through a proxy, a first login from another address is the next to be checked",
  async () => {
    const users = join(temporaryFolder(), "users");
    const quick = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
    await Bun.write(users, `reader:${await hashPassword("secret")}\nquick:${quick}\n`);
    await using service = await startBehindProxy(["--users", users]);
    const port = portOf(service);
    expect((await service.fetch(TOPOLOGY)).status).toBe(200);
    const answers = new Answers();
    // 30 connections of a proxy, each with the requests of ten addresses, with passwords that differ.
    const guessAt = (user: string, signal: AbortSignal) =>
      Array.from({ length: 30 }, (_, c) => {
        const headers = (n: number) => ({ "X-Forwarded-For": addressOf(c * 10 + (n % 10)) });
        return guess(port, (n) => `${user}:guess ${c} ${n}`, headers, signal, answers.add);
      });
    // Each address has failed a few times: at a user whose password takes little time to check.
    const first = new AbortController();
    void guessAt("quick", first.signal);
    await until(() => answers.of(401) >= 900, { what: "quick guesses", deadlineMs: 120_000 });
    first.abort();
    const stop = new AbortController();
    void guessAt("reader", stop.signal);
    await until(() => answers.of(401) >= 930, { what: "guesses to be checked", deadlineMs: 120_000 });
    for (let n = 0; n < 5; n++) {
      // The password of this user takes little time to check, so that no further guess ends meanwhile.
      const headers = { Authorization: firstLogin(n, "quick"), "X-Forwarded-For": `203.0.113.${n}` };
      // Two checks run at a time. Thirty wait.
      expect(await guessesBefore(service, headers)).toBeLessThanOrEqual(3);
    }
    stop.abort();
  },
  TIMEOUT_MS,
);

test(
  "guesses of clients that have gone away are not checked, and their connections are closed",
  async () => {
    await using service = await startBehindProxy();
    expect((await service.fetch(TOPOLOGY)).status).toBe(200);
    const metrics = async () => (await service.fetch("/metrics")).text();
    const openSockets = () => readdirSync(`/proc/${service.pid}/fd`).length;
    const before = openSockets();
    const guessers = Array.from({ length: 300 }, () => new HttpConnection(portOf(service)));
    for (const [n, each] of guessers.entries())
      void each.login(`reader:guess ${n}`, { "X-Forwarded-For": addressOf(n) });
    await until(async () => wrongIn(await metrics()) > 0, { what: "a guess to be checked" });
    await until(() => openSockets() >= before + 200, { what: "the connections" });
    for (const each of guessers) each.close();
    await until(() => openSockets() < before + 20, { what: "the end of the connections" });
    expect(wrongIn(await metrics())).toBeLessThan(150);
  },
  TIMEOUT_MS,
);

test(
  "a client that closes its sending side is answered: when it need not wait, its login is checked",
  async () => {
    await using service = await startService();
    const socket = connect({ port: portOf(service), host: "127.0.0.1", allowHalfOpen: true });
    socket.end(`GET ${TOPOLOGY} HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("reader:secret")}\r\n\r\n`);
    const chunks = await Array.fromAsync(socket);
    expect(Buffer.concat(chunks).toString()).toStartWith("HTTP/1.1 200 ");
  },
  TIMEOUT_MS,
);

test(
  "one that shares address and user name with a guesser is verified at the rate of the pair, before the guesser",
  async () => {
    await using service = await startService();
    const port = portOf(service);
    const accepted = new HttpConnection(port);
    expect(await accepted.login("reader:secret")).toBe(200);
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
    // A connection that repeats what was accepted on it is not delayed.
    const waitedFor = answers.of(401);
    for (let n = 0; n < 20; n++) expect(await accepted.login("reader:secret")).toBe(200);
    expect(answers.of(401) - waitedFor).toBeLessThanOrEqual(3);
    accepted.close();
    expect(await guessesBefore(service, { Authorization: firstLogin(0) })).toBeLessThanOrEqual(3);
    stop.abort();
  },
  TIMEOUT_MS,
);

test(
  "behind a proxy, where connections are shared, it is verified after those that came before",
  async () => {
    await using service = await startBehindProxy();
    const port = portOf(service);
    expect((await service.fetch(TOPOLOGY)).status).toBe(200);
    const stop = new AbortController();
    const answers = new Answers();
    const guesser = () => ({ Forwarded: 'for="[2001:db8::1]:4711"' });
    for (let c = 0; c < 5; c++)
      void guess(port, (n) => `reader:guess ${c} ${n}`, guesser, stop.signal, answers.add);
    await until(() => answers.of(401) >= 12, { what: "the throttle" });
    // Another address of the same /64.
    const headers = { Authorization: firstLogin(0), Forwarded: 'for="[2001:db8::2]"' };
    expect(await guessesBefore(service, headers)).toBeLessThanOrEqual(6);
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
  "with reader processes the throttle holds for the whole service, also for a guess that is right and was used before",
  async () => {
    await using service = await startService({
      args: ["--data", ":memory:", "--readers", "3", "--set", "limits.failuresPerMinute=1"],
    });
    const port = portOf(service);
    await until(() => service.stderr().match(/reader listens/g)?.length === 2, { what: "the readers" });
    const loginFrom = async (address: string) => {
      const connection = new HttpConnection(port, address);
      const status = await connection.login("reader:secret");
      connection.close();
      return status;
    };
    // So many that every process has the credential in its cache.
    const accepted = Array.from({ length: 24 }, () => new HttpConnection(port));
    for (const connection of accepted) expect(await connection.login("reader:secret")).toBe(200);
    const stop = new AbortController();
    const answers = new Answers();
    for (let c = 0; c < 40; c++)
      void guess(
        port,
        (n) => (n % 3 === 2 ? "reader:secret" : `reader:guess ${c} ${n}`),
        () => ({}),
        stop.signal,
        answers.add,
      );
    await until(() => answers.of(429) > 200, { what: "the throttle" });
    expect(answers.of(401)).toBeLessThanOrEqual(10);
    expect(answers.of(200)).toBe(0);
    // Connections that were accepted before go on, also where a reader relays the request.
    const relayed = { path: "/openapi.json", headers: { Authorization: basic("reader:secret") } };
    for (const connection of accepted) expect(await connection.ask(relayed)).toMatchObject([{ status: 200 }]);
    // From elsewhere it is accepted by every process.
    for (let i = 0; i < 12; i++) expect(await loginFrom("127.0.0.2")).toBe(200);
    stop.abort();
  },
  TIMEOUT_MS,
);
