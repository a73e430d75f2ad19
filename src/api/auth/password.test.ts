import { describe, expect, test } from "bun:test";
import { hashFault, hashPassword, passwordBytes, randomPassword, verifySecret } from "./password.ts";

/** The format of `htpasswd -B`, at a lower cost. */
const HTPASSWD = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
const ARGON2ID = await hashPassword("secret");

describe("hashes", () => {
  test("a new hash is argon2id and matches its password only", async () => {
    const hash = await hashPassword("pässword");
    expect(hash).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
    expect(hashFault(hash)).toBeUndefined();
    expect(await verifySecret(passwordBytes("pässword"), hash)).toBe(true);
    expect(await verifySecret(passwordBytes("pa\u0308ssword"), hash)).toBe(true);
    expect(await verifySecret(passwordBytes("password"), hash)).toBe(false);
    expect(await verifySecret(passwordBytes(""), hash)).toBe(false);
  });

  for (const prefix of ["$2a$", "$2b$", "$2y$"]) {
    test(`bcrypt with prefix ${prefix} is accepted`, async () => {
      const hash = HTPASSWD.replace("$2b$", prefix);
      expect(hashFault(hash)).toBeUndefined();
      expect(await verifySecret(passwordBytes("secret"), hash)).toBe(true);
      expect(await verifySecret(passwordBytes("secreT"), hash)).toBe(false);
    });
  }

  test("a bcrypt password is truncated at 72 bytes, as htpasswd does", async () => {
    const hash = await Bun.password.hash("x".repeat(72), { algorithm: "bcrypt", cost: 4 });
    expect(await verifySecret(passwordBytes("x".repeat(90)), hash)).toBe(true);
    expect(await verifySecret(passwordBytes("x".repeat(71)), hash)).toBe(false);
  });

  const rejected: [title: string, hash: string][] = [
    ["empty", ""],
    ["a plain password", "secret"],
    ["Apache MD5", "$apr1$lZL6V/ci$eIMz/iKDkbtys/uU7LEK00"],
    ["SHA-1", "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ="],
    ["crypt", "rl5FPDCPIZlX6"],
    ["argon2i", "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA"],
    ["a truncated bcrypt hash", HTPASSWD.slice(0, -1)],
    ["bcrypt that takes hours", HTPASSWD.replace("$04$", "$20$")],
    ["argon2id that takes all memory", ARGON2ID.replace("m=19456", "m=99999999")],
  ];
  for (const [title, hash] of rejected)
    test(`rejected: ${title}`, () => expect(hashFault(hash)).toBeString());
});

test("a generated password is long, readable and unique", () => {
  const passwords = new Set(Array.from({ length: 100 }, randomPassword));
  expect(passwords.size).toBe(100);
  for (const password of passwords)
    expect(password).toMatch(/^(?:[a-hjkmnp-z2-79]{4}-){6}[a-hjkmnp-z2-79]{4}$/);
});
