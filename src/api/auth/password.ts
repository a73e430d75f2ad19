/**
 * The secrets of users: generates, hashes and verifies passwords and tokens. New hashes of passwords are argon2id; bcrypt is
 * accepted as htpasswd writes it. Text is normalised (NFC) before it is hashed or compared, because keyboards encode the same
 * letter in two ways. The secret of a token is 256 random bits, which nobody can guess, so its hash is a plain SHA-256.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** The schemes of the Authorization header. Each has its own kind of hash: passwords those of `basic`, tokens `bearer`. */
export type LoginScheme = "basic" | "bearer";

/** OWASP's recommendation. 19 MiB and two passes make a guess costly and keep a burst of logins affordable. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
/** Limits on hashes in the users file, because verifying one must not stall the service. */
const MAX_ARGON2_MEMORY_KIB = 1_048_576;
const MAX_ARGON2_PASSES = 32;
const MIN_BCRYPT_COST = 4;
const MAX_BCRYPT_COST = 16;
const MAX_BCRYPT_PASSWORD_BYTES = 72;

const ARGON2ID_HASH =
  /^\$argon2id\$v=19\$m=(\d{1,9}),t=(\d{1,4}),p=\d{1,3}\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;
const BCRYPT_HASH = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const TOKEN_HASH = /^\$sha256\$[A-Za-z0-9_-]{43}$/;

/** The characters of generated passwords, without those that look alike. 28 characters out of 30 are 137 bits. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz2345679";
const GROUPS = 7;
const GROUP_LENGTH = 4;

export function passwordBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text.normalize("NFC"));
}

export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(passwordBytes(password), ARGON2ID);
}

export const randomTokenSecret = (): string => randomBytes(32).toString("base64url");

export const hashTokenSecret = (secret: string | Uint8Array): string =>
  `$sha256$${createHash("sha256").update(secret).digest("base64url")}`;

/** The scheme in which the secret of this hash is sent. */
export const schemeOf = (hash: string): LoginScheme => (TOKEN_HASH.test(hash) ? "bearer" : "basic");

export async function verifySecret(secret: Uint8Array, hash: string): Promise<boolean> {
  if (schemeOf(hash) === "bearer")
    return timingSafeEqual(Buffer.from(hashTokenSecret(secret)), Buffer.from(hash));
  // Bun throws on an empty password, and no stored hash belongs to one.
  if (secret.length === 0) return false;
  // The password is truncated as htpasswd does it, because Bun would hash a longer one first.
  const given = BCRYPT_HASH.test(hash) ? secret.subarray(0, MAX_BCRYPT_PASSWORD_BYTES) : secret;
  return Bun.password.verify(given, hash);
}

/** Returns why `hash` is not accepted as the hash of a stored secret, or undefined if it is. */
export function hashFault(hash: string): string | undefined {
  if (TOKEN_HASH.test(hash)) return undefined;
  const argon2 = ARGON2ID_HASH.exec(hash);
  if (argon2) {
    const [memoryKib, passes] = [Number(argon2[1]), Number(argon2[2])];
    const tooCostly = memoryKib > MAX_ARGON2_MEMORY_KIB || passes > MAX_ARGON2_PASSES;
    return tooCostly ? "an argon2id hash too costly to check" : undefined;
  }
  const bcrypt = BCRYPT_HASH.exec(hash);
  if (bcrypt) {
    const cost = Number(bcrypt[1]);
    return cost < MIN_BCRYPT_COST || cost > MAX_BCRYPT_COST
      ? `bcrypt cost ${cost} is not within ${MIN_BCRYPT_COST} to ${MAX_BCRYPT_COST}`
      : undefined;
  }
  return "not an argon2id or bcrypt hash";
}

export function randomPassword(): string {
  const groups = Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_LENGTH }, randomCharacter).join(""),
  );
  return groups.join("-");
}

/** Rejects bytes past the last multiple of the alphabet's length, so that every character is equally likely. */
function randomCharacter(): string {
  const limit = 256 - (256 % ALPHABET.length);
  for (;;) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < limit) return ALPHABET.charAt(byte % ALPHABET.length);
  }
}
