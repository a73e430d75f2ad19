/**
 * Passwords: how one is made, hashed and compared. New hashes are argon2id; bcrypt is accepted as htpasswd writes it.
 * Text is normalised (NFC) before it is hashed or compared, since two keyboards spell one letter in two ways.
 */

/** OWASP's recommendation: 19 MiB and two passes keep a guess costly and a burst of log-ins affordable. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
/** A hash in the users file may not stall the service: at most 1 GiB and 32 passes, or bcrypt cost 16. */
const MOST = { argonKiB: 1_048_576, argonPasses: 32, bcryptCost: 16 };
const BCRYPT_BYTES = 72;

const ARGON2ID_FORM =
  /^\$argon2id\$v=19\$m=(\d{1,9}),t=(\d{1,4}),p=\d{1,3}\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;
const BCRYPT_FORM = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** Without the letters and digits that people confuse; 28 of 30 characters are 137 bits. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz2345679";
const GROUPS = 7;
const GROUP_LENGTH = 4;

/** The password as bytes: what a client sent, or what a person typed. */
export function passwordBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text.normalize("NFC"));
}

export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(passwordBytes(password), ARGON2ID);
}

export async function verifyPassword(password: Uint8Array, hash: string): Promise<boolean> {
  // Bun refuses an empty password with an exception; no stored hash is of one.
  if (password.length === 0) return false;
  // htpasswd cuts at bcrypt's limit, where Bun would hash a longer password first.
  const given = BCRYPT_FORM.test(hash) ? password.subarray(0, BCRYPT_BYTES) : password;
  return Bun.password.verify(given, hash);
}

/** What is wrong with `hash` as a stored password; undefined when nothing is. */
export function hashFault(hash: string): string | undefined {
  const argon = ARGON2ID_FORM.exec(hash);
  if (argon) {
    const [kib, passes] = [Number(argon[1]), Number(argon[2])];
    return kib > MOST.argonKiB || passes > MOST.argonPasses
      ? "an argon2id hash too costly to check"
      : undefined;
  }
  const bcrypt = BCRYPT_FORM.exec(hash);
  if (bcrypt) {
    const cost = Number(bcrypt[1]);
    return cost < 4 || cost > MOST.bcryptCost
      ? `bcrypt cost ${cost} is not within 4 to ${MOST.bcryptCost}`
      : undefined;
  }
  return "not an argon2id or bcrypt hash";
}

export function randomPassword(): string {
  const groups = Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_LENGTH }, randomLetter).join(""),
  );
  return groups.join("-");
}

function randomLetter(): string {
  const limit = 256 - (256 % ALPHABET.length);
  for (;;) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < limit) return ALPHABET.charAt(byte % ALPHABET.length);
  }
}
