/**
 * Authentication of an Authorization header. A password is hashed once per credential and process. After that the
 * credential is cached under a digest of the header, and `cachedCredential` finds it with one look-up.
 *
 * - The digest is SHA-256 with a random key of this process. Cached digests are useless elsewhere, and the timing of a
 *   look-up reveals nothing about the header.
 * - An unknown name costs as much as a wrong password: the password is checked against the hash of some real user, and
 *   the result is discarded.
 * - Failures are throttled per client address. A cached credential is accepted even then, so that a client that shares
 *   an address with an attacker keeps reading. A right credential that is not cached yet is throttled with the rest.
 * - When a user changes, the cached credentials of that user are removed at once.
 */
import { createBoundedCache } from "../../lib/bounded-cache.ts";
import type { Clock } from "../../lib/clock.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import { type BasicCredentials, MAX_AUTHORIZATION_LENGTH, parseBasicAuthorization } from "./basic.ts";
import { hashPassword, randomPassword, verifyPassword } from "./password.ts";
import { createThrottle, THROTTLE_DEFAULTS, type ThrottleOptions } from "./throttle.ts";
import type { User, Users } from "./users.ts";
import { CERTIFICATE_ONLY } from "./users-file.ts";

export interface Credential {
  readonly outcome: "ok";
  readonly user: string;
  readonly credentialId: string;
}

export type AuthResult =
  | Credential
  | { readonly outcome: "missing" | "malformed" | "wrong" }
  | { readonly outcome: "throttled"; readonly retryAfterSeconds: number };

export interface Authenticator {
  /** Synchronous and cheap. Returns undefined when the header is not cached; then call `authenticate`. */
  cachedCredential(header: string | null): Credential | undefined;
  authenticate(header: string | null, address: string): Promise<AuthResult>;
  /** Increases whenever any user changes. Results from before must not be used after. */
  readonly generation: number;
}

export interface AuthenticatorOptions {
  readonly users: Users;
  readonly clock: Clock;
  readonly throttle?: ThrottleOptions;
  readonly maxConcurrentChecks?: number;
  readonly maxQueuedChecks?: number;
  /** The Authorization header that the service's own processes send. */
  readonly internalAuthorization?: string | undefined;
}

/** The user of requests between the service's own processes. No configured user can have this name; no limits apply. */
export const INTERNAL_USER = "";

/** The Authorization header of that user. */
export const internalAuthorization = (password: string): string =>
  `Basic ${Buffer.from(`${INTERNAL_USER}:${password}`).toString("base64")}`;

/** More than the users of any file: one credential has few spellings. An evicted one costs one more hash. */
const MAX_CACHED_CREDENTIALS = 10_000;

const INTERNAL_CREDENTIAL: Credential = { outcome: "ok", user: INTERNAL_USER, credentialId: "" };
const MISSING: AuthResult = { outcome: "missing" };
const MALFORMED: AuthResult = { outcome: "malformed" };
const WRONG: AuthResult = { outcome: "wrong" };
const QUEUE_FULL: AuthResult = { outcome: "throttled", retryAfterSeconds: 1 };

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { users, clock, internalAuthorization, maxConcurrentChecks = 2, maxQueuedChecks = 128 } = options;
  // Short enough that the key and a usual header fit into one SHA-256 block.
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString("base64");
  const throttle = createThrottle(clock, options.throttle ?? THROTTLE_DEFAULTS);
  const semaphore = createSemaphore(maxConcurrentChecks, maxQueuedChecks);
  const cache = createBoundedCache<string, Credential>({ maxSize: MAX_CACHED_CREDENTIALS });
  const checksInFlight = new Map<string, Promise<AuthResult>>();
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
    const digest = digestOf(header);
    return digest === internalDigest ? INTERNAL_CREDENTIAL : cache.get(digest);
  }

  /** The hash that an unknown name is checked against: always the same one for a name, so that its cost is constant. */
  function decoyHash(name: string): Promise<string> | string {
    const all = users.all().filter(hasPassword);
    if (all.length === 0) {
      hashWithoutUsers ??= hashPassword(randomPassword());
      return hashWithoutUsers;
    }
    const index = Buffer.from(digestOf(`stand-in ${name}`), "base64").readUInt32BE() % all.length;
    return all[index]?.hash ?? "";
  }

  async function findUser(candidates: readonly BasicCredentials[]): Promise<User | undefined> {
    for (const { name, password } of candidates) {
      const user = users.find(name);
      const hash = user && hasPassword(user) ? user.hash : await decoyHash(name);
      const isRight = (await verifyPassword(password, hash)) && hash === user?.hash;
      if (isRight) return user;
    }
    return undefined;
  }

  async function check(digest: string, candidates: readonly BasicCredentials[]): Promise<AuthResult> {
    const user = await findUser(candidates);
    // The user may have changed during the check: then the old password is wrong.
    if (!user || users.find(user.name)?.credentialId !== user.credentialId) return WRONG;
    const credential: Credential = { outcome: "ok", user: user.name, credentialId: user.credentialId };
    cache.set(digest, credential);
    return credential;
  }

  async function enqueueCheck(digest: string, candidates: readonly BasicCredentials[]): Promise<AuthResult> {
    const result = semaphore.run(() => check(digest, candidates));
    if (!result) return QUEUE_FULL;
    checksInFlight.set(digest, result);
    try {
      return await result;
    } finally {
      checksInFlight.delete(digest);
    }
  }

  return {
    cachedCredential,
    get generation() {
      return generation;
    },
    async authenticate(header, address) {
      if (header === null || header === "") return MISSING;
      const cached = cachedCredential(header);
      if (cached) return cached;
      const candidates = parseBasicAuthorization(header);
      if (candidates.length === 0) return MALFORMED;
      const digest = digestOf(header);
      // Connections that send the same header at the same time share one check. A right credential counts as one
      // attempt; with a wrong one, each request counts as a failure of its own.
      const inFlight = checksInFlight.get(digest);
      const sharedResult = inFlight && (await inFlight);
      if (sharedResult && sharedResult.outcome !== "wrong") return sharedResult;
      const waitMs = throttle.consume(address);
      if (waitMs > 0) return { outcome: "throttled", retryAfterSeconds: Math.ceil(waitMs / 1000) };
      if (sharedResult) return sharedResult;
      const result = await enqueueCheck(digest, candidates);
      if (result.outcome !== "wrong") throttle.refund(address);
      return result;
    },
  };
}

const hasPassword = ({ hash }: User): boolean => hash !== CERTIFICATE_ONLY;
