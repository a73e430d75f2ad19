/** Credentials of NATS are those that the file has when a node connects again. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { natsCredentials } from "../../../test/support/nats-credentials.ts";
import { authenticatorOf } from "./nats-client.ts";

test("a credentials file is read again at each connection; one that is missing then is as before", () => {
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-engine-"));
  const file = join(folder, "nats.creds");
  writeFileSync(file, natsCredentials("first"));
  const authenticate = authenticatorOf(file);
  expect(authenticate("nonce")).toMatchObject({ jwt: "first" });
  writeFileSync(file, natsCredentials("second"));
  expect(authenticate("nonce")).toMatchObject({ jwt: "second" });
  rmSync(folder, { recursive: true });
  expect(authenticate("nonce")).toMatchObject({ jwt: "second" });
});
