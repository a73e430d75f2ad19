import { describe, expect, test } from "bun:test";
import { hashFault, hashPassword, passwordBytes, randomPassword, verifyPassword } from "./password.ts";

/** As `htpasswd -B` makes it, but cheaper. */
const HTPASSWD = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
const ARGON2ID = await hashPassword("secret");

describe("hashes", () => {
  test("a new one is argon2id and is its password's alone", async () => {
    const hash = await hashPassword("pässword");
    expect(hash).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
    expect(hashFault(hash)).toBeUndefined();
    expect(await verifyPassword(passwordBytes("pässword"), hash)).toBe(true);
    expect(await verifyPassword(passwordBytes("pa\u0308ssword"), hash)).toBe(true);
    expect(await verifyPassword(passwordBytes("password"), hash)).toBe(false);
    expect(await verifyPassword(passwordBytes(""), hash)).toBe(false);
  });

  for (const prefix of ["$2a$", "$2b$", "$2y$"]) {
    test(`bcrypt ${prefix}`, async () => {
      const hash = HTPASSWD.replace("$2b$", prefix);
      expect(hashFault(hash)).toBeUndefined();
      expect(await verifyPassword(passwordBytes("secret"), hash)).toBe(true);
      expect(await verifyPassword(passwordBytes("secreT"), hash)).toBe(false);
    });
  }

  test("bcrypt is cut at 72 bytes, as htpasswd cuts", async () => {
    const hash = await Bun.password.hash("x".repeat(72), { algorithm: "bcrypt", cost: 4 });
    expect(await verifyPassword(passwordBytes("x".repeat(90)), hash)).toBe(true);
    expect(await verifyPassword(passwordBytes("x".repeat(71)), hash)).toBe(false);
  });

  const refused: [what: string, hash: string][] = [
    ["nothing", ""],
    ["a plain password", "secret"],
    ["Apache MD5", "$apr1$lZL6V/ci$eIMz/iKDkbtys/uU7LEK00"],
    ["SHA-1", "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ="],
    ["crypt", "rl5FPDCPIZlX6"],
    ["argon2i", "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA"],
    ["bcrypt cut short", HTPASSWD.slice(0, -1)],
    ["bcrypt that takes hours", HTPASSWD.replace("$04$", "$20$")],
    ["argon2id that takes all memory", ARGON2ID.replace("m=19456", "m=99999999")],
  ];
  for (const [what, hash] of refused) test(`refused: ${what}`, () => expect(hashFault(hash)).toBeString());
});

test("a made-up password is long, readable and never the same", () => {
  const made = new Set(Array.from({ length: 100 }, randomPassword));
  expect(made.size).toBe(100);
  for (const password of made) expect(password).toMatch(/^(?:[a-hjkmnp-z2-79]{4}-){6}[a-hjkmnp-z2-79]{4}$/);
});
