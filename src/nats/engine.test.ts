/** Credentials of NATS are those that the file has when a node connects again. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { authenticatorOf } from "./engine.ts";

const credentials = (token: string): string => {
  const seed = new TextDecoder().decode(nkeys.createUser().getSeed());
  const block = (name: string, text: string) =>
    `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n\n`;
  return block("NATS USER JWT", token) + block("USER NKEY SEED", seed);
};

test("a credentials file is read again at each connection; one that is missing then is as before", () => {
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-engine-"));
  const file = join(folder, "nats.creds");
  writeFileSync(file, credentials("first"));
  const authenticate = authenticatorOf(file);
  expect(authenticate("nonce")).toMatchObject({ jwt: "first" });
  writeFileSync(file, credentials("second"));
  expect(authenticate("nonce")).toMatchObject({ jwt: "second" });
  rmSync(folder, { recursive: true });
  expect(authenticate("nonce")).toMatchObject({ jwt: "second" });
});
