/**
 * Is this Authorization header a user's? A password is hashed once per credential and process; after that a digest of
 * the header is remembered, and `known` answers with one look-up, on every request of the hot path.
 *
 * - The digest is SHA-256 behind a random key of this process, so what is remembered is useless elsewhere, and a
 *   look-up by it tells nothing through its timing.
 * - An unknown name costs what a wrong password costs: some real user's hash is checked, and the answer thrown away.
 * - Failures are throttled per client address. A remembered credential is served even then: whoever shares an address
 *   with an attacker keeps reading. A right one that is not remembered yet waits like everybody there, and is served
 *   from any other address.
 * - What is remembered of a user goes the moment that user changes.
 */
import type { Clock } from "../../lib/clock.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import { MAX_HEADER_CHARACTERS, type Reading, readBasic } from "./basic.ts";
import { hashPassword, randomPassword, verifyPassword } from "./password.ts";
import { createThrottle, THROTTLE_DEFAULTS, type ThrottleOptions } from "./throttle.ts";
import type { User, Users } from "./users.ts";

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
  /** The remembered owner of a header: synchronous and cheap. Undefined says nothing; then `authenticate`. */
  known(header: string | null): Credential | undefined;
  authenticate(header: string | null, address: string): Promise<AuthResult>;
  /** Another number since any user changed: whoever was known before may not be now. */
  readonly generation: number;
}

export interface AuthenticatorOptions {
  readonly users: Users;
  readonly clock: Clock;
  readonly throttle?: ThrottleOptions;
  /** Passwords checked at the same time, and how many may wait for it. */
  readonly mostChecking?: number;
  readonly mostWaiting?: number;
  /** The header with which the service's own processes ask. */
  readonly ourselves?: string | undefined;
}

/** The name under which the service asks itself: no user can have it, and no limit on users applies to it. */
export const INTERNAL_USER = "";

/** One credential has few spellings, so this is users, with room. The first in goes first; it costs one hash more. */
const MAX_REMEMBERED = 10_000;

const OWN: Credential = { outcome: "ok", user: INTERNAL_USER, credentialId: "" };
const MISSING: AuthResult = { outcome: "missing" };
const MALFORMED: AuthResult = { outcome: "malformed" };
const WRONG: AuthResult = { outcome: "wrong" };
const BUSY: AuthResult = { outcome: "throttled", retryAfterSeconds: 1 };

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { users, clock, mostChecking = 2, mostWaiting = 128 } = options;
  // Short enough that it and a usual header are one block of the digest.
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString("base64");
  const throttle = createThrottle(clock, options.throttle ?? THROTTLE_DEFAULTS);
  const gate = createSemaphore(mostChecking, mostWaiting);
  const remembered = new Map<string, Credential>();
  const underWay = new Map<string, Promise<AuthResult>>();
  let nobody: Promise<string> | undefined;
  let generation = 0;

  users.onChange((names) => {
    generation++;
    for (const [digest, { user }] of remembered) if (names.has(user)) remembered.delete(digest);
  });

  const digestOf = (header: string) => Bun.SHA256.hash(key + header, "base64");

  const own = options.ourselves === undefined ? undefined : digestOf(options.ourselves);

  function known(header: string | null): Credential | undefined {
    if (header === null || header.length > MAX_HEADER_CHARACTERS) return undefined;
    const digest = digestOf(header);
    return digest === own ? OWN : remembered.get(digest);
  }

  /** Which hash an unknown name is checked against: always the same for one name, and of a kind that is in use. */
  function standIn(name: string): Promise<string> | string {
    const all = users.all();
    if (all.length === 0) {
      nobody ??= hashPassword(randomPassword());
      return nobody;
    }
    const at = Buffer.from(digestOf(`stand-in ${name}`), "base64").readUInt32BE() % all.length;
    return all[at]?.hash ?? "";
  }

  async function ownerOf(readings: readonly Reading[]): Promise<User | undefined> {
    for (const { name, password } of readings) {
      const user = users.find(name);
      const right = await verifyPassword(password, user ? user.hash : await standIn(name));
      if (right && user) return user;
    }
    return undefined;
  }

  async function check(digest: string, readings: readonly Reading[]): Promise<AuthResult> {
    const owner = await ownerOf(readings);
    // Changed while its old password was being checked: then that was a wrong one.
    if (!owner || users.find(owner.name)?.credentialId !== owner.credentialId) return WRONG;
    const credential: Credential = { outcome: "ok", user: owner.name, credentialId: owner.credentialId };
    remembered.set(digest, credential);
    const [first] = remembered.keys();
    if (remembered.size > MAX_REMEMBERED && first !== undefined) remembered.delete(first);
    return credential;
  }

  async function shared(digest: string, readings: readonly Reading[]): Promise<AuthResult> {
    const mine = gate.enter(() => check(digest, readings));
    if (!mine) return BUSY;
    underWay.set(digest, mine);
    try {
      return await mine;
    } finally {
      underWay.delete(digest);
    }
  }

  return {
    known,
    get generation() {
      return generation;
    },
    async authenticate(header, address) {
      if (header === null || header === "") return MISSING;
      const already = known(header);
      if (already) return already;
      const readings = readBasic(header);
      if (readings.length === 0) return MALFORMED;
      const digest = digestOf(header);
      // Many connections that open at once with one right credential are one try; with a wrong one each is a failure.
      const pending = underWay.get(digest);
      const same = pending && (await pending);
      if (same && same.outcome !== "wrong") return same;
      const waitMs = throttle.take(address);
      if (waitMs > 0) return { outcome: "throttled", retryAfterSeconds: Math.ceil(waitMs / 1000) };
      if (same) return same;
      const result = await shared(digest, readings);
      if (result.outcome !== "wrong") throttle.giveBack(address);
      return result;
    },
  };
}
