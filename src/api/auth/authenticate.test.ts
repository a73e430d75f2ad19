import { beforeEach, describe, expect, test } from "bun:test";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import {
  type AuthenticatorOptions,
  type AuthResult,
  createAuthenticator,
  internalAuthorization,
  type LoginClient,
  THROTTLE_DEFAULTS,
} from "./authenticate.ts";
import { hashTokenSecret, randomTokenSecret } from "./password.ts";
import type { User, Users } from "./users.ts";

const hash = (password: string | Uint8Array) => Bun.password.hash(password, { algorithm: "bcrypt", cost: 4 });
const SECRET = await hash("secret");
const OTHER = await hash("other");
const basic = (text: string, encoding: "utf8" | "latin1" = "utf8") =>
  `Basic ${Buffer.from(text, encoding).toString("base64")}`;
const clientAt = (address: string, connectionFailures = 0): LoginClient => ({
  address,
  connectionFailures,
  isGone: () => false,
});
const HERE = clientAt("192.0.2.1");
const ELSEWHERE = clientAt("192.0.2.2");

/** Users that a test changes directly. */
class FakeUsers implements Users {
  readonly file = undefined;
  readonly generated = undefined;
  readonly listeners = new Set<(names: ReadonlySet<string>) => void>();
  readonly users = new Map<string, User>();

  set(name: string, hash: string): void {
    this.users.set(name, { name, hash, role: "reader", credentialId: `${name} ${hash}` });
    for (const listener of this.listeners) listener(new Set([name]));
  }
  remove(name: string): void {
    this.users.delete(name);
    for (const listener of this.listeners) listener(new Set([name]));
  }
  find(name: string): User | undefined {
    return this.users.get(name);
  }
  all(): User[] {
    return [...this.users.values()];
  }
  onChange(listener: (names: ReadonlySet<string>) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  async watch(): Promise<void> {}
  async saveGenerated(): Promise<void> {}
}

let users = new FakeUsers();
let clock = new ManualClock();
beforeEach(() => {
  users = new FakeUsers();
  users.set("ann", SECRET);
  clock = new ManualClock();
});
const create = (options: Partial<AuthenticatorOptions> = {}) =>
  createAuthenticator({ users, clock, ...options });

test("a user without a password is refused like an unknown one", async () => {
  users.set("cert", "certificate");
  const authenticator = create();
  for (const name of ["cert", "nobody"]) {
    for (const password of ["certificate", "secret"]) {
      expect(await authenticator.authenticate(basic(`${name}:${password}`), HERE)).toEqual({
        outcome: "wrong",
      });
    }
  }
});

describe("concurrent requests with the same credential", () => {
  test("a right one is accepted for all of them", async () => {
    const authenticator = create();
    const all = Array.from({ length: 50 }, () => authenticator.authenticate(basic("ann:secret"), HERE));
    expect((await Promise.all(all)).filter(({ outcome }) => outcome !== "ok")).toEqual([]);
  });

  test("a wrong one is throttled: each request counts", async () => {
    const authenticator = create();
    const all = Array.from({ length: 20 }, () => authenticator.authenticate(basic("ann:wrong"), HERE));
    const outcomes = new Set((await Promise.all(all)).map(({ outcome }) => outcome));
    expect(outcomes).toEqual(new Set(["wrong", "throttled"]));
  });
});

describe("outcomes", () => {
  const cases: [name: string, header: string | null, outcome: AuthResult["outcome"]][] = [
    ["right credential", basic("ann:secret"), "ok"],
    ["right credential, scheme in capitals", basic("ann:secret").replace("Basic", "BASIC"), "ok"],
    ["no header", null, "missing"],
    ["an empty header", "", "missing"],
    ["wrong password", basic("ann:Secret"), "wrong"],
    ["empty password", basic("ann:"), "wrong"],
    ["unknown user", basic("bob:secret"), "wrong"],
    ["empty user", basic(":secret"), "wrong"],
    ["user name in another case", basic("Ann:secret"), "wrong"],
    ["no colon", basic("ann"), "malformed"],
    ["not base64", "Basic !!!!", "malformed"],
    ["another scheme", "Bearer abc", "malformed"],
    ["oversize", basic(`ann:${"x".repeat(10_000)}`), "malformed"],
  ];
  for (const [name, header, outcome] of cases) {
    test(name, async () => {
      const auth = create();
      expect(auth.cachedCredential(header)).toBeUndefined();
      expect((await auth.authenticate(header, HERE)).outcome).toBe(outcome);
      expect(auth.cachedCredential(header) !== undefined).toBe(outcome === "ok");
    });
  }

  test("the result names the user and the credential", async () => {
    const result = await create().authenticate(basic("ann:secret"), HERE);
    expect(result).toEqual({ outcome: "ok", user: "ann", credentialId: `ann ${SECRET}`, role: "reader" });
  });

  test("without any users every credential is wrong, not an error", async () => {
    users.remove("ann");
    expect((await create().authenticate(basic("ann:secret"), HERE)).outcome).toBe("wrong");
  });
});

describe("tokens", () => {
  const secret = randomTokenSecret();
  const bearer = (name: string, text = secret) => `Bearer gzt.${name}.${text}`;
  const outcome = async (auth: ReturnType<typeof create>, header: string) =>
    (await auth.authenticate(header, HERE)).outcome;

  test("are accepted and cached like passwords, and throttled like them", async () => {
    users.set("prometheus", hashTokenSecret(secret));
    const auth = create({ maxWaitingPerPair: 0 });
    expect(await auth.authenticate(bearer("prometheus"), HERE)).toMatchObject({
      outcome: "ok",
      user: "prometheus",
    });
    expect(auth.cachedCredential(bearer("prometheus"))?.user).toBe("prometheus");
    const outcomes = [];
    for (let i = 0; i < 11; i++)
      outcomes.push(await outcome(auth, bearer("prometheus", randomTokenSecret())));
    expect(outcomes).toEqual([...Array(10).fill("wrong"), "throttled"]);
    expect(await outcome(auth, bearer("prometheus"))).toBe("throttled");
    users.remove("prometheus");
    expect(auth.cachedCredential(bearer("prometheus"))).toBeUndefined();
  });

  test("a token is no password, and a password no token", async () => {
    users.set("prometheus", hashTokenSecret(secret));
    users.set("bob", await hash(secret));
    users.set("cert", "certificate");
    const auth = create();
    expect(await outcome(auth, basic(`prometheus:${secret}`))).toBe("wrong");
    expect(await outcome(auth, bearer("bob"))).toBe("wrong");
    expect(await outcome(auth, basic(`bob:${secret}`))).toBe("ok");
    for (const name of ["cert", "nobody"]) expect(await outcome(auth, bearer(name))).toBe("wrong");
  });
});

describe("letters outside ASCII", () => {
  test("UTF-8 and Latin-1 encodings of one password are accepted, whichever bytes were hashed", async () => {
    users.set("rené", await hash("naïve"));
    users.set("old", await hash(Buffer.from("naïve", "latin1")));
    const auth = create();
    expect((await auth.authenticate(basic("rené:naïve"), HERE)).outcome).toBe("ok");
    expect((await auth.authenticate(basic("rené:naïve", "latin1"), HERE)).outcome).toBe("ok");
    expect((await auth.authenticate(basic("old:naïve", "latin1"), HERE)).outcome).toBe("ok");
    expect((await auth.authenticate(basic("rené:naive", "latin1"), HERE)).outcome).toBe("wrong");
  });

  test("a Latin-1 password whose bytes are also valid UTF-8 is accepted", async () => {
    users.set("ann", await hash("Ã©"));
    expect((await create().authenticate(basic("ann:Ã©", "latin1"), HERE)).outcome).toBe("ok");
  });
});

describe("cached credentials", () => {
  test("those of a user are removed when the user changes or is removed; those of other users stay", async () => {
    users.set("bob", SECRET);
    const auth = create();
    const [ann, bob] = [basic("ann:secret"), basic("bob:secret")];
    await auth.authenticate(ann, HERE);
    await auth.authenticate(bob, HERE);
    users.set("ann", OTHER);
    expect(auth.cachedCredential(ann)).toBeUndefined();
    expect(auth.cachedCredential(bob)?.user).toBe("bob");
    expect((await auth.authenticate(ann, HERE)).outcome).toBe("wrong");
    expect((await auth.authenticate(basic("ann:other"), HERE)).outcome).toBe("ok");
    users.remove("bob");
    expect(auth.cachedCredential(bob)).toBeUndefined();
    expect((await auth.authenticate(bob, HERE)).outcome).toBe("wrong");
  });

  test("a password that changes during the check is not cached", async () => {
    const auth = create();
    const checking = auth.authenticate(basic("ann:secret"), HERE);
    users.set("ann", OTHER);
    expect((await checking).outcome).toBe("wrong");
    expect(auth.cachedCredential(basic("ann:secret"))).toBeUndefined();
  });
});

describe("throttling", () => {
  const guess = (auth: ReturnType<typeof create>, i: number, from: LoginClient = HERE) =>
    auth.authenticate(basic(`ann:guess${i}`), from);

  test("of 20 concurrent guesses for a pair ten are checked at once, and the rest one a second", async () => {
    const auth = create({ maxWaitingPerPair: 10 });
    let done = 0;
    const guesses = Array.from({ length: 20 }, (_, i) => guess(auth, i).finally(() => done++));
    await Promise.all(guesses.slice(0, 10));
    expect([done, clock.sleeping]).toEqual([10, 1]);
    for (let n = 11; n <= 20; n++) {
      await clock.advance(1000);
      await guesses[n - 1];
      expect(done).toBe(n);
    }
    const outcomes = (await Promise.all(guesses)).map(({ outcome }) => outcome);
    expect(new Set(outcomes)).toEqual(new Set(["wrong"]));
  });

  test("a user with the right password is not locked out elsewhere, nor another user from the same address", async () => {
    users.set("bob", SECRET);
    const auth = create();
    await Promise.all(Array.from({ length: 10 }, (_, i) => guess(auth, i)));
    void guess(auth, 11);
    expect((await auth.authenticate(basic("ann:secret"), ELSEWHERE)).outcome).toBe("ok");
    expect((await auth.authenticate(basic("bob:secret"), HERE)).outcome).toBe("ok");
  });

  test("a cached credential waits for its turn like a guess, where its pair has failed in the last minute", async () => {
    const auth = create({ maxWaitingPerPair: 1 });
    const right = basic("ann:secret");
    const guesser = clientAt(HERE.address, 1);
    expect((await auth.authenticate(right, ELSEWHERE)).outcome).toBe("ok");
    expect((await auth.authenticate(right, HERE)).outcome).toBe("ok");
    for (let i = 0; i < 10; i++) await guess(auth, i, guesser);
    const wrong = guess(auth, 10, guesser);
    // A guess that is right is refused like those that are wrong.
    expect((await auth.authenticate(right, clientAt(HERE.address, 2))).outcome).toBe("throttled");
    expect(auth.failedPairs.has(HERE.address, "ann")).toBe(true);
    expect(auth.failedPairs.has(ELSEWHERE.address, "ann")).toBe(false);
    expect((await auth.authenticate(right, ELSEWHERE)).outcome).toBe("ok");
    const waiting = auth.authenticate(right, HERE);
    expect((await wrong).outcome).toBe("throttled");
    await clock.advance(1000);
    expect((await waiting).outcome).toBe("ok");
    // A right one does not end the minute of the wrong ones.
    await clock.advance(58_000);
    expect(auth.failedPairs.has(HERE.address, "ann")).toBe(true);
    await clock.advance(1000);
    expect(auth.failedPairs.any).toBe(false);
  });

  test("many guesses at the same time are no gap: a pair counts as failed while one of its logins is undecided", async () => {
    const auth = create();
    expect((await auth.authenticate(basic("ann:secret"), ELSEWHERE)).outcome).toBe("ok");
    const undecided = guess(auth, 0);
    expect(auth.failedPairs.has(HERE.address, "ann")).toBe(true);
    await undecided;
    const right = auth.authenticate(basic("ann:secret"), clientAt("192.0.2.3"));
    await right;
    expect(auth.failedPairs.has("192.0.2.3", "ann")).toBe(false);
  });

  test("a reader process remembers what it relayed and was refused, and relays such a cached credential again", async () => {
    const relayed: string[] = [];
    const [user] = users.all();
    const auth = create({
      async checkRemotely(header) {
        relayed.push(atob(header.slice("Basic ".length)));
        if (header !== basic("ann:secret") || !user) return { outcome: "throttled", retryAfterSeconds: 1 };
        return { outcome: "ok", user: user.name, credentialId: user.credentialId, role: user.role };
      },
    });
    const login = (credentials: string, from: LoginClient) => auth.authenticate(basic(credentials), from);
    for (const from of [ELSEWHERE, HERE]) await login("ann:secret", from);
    expect(relayed).toEqual(["ann:secret"]);
    await login("ann:guess", HERE);
    for (const from of [ELSEWHERE, HERE]) await login("ann:secret", from);
    expect(relayed).toEqual(["ann:secret", "ann:guess", "ann:secret"]);
  });

  test("the credential of the service's own processes is no login", async () => {
    const own = internalAuthorization("own");
    const auth = create({ internalAuthorization: own });
    expect(auth.isOwnProcess(own)).toBe(true);
    expect(auth.isOwnProcess(internalAuthorization("guess"))).toBe(false);
    expect(auth.isOwnProcess(null)).toBe(false);
    expect((await auth.authenticate(own, HERE)).outcome).toBe("wrong");
  });

  test("a right password that waits with guesses for its pair is accepted before connections that have failed", async () => {
    const auth = create();
    const guesser = clientAt(HERE.address, 1);
    for (let i = 0; i < 10; i++) await guess(auth, i, guesser);
    const order: string[] = [];
    const waiting = Array.from({ length: 5 }, (_, i) =>
      guess(auth, 10 + i, guesser).then(({ outcome }) => order.push(outcome)),
    );
    const right = auth.authenticate(basic("ann:secret"), HERE).then(({ outcome }) => order.push(outcome));
    await clock.advance(1000);
    await right;
    await clock.advance(5000);
    await Promise.all(waiting);
    expect(order).toEqual(["ok", "wrong", "wrong", "wrong", "wrong", "wrong"]);
  });

  test("beyond the attempts that may wait for a pair, those of connections with the most failures are refused", async () => {
    const auth = create({ maxWaitingPerPair: 2 });
    const guesser = clientAt(HERE.address, 1);
    for (let i = 0; i < 10; i++) await guess(auth, i, guesser);
    const waiting = [guess(auth, 10, guesser), guess(auth, 11, guesser)];
    expect(await guess(auth, 12, guesser)).toEqual({ outcome: "throttled", retryAfterSeconds: 3 });
    const right = auth.authenticate(basic("ann:secret"), HERE);
    expect(await waiting[1]).toMatchObject({ outcome: "throttled" });
    await clock.advance(1000);
    expect((await right).outcome).toBe("ok");
  });

  test("one address with many user names is throttled as a whole; other addresses are not", async () => {
    const auth = create({ throttle: { ...THROTTLE_DEFAULTS, address: { burst: 20, refillMs: 100 } } });
    let done = 0;
    const spray = Array.from({ length: 30 }, (_, i) =>
      auth.authenticate(basic(`user${i}:secret`), HERE).finally(() => done++),
    );
    await Promise.all(spray.slice(0, 20));
    expect(done).toBe(20);
    expect((await auth.authenticate(basic("ann:secret"), ELSEWHERE)).outcome).toBe("ok");
    await clock.advance(1000);
    await Promise.all(spray);
  });

  test("an address that failed half a minute ago is after one that never did, though its throttle has ended", async () => {
    const auth = create({ maxConcurrentChecks: 1 });
    await guess(auth, 0);
    await clock.advance(30_000);
    const order: string[] = [];
    const running = guess(auth, 1, clientAt("198.51.100.1"));
    const others = [2, 3, 4].map((n) => guess(auth, n, clientAt(`198.51.100.${n}`)));
    const right = auth.authenticate(basic("ann:secret"), ELSEWHERE).then(() => order.push("right"));
    const guesses = [5, 6, 7].map((n) => guess(auth, n).then(() => order.push("guess")));
    await Promise.all([running, ...others, right, ...guesses]);
    expect(order[0]).toBe("right");
  });

  test("what waits for a client that is gone is not checked, and makes room", async () => {
    const auth = create({ maxConcurrentChecks: 1 });
    const running = guess(auth, 11, ELSEWHERE);
    const gone = Array.from({ length: 9 }, (_, i) => guess(auth, i, { ...HERE, isGone: () => true }));
    expect((await Promise.all(gone)).every(({ outcome }) => outcome === "throttled")).toBe(true);
    expect((await running).outcome).toBe("wrong");
    expect((await guess(auth, 10)).outcome).toBe("wrong");
  });

  test("right, missing and malformed credentials do not count as guesses", async () => {
    const once = { burst: 1, refillMs: 1000 };
    const auth = create({ throttle: { pair: once, address: once } });
    for (let i = 0; i < 5; i++) {
      users.set("ann", SECRET); // clears the cached credentials
      expect((await auth.authenticate(basic("ann:secret"), HERE)).outcome).toBe("ok");
      expect((await auth.authenticate(null, HERE)).outcome).toBe("missing");
      expect((await auth.authenticate("Basic ?", HERE)).outcome).toBe("malformed");
    }
  });

  test("checks beyond the queue are rejected; one credential sent many times is one check", async () => {
    const auth = create({ maxConcurrentChecks: 1, maxWaiting: 2 });
    const same = await Promise.all(
      Array.from({ length: 9 }, () => auth.authenticate(basic("ann:secret"), HERE)),
    );
    expect(same.every(({ outcome }) => outcome === "ok")).toBe(true);
    const many = await Promise.all(
      Array.from({ length: 5 }, (_, i) => guess(auth, i, clientAt(`198.51.100.${i}`))),
    );
    expect(many.filter(({ outcome }) => outcome === "wrong")).toHaveLength(3);
    expect(many.filter(({ outcome }) => outcome === "throttled")).toHaveLength(2);
  });
});
