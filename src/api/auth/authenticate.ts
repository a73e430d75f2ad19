/**
 * Authentication of an Authorization header. A password or token is hashed once per credential and process. After that the
 * credential is cached under a digest of the header, and `cachedCredential` finds it with one look-up.
 *
 * - The digest is SHA-256 with a random key of this process. Cached digests are useless elsewhere, and the timing of a
 *   look-up reveals nothing about the header.
 * - An unknown name costs as much as a wrong password: the password is checked against the hash of some real user, and
 *   the result is discarded. Passwords are not accepted as tokens and tokens not as passwords, so that the kind of a user's
 *   secret cannot be learned from the time of a check either.
 * - Failures are throttled per pair of client address and user name, and per address (`login-queue.ts`), never per user
 *   alone. While its pair is throttled, a right credential waits for its turn too.
 * - A cached credential is accepted at once only while its pair of address and user had no failure and no refusal in the
 *   last minute, and none of its logins is undecided. Otherwise it waits for its turn like any other, but needs no hash.
 *   Without this rule a right guess would be accepted from the cache while the wrong guesses around it are refused. A
 *   connection that repeats credentials accepted on it does not come here (`request-credentials.ts`).
 * - When a user changes, the cached credentials of that user are removed at once.
 */
import { createBoundedCache } from "../../lib/bounded-cache.ts";
import type { Clock } from "../../lib/clock.ts";
import { type LoginCandidate, MAX_AUTHORIZATION_LENGTH, parseAuthorization } from "./authorization.ts";
import { addressKey, FailedPairs, FailureBuckets, type FailureRate, pairKey } from "./failure-buckets.ts";
import { type LoginAttempt, LoginQueue } from "./login-queue.ts";
import {
  hashPassword,
  hashTokenSecret,
  type LoginScheme,
  randomPassword,
  randomTokenSecret,
  schemeOf,
  verifySecret,
} from "./password.ts";
import type { User, Users } from "./users.ts";
import { CERTIFICATE_ONLY, type Role } from "./users-file.ts";

export interface Credential {
  readonly outcome: "ok";
  readonly user: string;
  readonly credentialId: string;
  readonly role: Role;
}

export type AuthResult =
  | Credential
  | { readonly outcome: "missing" | "malformed" | "wrong" }
  | { readonly outcome: "throttled"; readonly retryAfterSeconds: number };

export interface Authenticator {
  /**
   * Looks up the header synchronously. If it returns undefined, or if `failedPairs` has the pair of the client's address and
   * the user, the caller must call `authenticate`.
   */
  cachedCredential(header: string | null): Credential | undefined;
  readonly failedPairs: Pick<FailedPairs, "any" | "has">;
  authenticate(header: string | null, client: LoginClient): Promise<AuthResult>;
  /** Whether the header is that of the service's own processes. It is accepted on the Unix socket only. */
  isOwnProcess(header: string | null): boolean;
  /** A number that increases whenever any user changes. Results of an earlier generation must not be used. */
  readonly generation: number;
}

/** The client that logs in. */
export interface LoginClient {
  readonly address: string;
  /** Number of earlier failures on the same connection; 0 if the connection belongs to a proxy. */
  readonly connectionFailures: number;
  /** Whether the client no longer waits for the result. */
  readonly isGone: () => boolean;
}

/** The rates of wrong passwords for one pair of address and user name, and for one address with any user names. */
export interface ThrottleOptions {
  readonly pair: FailureRate;
  readonly address: FailureRate;
}

export const THROTTLE_DEFAULTS: ThrottleOptions = {
  pair: { burst: 10, refillMs: 1000 },
  address: { burst: 100, refillMs: 100 },
};

export interface AuthenticatorOptions {
  readonly users: Users;
  readonly clock: Clock;
  readonly throttle?: ThrottleOptions;
  readonly maxConcurrentChecks?: number;
  readonly maxWaiting?: number;
  readonly maxWaitingPerPair?: number;
  /** The Authorization header that the service's own processes send. */
  readonly internalAuthorization?: string | undefined;
  /** Checks a first login in the main process, which throttles the logins of all processes. Set only in a reader process. */
  readonly checkRemotely?: RemoteCheck | undefined;
}

export type RemoteCheck = (header: string, client: LoginClient) => Promise<AuthResult>;

/** The user of requests between the service's own processes. No configured user can have this name. No limits apply to it. */
export const INTERNAL_USER = "";

/** The Authorization header of `INTERNAL_USER`. */
export const internalAuthorization = (password: string): string =>
  `Basic ${Buffer.from(`${INTERNAL_USER}:${password}`).toString("base64")}`;

/** Maximum number of cached credentials: more than the users of any file need. An evicted one costs one more hash. */
const MAX_CACHED_CREDENTIALS = 10_000;
/** Maximum number of pairs, and of addresses, with failures. With the default rates hashing is too slow to reach it. */
const MAX_FAILING_KEYS = 20_000;

export const INTERNAL_CREDENTIAL: Credential = {
  outcome: "ok",
  user: INTERNAL_USER,
  credentialId: "",
  role: "reader",
};
const MISSING: AuthResult = { outcome: "missing" };
const MALFORMED: AuthResult = { outcome: "malformed" };
const WRONG: AuthResult = { outcome: "wrong" };

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { users, clock, internalAuthorization, throttle = THROTTLE_DEFAULTS } = options;
  // The key is so short that it fits into one SHA-256 block together with a usual header.
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString("base64");
  const queue = new LoginQueue({
    clock,
    pairs: new FailureBuckets(clock, throttle.pair, MAX_FAILING_KEYS),
    addresses: new FailureBuckets(clock, throttle.address, MAX_FAILING_KEYS),
    maxRunning: options.maxConcurrentChecks ?? 2,
    maxWaiting: options.maxWaiting ?? 1024,
    maxWaitingPerPair: options.maxWaitingPerPair ?? 8,
  });
  const failedPairs = new FailedPairs(clock, MAX_FAILING_KEYS);
  const cache = createBoundedCache<string, Credential>({ maxSize: MAX_CACHED_CREDENTIALS });
  const checksInFlight = new Map<string, Promise<AuthResult>>();
  const decoyTokenHash = hashTokenSecret(randomTokenSecret());
  let hashWithoutUsers: Promise<string> | undefined;
  let generation = 0;

  users.onChange((names) => {
    generation++;
    const stale = [...cache.entries()].filter(([, { user }]) => names.has(user));
    for (const [digest] of stale) cache.delete(digest);
  });

  const digestOf = (header: string) => Bun.SHA256.hash(key + header, "base64");

  const internalDigest = internalAuthorization === undefined ? undefined : digestOf(internalAuthorization);

  function cachedCredential(header: string | null): Credential | undefined {
    if (header === null || header.length > MAX_AUTHORIZATION_LENGTH) return undefined;
    return cache.get(digestOf(header));
  }

  /** The hash that an unknown name is checked against. It is always the same for a name, so that the cost is constant. */
  function decoyHash(scheme: LoginScheme, name: string): Promise<string> | string {
    if (scheme === "bearer") return decoyTokenHash;
    const all = users.all().filter((user) => hasSecret(user, scheme));
    if (all.length === 0) {
      hashWithoutUsers ??= hashPassword(randomPassword());
      return hashWithoutUsers;
    }
    const index = Buffer.from(digestOf(`stand-in ${name}`), "base64").readUInt32BE() % all.length;
    return all[index]?.hash ?? "";
  }

  async function findUser(candidates: readonly LoginCandidate[]): Promise<User | undefined> {
    for (const { scheme, name, secret } of candidates) {
      const user = users.find(name);
      const hash = user && hasSecret(user, scheme) ? user.hash : await decoyHash(scheme, name);
      const isRight = (await verifySecret(secret, hash)) && hash === user?.hash;
      if (isRight) return user;
    }
    return undefined;
  }

  async function check(digest: string, candidates: readonly LoginCandidate[]): Promise<AuthResult> {
    const user = await findUser(candidates);
    // If the user has changed during the check, the old password is wrong.
    if (!user || users.find(user.name)?.credentialId !== user.credentialId) return WRONG;
    const { name, credentialId, role } = user;
    const credential: Credential = { outcome: "ok", user: name, credentialId, role };
    cache.set(digest, credential);
    return credential;
  }

  async function enqueueCheck(
    digest: string,
    candidates: readonly LoginCandidate[],
    attempt: LoginAttempt,
  ): Promise<AuthResult> {
    let result: AuthResult = WRONG;
    const refusal = await queue.run(attempt, async () => {
      // Another login with the same header may have been accepted meanwhile.
      result = cache.get(digest) ?? (await check(digest, candidates));
      return result.outcome === "wrong";
    });
    return refusal ? { outcome: "throttled", ...refusal } : result;
  }

  /** Does not cache the result if the user differs here, because the main process may have applied a change earlier. */
  async function checkInMainProcess(
    checkRemotely: RemoteCheck,
    header: string,
    client: LoginClient,
  ): Promise<AuthResult> {
    const result = await checkRemotely(header, client);
    if (result.outcome === "ok" && users.find(result.user)?.credentialId === result.credentialId)
      cache.set(digestOf(header), result);
    return result;
  }

  /** Connections of one client that send the same header at the same time share one check. */
  async function sharedCheck(
    digest: string,
    candidates: readonly LoginCandidate[],
    attempt: LoginAttempt,
  ): Promise<AuthResult> {
    const key = `${attempt.pairKey} ${digest}`;
    const inFlight = checksInFlight.get(key);
    if (inFlight) {
      const result = await inFlight;
      // A right credential counts as one attempt. With a wrong one, each request counts as a failure of its own.
      const refusal = result.outcome === "wrong" ? queue.countFailure(attempt) : undefined;
      return refusal ? { outcome: "throttled", ...refusal } : result;
    }
    const result = enqueueCheck(digest, candidates, attempt);
    checksInFlight.set(key, result);
    try {
      return await result;
    } finally {
      checksInFlight.delete(key);
    }
  }

  function checkInTurn(
    header: string,
    candidates: readonly [LoginCandidate, ...LoginCandidate[]],
    client: LoginClient,
  ): Promise<AuthResult> {
    if (options.checkRemotely) return checkInMainProcess(options.checkRemotely, header, client);
    const { address, connectionFailures, isGone } = client;
    const key = addressKey(address);
    const attempt = {
      addressKey: key,
      pairKey: pairKey(key, candidates[0].name),
      connectionFailures,
      isGone,
    };
    return sharedCheck(digestOf(header), candidates, attempt);
  }

  return {
    cachedCredential,
    isOwnProcess: (header) => header !== null && digestOf(header) === internalDigest,
    failedPairs,
    get generation() {
      return generation;
    },
    async authenticate(header, client) {
      if (header === null || header === "") return MISSING;
      const cached = cachedCredential(header);
      if (cached && !failedPairs.has(client.address, cached.user)) return cached;
      const [first, ...others] = parseAuthorization(header);
      if (!first) return MALFORMED;
      const names = new Set([first, ...others].map(({ name }) => name));
      const login = failedPairs.begin(
        client.address,
        [...names].filter((name) => users.find(name) !== undefined),
      );
      let result: AuthResult | undefined;
      try {
        result = await checkInTurn(header, [first, ...others], client);
        return result;
      } finally {
        login.end(result?.outcome !== "ok");
      }
    },
  };
}

const hasSecret = ({ hash }: User, scheme: LoginScheme): boolean =>
  hash !== CERTIFICATE_ONLY && schemeOf(hash) === scheme;
